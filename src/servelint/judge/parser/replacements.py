"""What to write instead of an option or variable that is gone; by the release notes and the code that took its place."""

from __future__ import annotations

import json
import os
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Replacement:
    """text: what to do

    option: the new spelling, if it takes the same value;  write: the words instead of the option and its value
    delete: nothing takes its place;  idle: it had no effect any more when it was deprecated
    safe: the launch means the same then, or all that it can have meant
    """

    __slots__ = ("delete", "idle", "option", "safe", "text", "write")

    def __init__(self, body: dict[str, Any]) -> None:
        self.option: str | None = body.get("option")
        self.write: list[str] = body.get("write", [])
        self.idle: bool = body.get("idle", False)
        self.delete: bool = body.get("delete", False)
        self.safe: bool = body.get("safe", False)
        self.text: str = body.get("text", f"write {self.option}")


@lru_cache(maxsize=1)
def _data() -> dict[str, dict[str, Any]]:
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "engines", "data", "replacements.json")
    with open(path, encoding="utf-8") as file:
        found: dict[str, dict[str, Any]] = json.load(file)["engines"]
    return found


def replacement(engine: str, name: str) -> Replacement | None:
    body = _data().get(engine, {}).get(name)
    return Replacement(body) if body is not None else None
