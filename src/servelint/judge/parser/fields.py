"""What a field of an engine's config class takes: the conversions of pydantic's lax mode, choices and bounds.

A field's body is the catalog's (servelint.harvest.vllm.json_options says what it holds). What is doubtful is taken.
"""

from __future__ import annotations

import operator
import re

from servelint.judge.parser.wording import listed
from servelint.syntax.json import ARRAY, OBJECT, UNKNOWN, JsonNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_INTEGER = re.compile(r"\s*[-+]?\d[\d_]*(?:\.0*)?\s*")
_TRUTH = frozenset(("0", "off", "f", "false", "n", "no", "1", "on", "t", "true", "y", "yes"))
_BOUNDS = (
    ("ge", "at least", operator.ge),
    ("gt", "more than", operator.gt),
    ("le", "at most", operator.le),
    ("lt", "less than", operator.lt),
)
_NAMES = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a text"}


def expected(body: dict[str, Any], node: JsonNode) -> str | None:
    """What a field takes, where it surely does not take a value that is one word, number or text; None otherwise."""
    if node.kind in (UNKNOWN, OBJECT, ARRAY) or node.value is None:
        return None
    return expected_of(body, node.value)


def expected_of(body: dict[str, Any], value: str | float | bool) -> str | None:
    kinds = body.get("type", "any")
    types = {kinds} if isinstance(kinds, str) else set(kinds)
    choices = body.get("choices")
    if choices is not None:
        return (
            None if _chosen(choices, value, open_ended="any" in types) else listed([one for one in choices if one is not None])
        )
    if "any" in types or types & {"list", "object"}:
        return None
    fitting = [kind for kind in sorted(types - {"null"}) if _fits(kind, value)]
    if not fitting:
        return " or ".join([_NAMES[kind] for kind in sorted(types - {"null"})])
    if "str" in types or "bool" in types:
        return None
    number = _number(value) if isinstance(value, str) else value
    return _beyond(body, number) if number is not None else None


def _chosen(choices: list[Any], value: str | float | bool, *, open_ended: bool) -> bool:
    """Whether a value is one of the choices; of an enum that a validator reads, whatever its case."""
    if open_ended and isinstance(value, str):
        return value.lower() in [str(one).lower() for one in choices]
    return any(value == one and isinstance(value, str) == isinstance(one, str) for one in choices)


def _fits(kind: str, value: str | float | bool) -> bool:
    if kind == "str":
        return isinstance(value, str)
    if kind == "int":
        return _INTEGER.fullmatch(value) is not None if isinstance(value, str) else float(value).is_integer()
    if kind == "float":
        return not isinstance(value, str) or _number(value) is not None
    if kind == "bool":
        return value.lower() in _TRUTH if isinstance(value, str) else value in (0, 1)
    return True


def _beyond(bounds: dict[str, Any], number: float) -> str | None:
    """What a number has to be, where it is not. bounds: "ge", "gt", "le", "lt" and others"""
    broken = [f"{words} {bounds[name]}" for name, words, holds in _BOUNDS if name in bounds and not holds(number, bounds[name])]
    return f"a number of {' and '.join(broken)}" if broken else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
