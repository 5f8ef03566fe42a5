"""Whether a release of an engine can read a model's config.json at all: what Transformers beside it can know."""

from __future__ import annotations

import json
import os
from functools import lru_cache

from servelint.engines.releases import ReleaseKey, release_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@lru_cache(maxsize=1)
def _newest() -> dict[str, Any]:
    with open(os.path.join(os.path.dirname(__file__), "data", "transformers.json"), encoding="utf-8") as file:
        data: dict[str, Any] = json.load(file)
    return data


def newest_transformers(engine: str, key: ReleaseKey, *, image: bool) -> str | None:
    """The newest release of Transformers ("4.57") that a release of an engine can have beside it; None if it may be any.

    image: in the engine's own image, which has those of its day; otherwise whatever its metadata allows
    """
    found: str | None = None
    for since, release in _newest().get(engine, {}).get("image" if image else "installed", []):
        bound = release_key(since)
        if bound is not None and key >= bound:
            found = release
    return found


def knows(transformers: str, since: str) -> bool:
    """Whether a release of Transformers is not older than the one that brought a model type: patches do not count."""
    return [int(part) for part in transformers.split(".")[:2]] >= [int(part) for part in since.split(".")[:2]]
