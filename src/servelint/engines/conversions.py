"""Conversions that the engines' parsers apply to the text of a value, by the names that the catalog gives them."""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_HUMAN = r"(\d+(?:\.\d+)?)([kKmMgGtT])"
_BRACES = r"(?s)^\s*\{.*\}\s*$"
_IEC = r"(\d+(?:\.\d+)?)([KMGT]i|[kMGT])"
_POWERS = {"k": 10, "K": 10, "M": 20, "G": 30, "T": 40}
_SCALE = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Refused(Exception):
    """A value that the parser refuses; its text says what is expected."""


def convert(engine: str, types: list[str], text: str) -> object:
    """The value of a text by the first of an engine's conversions that takes it. Raises Refused if none does.

    A conversion that is not known here takes every text.
    """
    reason = ""
    for name in types or ["str"]:
        function = OWN.get((engine, name)) or CONVERSIONS.get(name)
        if function is None:
            return text
        try:
            return function(text)
        except Refused as refused:
            reason = reason or str(refused)
        except (ValueError, OverflowError, RecursionError):
            reason = reason or ("" if name == "none" else _EXPECTED.get(name, "a value of another kind"))
    raise Refused(reason or "a value of another kind")


def _sglang_int(text: str) -> int:
    """As SGLang's human_readable_int: `8k` is 8000 and `8Ki` 8192, case-sensitive; a fraction goes with the former."""
    match = re.fullmatch(_IEC, text.strip())
    if match is None:
        try:
            return int(text.strip())
        except ValueError as error:
            raise Refused("a whole number such as 8192, 8k or 8Ki") from error
    number, suffix = match.groups()
    if suffix.endswith("i") and "." in number:
        raise Refused(f"a whole number before {suffix}")
    return int(float(number) * (2 ** _POWERS[suffix[0]] if suffix.endswith("i") else 10 ** (_POWERS[suffix[0]] // 10 * 3)))


def _strict_json(text: str) -> object:
    """As orjson, which knows no NaN and no Infinity."""
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def _nullable(text: str) -> str | None:
    return None if text in ("", "None") else text


def _lora_path(text: str) -> str:
    """As SGLang's LoRAPathAction: a path, `name=path`, or a JSON object with both."""
    if text.strip().startswith("{") and text.strip().endswith("}"):
        value = json.loads(text)
        if not {"lora_name", "lora_path"} <= value.keys():
            raise Refused('{"lora_name": ..., "lora_path": ...}')
    return text


def _log_level(text: str) -> str:
    if text.lower() not in ("critical", "fatal", "error", "warning", "warn", "info", "debug", "notset"):
        raise Refused("debug, info, warning, error or critical")
    return text


def _cuda_graph_config(text: str) -> object:
    value = json.loads(text)
    if not isinstance(value, dict) or not all(isinstance(phase, dict) for phase in value.values()):
        raise Refused('{"decode": {...}, "prefill": {...}}')
    if not value.keys() <= {"decode", "prefill"}:
        raise Refused("settings for decode or prefill")
    return value


def _cuda_graph_backend(text: str) -> str:
    if text == "tc_piecewise":
        raise Refused("breakable, full or disabled")
    return text


def _human_int(text: str) -> int:
    """As vLLM's human_readable_int: `8k` is 8000, `8K` is 8192, and a fraction goes with decimal suffixes only."""
    match = re.fullmatch(_HUMAN, text.strip())
    if match is None:
        return int(text.strip())
    number, suffix = match.groups()
    if suffix.islower():
        return int(float(number) * _SCALE[suffix])
    if "." in number:
        raise Refused(f"a whole number before {suffix}, or {number}{suffix.lower()}")
    return int(number) * _SCALE[suffix]


def _human_int_or_auto(text: str) -> int:
    return -1 if text.strip() == "-1" or text.strip().lower() == "auto" else _human_int(text)


def _bool(text: str) -> bool:
    return bool(text)


def _none(text: str) -> None:
    if text not in ("", "None"):
        raise ValueError(text)


def _number_ahead(pattern: str) -> Callable[[str], object]:
    """As C++'s std::stoi and its kin: a number after blanks, whatever follows it."""

    def convert_ahead(text: str) -> object:
        match = re.match(pattern, text)
        if match is None:
            raise ValueError(text)
        return match.group(1)

    return convert_ahead


_STOI = _number_ahead(r"\s*([-+]?\d+)")
_STOF = _number_ahead(r"(?i)\s*([-+]?(?:\d+\.?\d*|\.\d+|inf|nan))")

CONVERSIONS: dict[str, Callable[[str], object]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": _bool,
    "json": json.loads,
    "none": _none,
    **dict.fromkeys(("stoi", "stol", "stoul", "stoll", "stoull"), _STOI),
    **dict.fromkeys(("stof", "stod"), _STOF),
    "human_readable_int": _human_int,
    "human_readable_int_or_auto": _human_int_or_auto,
}


def _lora_module(text: str) -> object:
    """As vLLM's LoRAParserAction: `name=path`, or a JSON object."""
    if not text or ("=" in text and "," not in text):
        return text
    value = json.loads(text)
    if not isinstance(value, dict) or not {"name", "path"} <= value.keys():
        raise Refused('name=path, or {"name": ..., "path": ...}')
    return text


def _true_or_false(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise Refused("true or false")
    return text.lower() == "true"


def _object_or_text(text: str) -> object:
    return json.loads(text) if re.match(_BRACES, text) else text


def _lower_snake(text: str) -> str:
    return text.lower().replace("-", "_")


OWN: dict[tuple[str, str], Callable[[str], object]] = {
    ("vllm", "LoRAParserAction"): _lora_module,
    ("vllm", "StoreBoolean"): _true_or_false,
    ("vllm", "union_dict_and_str"): _object_or_text,
    ("vllm", "lambda s: s.lower().replace('-', '_')"): _lower_snake,
    ("sglang", "human_readable_int"): _sglang_int,
    ("sglang", "json_list_type"): _strict_json,
    ("sglang", "LoRAPathAction"): _lora_path,
    ("sglang", "logging_level"): _log_level,
    ("sglang", "parse_cuda_graph_config_arg"): _cuda_graph_config,
    ("sglang", "nullable_str"): _nullable,
    ("sglang", "parse_cuda_graph_backend_arg"): _cuda_graph_backend,
}
"""Conversions that an engine has under a name of its own, or that differ from others of the name."""


def is_known(engine: str, types: list[str]) -> bool:
    """Whether all conversions of an option are known here, so that its choices can be compared with what they give."""
    return all((engine, name) in OWN or name in CONVERSIONS for name in types)


_EXPECTED = {
    "json_list_type": "JSON",
    "union_dict_and_str": "JSON between the braces",
    "LoRAPathAction": '{"lora_name": ..., "lora_path": ...}',
    "parse_cuda_graph_config_arg": '{"decode": {...}, "prefill": {...}}',
    "LoRAParserAction": 'name=path, or {"name": ..., "path": ...}',
    **dict.fromkeys(("stoi", "stol", "stoul", "stoll", "stoull"), "a whole number"),
    **dict.fromkeys(("stof", "stod"), "a number"),
    "int": "a whole number",
    "float": "a number",
    "json": "JSON",
    "human_readable_int": "a whole number such as 8192 or 8k",
    "human_readable_int_or_auto": "a whole number such as 8192 or 8k, or auto",
}
