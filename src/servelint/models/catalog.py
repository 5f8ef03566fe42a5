"""The architectures that are known by name: architectures.json."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import lru_cache

from servelint.models.architecture import Architecture
from servelint.models.described import described

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    with open(os.path.join(os.path.dirname(__file__), "architectures.json"), encoding="utf-8") as file:
        data: dict[str, Any] = json.load(file)
    return data


@lru_cache(maxsize=1)
def _by_name() -> dict[str, tuple[str, dict[str, Any]]]:
    """Entries by every name that they have, in lower case."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for name, entry in _data()["models"].items():
        for one in (name, *entry.get("also", ())):
            found[one.lower()] = (one, entry)
    return found


def unpacked(value: Any) -> Any:
    """A config as it was before servelint.harvest.architectures packed its lists."""
    if isinstance(value, dict):
        if value.keys() == {"repeat", "length"}:
            short = value["repeat"]
            return [short[index % len(short)] for index in range(value["length"])]
        if value.keys() == {"runs"}:
            return [one for one, count in value["runs"] for _ in range(count)]
        return {key: unpacked(one) for key, one in value.items()}
    return value


@lru_cache(maxsize=64)
def _known(name: str) -> Architecture | None:
    found = _by_name().get(name)
    if found is None:
        return None
    known, entry = found
    architecture = described(known, unpacked(entry["config"]), tuple(entry["sources"]))
    if architecture is None:
        return None
    return replace(architecture, checkpoint=entry.get("checkpoint"), params=entry.get("params"))


def lookup(name: str, opened: Callable[[str], str | None] | None = None) -> Architecture | None:
    """servelint.models.architecture.find, which see."""
    return _known(name.lower())
