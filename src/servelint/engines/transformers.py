"""Which release of Transformers an engine has beside it: it decides whether the engine can read a model's config.json."""

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
    """The newest release of Transformers that a release of an engine can have beside it.

    Args:
        engine: the engine's id.
        key: the engine's release.
        image: whether the engine runs in its makers' image, which has the Transformers of its day; otherwise its package's
            metadata decide.

    Returns:
        Two numbers ("4.57"); None if it may be any release.
    """
    found: str | None = None
    for since, release in _newest().get(engine, {}).get("image" if image else "installed", []):
        bound = release_key(since)
        if bound is not None and key >= bound:
            found = release
    return found


def knows(transformers: str, since: str) -> bool:
    """Whether a release of Transformers is not older than the one that brought a model type; patch numbers do not count."""
    return [int(part) for part in transformers.split(".")[:2]] >= [int(part) for part in since.split(".")[:2]]
