"""Conversions of vLLM's own, by the names that its source gives them."""

from __future__ import annotations

import json
import re

from servelint.engines.conversions import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.conversions import Conversion

_BRACES = r"(?s)^\s*\{.*\}\s*$"
_HUMAN = r"(\d+(?:\.\d+)?)([kKmMgGtT])"
_SCALE = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def _human_int(text: str) -> int:
    """As human_readable_int: `8k` is 8000, `8K` is 8192, and a fraction goes with decimal suffixes only."""
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


def _lora_module(text: str) -> object:
    """As LoRAParserAction: `name=path`, or a JSON object."""
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


CONVERSIONS: dict[str, Conversion] = {
    "human_readable_int": (_human_int, "a whole number such as 8192 or 8k"),
    "human_readable_int_or_auto": (_human_int_or_auto, "a whole number such as 8192 or 8k, or auto"),
    "LoRAParserAction": (_lora_module, 'name=path, or {"name": ..., "path": ...}'),
    "StoreBoolean": (_true_or_false, "true or false"),
    "union_dict_and_str": (_object_or_text, "JSON between the braces"),
    "lambda s: s.lower().replace('-', '_')": (_lower_snake, ""),
}
