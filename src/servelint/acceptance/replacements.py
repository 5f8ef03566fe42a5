"""What to write instead of an option or variable that is gone; by the release notes and the code that took its place."""

from __future__ import annotations

import json
import os
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Replacement:
    """text: what to do;  option: the new spelling, if it takes the same value;  safe: it means the same"""

    __slots__ = ("option", "safe", "text")

    def __init__(self, body: dict[str, Any]) -> None:
        self.option: str | None = body.get("option")
        self.safe: bool = body.get("safe", False)
        self.text: str = body.get("text", f"write {self.option}")


@lru_cache(maxsize=1)
def _data() -> dict[str, dict[str, Any]]:
    path = os.path.join(os.path.dirname(os.path.dirname(__file__)), "engines", "data", "replacements.json")
    with open(path, encoding="utf-8") as file:
        found: dict[str, dict[str, Any]] = json.load(file)["engines"]
    return found


def replacement(engine: str, name: str) -> Replacement | None:
    body = _data().get(engine, {}).get(name)
    return Replacement(body) if body is not None else None
