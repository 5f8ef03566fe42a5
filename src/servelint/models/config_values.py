"""Typed reading of a config.json. A value of another type than its key has counts as missing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NESTED = ("text_config", "llm_config", "language_config", "language_model", "thinker_config", "llm")
_MOST = 1 << 40
"""No dimension of a model is larger. A larger one would only make arithmetic slow."""


def inner(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of the language model: thinker_config.text_config of an Omni model, text_config of one with an encoder."""
    for _ in range(3):
        below = next((data[key] for key in NESTED if isinstance(data.get(key), dict)), None)
        if below is None:
            break
        data = below
    return data


def integer(data: Mapping[str, Any], *keys: str) -> int | None:
    """The first of these keys that has a whole number, zero included, None if none has."""
    for key in keys:
        value = data.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST:
            return value
    return None


def number(data: Mapping[str, Any], *keys: str) -> int:
    """The first of these keys that has a whole number, 0 if none has."""
    return integer(data, *keys) or 0


def flag(data: Mapping[str, Any], key: str, default: bool = False) -> bool:
    """A truth value, or the default."""
    value = data.get(key)
    return value if isinstance(value, bool) else default


def word(data: Mapping[str, Any], *keys: str) -> str | None:
    """The first of these keys that has a text, None if none has."""
    return next((data[key] for key in keys if isinstance(data.get(key), str)), None)


def table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A nested object, an empty one if there is none."""
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, dict) else {}


def listed(data: Mapping[str, Any], *keys: str) -> list[Any]:
    """The first of these keys that has a list, an empty one if none has."""
    return next((data[key] for key in keys if isinstance(data.get(key), list)), [])
