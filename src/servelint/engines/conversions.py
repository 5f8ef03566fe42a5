"""Conversions that the engines' parsers apply to the text of a value, by the names that the catalog gives them."""

from __future__ import annotations

import json
import re

from servelint.engines.registry import ENGINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Conversion = tuple[Callable[[str], object], str]
    """A function of the text, and what it expects: "" if it takes every text, or says itself what it expects (Refused)."""


class Refused(Exception):
    """A value that the parser refuses; its text says what is expected."""


def convert(engine: str, types: list[str], text: str) -> object:
    """Convert a text by the first of an engine's conversions that takes it. One that is not known takes every text.

    Args:
        engine: the engine's id.
        types: names of conversions, in the order in which the parser tries them; none for plain text.
        text: the value as written.

    Raises:
        Refused: none of them takes it.
    """
    reason = ""
    for name in types or ["str"]:
        conversion = _find(engine, name)
        if conversion is None:
            return text
        function, expected = conversion
        try:
            return function(text)
        except Refused as refused:
            reason = reason or str(refused)
        except (ValueError, OverflowError, RecursionError):
            reason = reason or ("" if name == "none" else expected or "a value of another kind")
    raise Refused(reason or "a value of another kind")


def is_known(engine: str, types: list[str]) -> bool:
    """Whether all conversions of an option are known, so that its choices can be compared with what they give."""
    return all(_find(engine, name) is not None for name in types)


def _find(engine: str, name: str) -> Conversion | None:
    """A conversion that all engines share, or else one of the engine's own; None if it is not known."""
    found = CONVERSIONS.get(name)
    own: dict[str, Conversion] = getattr(ENGINES[engine].part("facts"), "CONVERSIONS", {}) if found is None else {}
    return found or own.get(name)


def _bool(text: str) -> bool:
    return bool(text)


def _none(text: str) -> None:
    if text not in ("", "None"):
        raise ValueError(text)


def _number_ahead(pattern: str) -> Callable[[str], object]:
    """As C++'s std::stoi and similar functions: a number after blanks, whatever follows it."""

    def convert_ahead(text: str) -> object:
        match = re.match(pattern, text)
        if match is None:
            raise ValueError(text)
        return match.group(1)

    return convert_ahead


_WHOLE, _NUMBER = "a whole number", "a number"


def _unsigned(limit: int) -> Callable[[str], object]:
    """As Rust's `parse` to an unsigned integer: digits, a plus sign at most, nothing around them."""

    def convert_unsigned(text: str) -> object:
        if re.fullmatch(r"\+?[0-9]+", text) is None or int(text) > limit:
            raise ValueError(text)
        return int(text)

    return convert_unsigned


def _f32(text: str) -> object:
    if re.fullmatch(r"(?i)[-+]?(?:inf|infinity|nan|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?)", text) is None:
        raise ValueError(text)
    return float(text)


def _list_of_unsigned(text: str) -> object:
    for part in text.split(","):
        _USIZE(part)
    return text


def _of_form(pattern: str) -> Callable[[str], object]:
    """As llama.cpp's own readers of texts; in quotes, a comma may be a part of a text."""

    def convert_form(text: str) -> object:
        if re.fullmatch(pattern, text, re.DOTALL) is None and '"' not in text:
            raise ValueError(text)
        return text

    return convert_form


_USIZE = _unsigned(2**64 - 1)
_REAL = r"\s*[-+]?(?:\d|\.\d|inf|nan)[^,/]*"
_STOI = (_number_ahead(r"\s*([-+]?\d+)"), _WHOLE)
_STOF = (_number_ahead(r"(?i)\s*([-+]?(?:\d+\.?\d*|\.\d+|inf|nan))"), _NUMBER)

_NO_BUFFER = r"[cC]pu|CUDA|(?:[cC]uda|[gG]pu|GPU|[rR]ocm|ROCM|vulkan|VULKAN):?\d*|CUDA:\d+|ROCm|Vulkan|metal"
"""What no backend of llama.cpp calls its buffers: those are CPU, CUDA0, ROCm0, Vulkan0, compared character by character."""

CONVERSIONS: dict[str, Conversion] = {
    "str": (str, ""),
    "int": (int, _WHOLE),
    "float": (float, _NUMBER),
    "bool": (_bool, ""),
    "json": (json.loads, "JSON"),
    "none": (_none, ""),
    **dict.fromkeys(("stoi", "stol", "stoul", "stoll", "stoull"), _STOI),
    **dict.fromkeys(("stof", "stod"), _STOF),
    "cpu_mask": (_of_form(r"(?:0x)?[0-9A-Fa-f]{0,128}(?:(?<=[0-9A-Fa-f]{128}).*)?"), "a hexadecimal number"),
    "cpu_range": (_of_form(r"(?:\s*[-+]?\d[^-]*)?-(?:\s*[-+]?\d.*)?"), "a range such as 0-7"),
    "kv_override": (
        _of_form(r"[^=,]{0,127}=(?:int:|float:|str:|bool:(?:true|false)(?=,|\Z)).*"),
        "KEY=TYPE:VALUE, where TYPE is int, float, bool or str",
    ),
    "name_and_number": (_of_form(r"[^:,]*:\s*[-+]?[\d.][^:,]*(?:,.*)?"), "NAME:NUMBER"),
    "logit_bias": (_of_form(r"\s*[-+]?\d+\s*[-+]\s*[-+]?(?:\d|\.\d|inf|nan).*"), "a token's number, + or -, and a number"),
    "gpu_layers": (_of_form(r"auto|all|\s*[-+]?\d.*"), "a whole number, auto or all"),
    "tensor_overrides": (
        _of_form(rf"(?:[^,=]*=(?!(?:{_NO_BUFFER})(?:,|\Z))[^,]*(?:,|\Z))*"),
        "PATTERN=BUFFER_TYPE such as exps=CPU, several with commas between them",
    ),
    "sizes": (_of_form(r"\s*[-+]?\d[^,/]*(?:[,/]+\s*[-+]?\d[^,/]*)*[,/]*"), "whole numbers with commas between them"),
    "numbers": (_of_form(rf"(?i){_REAL}(?:[,/]+{_REAL})*[,/]*"), "numbers with commas between them"),
    "addresses": (_of_form(r".*[^\s,].*"), "at least one address"),
    **dict.fromkeys(("usize", "u64"), (_USIZE, "a whole number without a sign")),
    "u32": (_unsigned(2**32 - 1), "a whole number from 0 to 4294967295"),
    "u16": (_unsigned(2**16 - 1), "a whole number from 0 to 65535"),
    "usize-list": (_list_of_unsigned, "whole numbers with commas between them, without blanks"),
    "f32": (_f32, _NUMBER),
}
"""Conversions that mean the same in every engine that has one of the name: those of Python, argparse, C++ and Rust."""
