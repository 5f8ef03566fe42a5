"""What is known of a model by its name alone. A name that no family claims is an unknown model, not a wrong one."""

from __future__ import annotations

import json
import os
import re
from functools import lru_cache

from servelint.text import HOLE, Text


class Family:
    """facts: architecture, hybrid (bool), mixer ("gdn", "mamba2"), mtp (bool). since: engine -> first release that knows it."""

    __slots__ = ("facts", "name", "since")

    def __init__(self, name: str, facts: dict[str, str | bool], since: dict[str, str]) -> None:
        self.name = name
        self.facts = facts
        self.since = since


@lru_cache(maxsize=1)
def _families() -> tuple[re.Pattern[str], list[tuple[re.Pattern[str], Family]]]:
    with open(os.path.join(os.path.dirname(__file__), "families.json"), encoding="utf-8") as file:
        data = json.load(file)
    families: list[tuple[re.Pattern[str], Family]] = []
    for entry in data["families"]:
        facts = {key: entry[key] for key in ("architecture", "hybrid", "mixer", "mtp") if key in entry}
        families.append((re.compile(entry["match"]), Family(entry["name"], facts, entry.get("since", {}))))
    return re.compile(data["not"]), families


def identify(model: Text) -> Family | None:
    """The family of a model by a repository's or a folder's name; None if the name is unknown or says nothing."""
    name = model.flat.rstrip("/").rpartition("/")[2].lower()
    return None if HOLE in name or not name else _by_name(name)


@lru_cache(maxsize=256)
def _by_name(name: str) -> Family | None:
    excluded, families = _families()
    if excluded.search(name):
        return None
    return next((family for pattern, family in families if pattern.search(name)), None)
