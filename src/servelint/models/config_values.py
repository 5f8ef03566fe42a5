"""Reading a config.json's values: what is not of the type that its key has is as good as not there."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NESTED = ("text_config", "llm_config", "language_config", "language_model", "thinker_config", "llm")
_MOST = 1 << 40
"""No dimension of a model is larger: what is would only make arithmetic slow."""


def inner(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The language model's part: thinker_config.text_config of an Omni model, text_config of one with an encoder."""
    for _ in range(3):
        below = next((data[key] for key in NESTED if isinstance(data.get(key), dict)), None)
        if below is None:
            break
        data = below
    return data


def integer(data: Mapping[str, Any], *keys: str) -> int | None:
    """The first of these keys that has a number, zero among them; None if none has."""
    for key in keys:
        value = data.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST:
            return value
    return None


def number(data: Mapping[str, Any], *keys: str) -> int:
    """As integer, 0 if there is none."""
    return integer(data, *keys) or 0


def flag(data: Mapping[str, Any], key: str, default: bool = False) -> bool:
    """Whether a key is true."""
    value = data.get(key)
    return value if isinstance(value, bool) else default


def word(data: Mapping[str, Any], *keys: str) -> str | None:
    """The first of these keys that has a text."""
    return next((data[key] for key in keys if isinstance(data.get(key), str)), None)


def table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A nested object, an empty one if there is none."""
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, dict) else {}


def listed(data: Mapping[str, Any], *keys: str) -> list[Any]:
    """A list, an empty one if there is none."""
    return next((data[key] for key in keys if isinstance(data.get(key), list)), [])
