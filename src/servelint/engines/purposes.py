"""What options do: one sentence each for those that people use most, by engine.

The sentences are servelint's own. They stand in data/purposes/, by the longest spelling of an option.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache

from servelint.core.data import data_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = data_path("engines/data/purposes")


@lru_cache(maxsize=8)
def purposes(engine: str) -> dict[str, str]:
    """Spelling of an option -> what it does, in words without a full stop. Empty for an engine without sentences."""
    try:
        with open(os.path.join(FOLDER, f"{engine}.json"), encoding="utf-8") as file:
            found: dict[str, str] = json.load(file)
    except FileNotFoundError:
        return {}
    return found


def purpose(engine: str, spellings: Iterable[str]) -> str | None:
    """What the option with one of some spellings does; None if no sentence is known."""
    known = purposes(engine)
    return next((known[one] for one in spellings if one in known), None)
