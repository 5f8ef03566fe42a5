"""Which parsers read the format that a model writes: parsers.json."""

from __future__ import annotations

import json
import os
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@lru_cache(maxsize=1)
def _formats() -> dict[str, Any]:
    with open(os.path.join(os.path.dirname(__file__), "parsers.json"), encoding="utf-8") as file:
        data: dict[str, Any] = json.load(file)
    return data


def fitting(kind: str, name: str, engine: str) -> list[str]:
    """The parsers of an engine that read a format, the most usual first. kind: "tools" or "thinks"."""
    found: list[str] = _formats()[kind].get(name, {}).get(engine, [])
    return found


def known(kind: str, parser: str, engine: str) -> bool:
    """Whether it is known what a parser reads."""
    return any(parser in entry.get(engine, []) for entry in _formats()[kind].values())
