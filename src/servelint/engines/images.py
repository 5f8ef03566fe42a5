"""Container images: which engine an image holds, which release its tag names, and what it starts by itself."""

from __future__ import annotations

import json
import os
import re
from functools import lru_cache

from servelint.core.launch import ReleaseClaim
from servelint.core.text import Text
from servelint.engines.releases import known_releases, release_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

with open(os.path.join(os.path.dirname(__file__), "data", "images.json"), encoding="utf-8") as _file:
    _DATA = json.load(_file)

_RELEASE = re.compile(_DATA["release"])
_ROLLING = re.compile(_DATA["rolling"])
_HOUSE = _DATA["house"]


class Image:
    """What an image's name says.

    engine:      engine id, or None
    claim:       the engine's release as the tag names it
    entrypoint:  the program that the image starts: () if it starts whatever the command says, None if nobody knows; where it
                 changed and the claim names no release, the one of the newest
    house:       whether somebody else than the engine's makers built it, and may have changed the engine
    """

    __slots__ = ("claim", "engine", "entrypoint", "house")

    def __init__(
        self, engine: str | None, claim: ReleaseClaim, entrypoint: tuple[str, ...] | None, *, house: bool = False
    ) -> None:
        self.house = house
        self.engine = engine
        self.claim = claim
        self.entrypoint = entrypoint

    @property
    def claims(self) -> dict[str, ReleaseClaim]:
        return {} if self.engine is None else {self.engine: self.claim}


def identify(image: Text) -> Image:
    """Read an image reference: `[registry/]repository[:tag][@digest]`, parts of which may be unknown."""
    flat = image.flat
    digest = flat.find("@")
    end = len(flat) if digest == -1 else digest
    colon = flat.rfind(":", flat.rfind("/", 0, end) + 1, end)
    name = flat[:end] if colon == -1 else flat[:colon]
    tag = image.cut(colon + 1, end) if colon != -1 else None
    family = _family(name)
    if family is not None:
        found = _of_family(family, tag, pinned=digest != -1)
        found.house = family.get("tags") == "own"
        return found
    found = _of_house(name.rpartition("/")[2], tag)
    found.house = True
    return found


@lru_cache(maxsize=1024)
def _family(name: str) -> dict[str, Any] | None:
    return next((family for family in _DATA["families"] if _in_family(name, family)), None)


def _in_family(name: str, family: dict[str, Any]) -> bool:
    endings = [family["repository"] + suffix for suffix in ("", *family.get("suffixes", []))]
    # a number sign is how enroot sets a registry apart
    return any(name == ending or name.endswith(("/" + ending, "#" + ending)) for ending in endings)


def _of_family(family: dict[str, Any], tag: Text | None, pinned: bool) -> Image:
    engine = str(family["engine"])
    if "not" in family and tag is not None and re.search(family["not"], tag.flat) is not None:
        return Image(None, ReleaseClaim(), None)
    only = family.get("only")
    if only and (tag is None or re.search(only, tag.flat) is None):
        return Image(engine, ReleaseClaim(), None)
    claim = _claim(family, tag, pinned)
    return Image(engine, claim, _entrypoint(family.get("entrypoint", []), claim.release))


def _claim(family: dict[str, Any], tag: Text | None, pinned: bool) -> ReleaseClaim:
    tags = family.get("tags")
    if tags == "own":
        said = family.get("releases", {}).get(tag.flat) if tag is not None else None
        return ReleaseClaim() if tag is None or said is None else ReleaseClaim(said["release"], "image", tag.span())
    if tag is None:
        return ReleaseClaim(None, "image", rolling=not pinned)
    match = (re.compile(tags) if tags else _RELEASE).match(tag.flat)
    if match is not None and tag.cut(match.start("release"), match.end("release")).known:
        span = tag.span(match.start("release"), match.end("release"))
        return ReleaseClaim(match.group("release"), "image", span)
    rolling = re.compile(family["rolling"]) if "rolling" in family else _ROLLING
    if tag.known and not pinned and rolling.match(tag.flat):
        return ReleaseClaim(None, "image", tag.span(), rolling=True)
    return ReleaseClaim(None, None, tag.span())


def _entrypoint(entry: list[Any] | None, release: str | None) -> tuple[str, ...] | None:
    """The words that hold for a release; None between two spells, as for a pre-release of the later one's first."""
    if entry is None or all(isinstance(word, str) for word in entry):
        return None if entry is None else tuple(entry)
    if release is None:
        return tuple(entry[-1]["words"])
    key = release_key(release)
    for spell in entry:
        first, last = (release_key(spell[side]) if side in spell else None for side in ("since", "until"))
        if key is not None and (first is None or key >= first) and (last is None or key <= last):
            return tuple(spell["words"])
    return None


def _of_house(name: str, tag: Text | None) -> Image:
    engine = None
    if re.search(_HOUSE["not"], name) is None:
        engine = next((engine for engine, pattern in _HOUSE["engines"].items() if re.search(pattern, name)), None)
    if engine is None or tag is None:
        return Image(engine, ReleaseClaim(), None)
    match = _RELEASE.match(tag.flat)
    if match is not None and re.match(_HOUSE["released"], name) and match.group("release") in known_releases(engine):
        span = tag.span(match.start("release"), match.end("release"))
        return Image(engine, ReleaseClaim(match.group("release"), "image", span), None)
    return Image(engine, ReleaseClaim(None, None, tag.span()), None)
