"""Container images: which engine an image holds, which release its tag names, and what it starts by itself."""

from __future__ import annotations

import json
import os
import re

from servelint.engines.releases import known_releases
from servelint.launch import ReleaseClaim
from servelint.text import Text

with open(os.path.join(os.path.dirname(__file__), "data", "images.json"), encoding="utf-8") as _file:
    _DATA = json.load(_file)

_RELEASE = re.compile(_DATA["release"])
_ROLLING = re.compile(_DATA["rolling"])
_HOUSE = _DATA["house"]


class Image:
    """What an image's name says.

    engine:      engine id, or None
    claim:       the engine's release as the tag names it
    entrypoint:  the program that the image starts: () if it starts whatever the command says, None if nobody knows
    """

    __slots__ = ("claim", "engine", "entrypoint")

    def __init__(self, engine: str | None, claim: ReleaseClaim, entrypoint: tuple[str, ...] | None) -> None:
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
    for family in _DATA["families"]:
        if _in_family(name, family):
            return _of_family(family, tag, pinned=digest != -1)
    return _of_house(name.rpartition("/")[2], tag)


def _in_family(name: str, family: dict[str, object]) -> bool:
    repository = str(family["repository"])
    suffixes = family.get("suffixes", [])
    endings = [repository, *[repository + str(suffix) for suffix in suffixes]] if isinstance(suffixes, list) else [repository]
    return any(name == ending or name.endswith("/" + ending) for ending in endings)


def _of_family(family: dict[str, object], tag: Text | None, pinned: bool) -> Image:
    engine = str(family["engine"])
    entry = family.get("entrypoint", ())
    entrypoint = tuple(str(word) for word in entry) if isinstance(entry, (list, tuple)) else ()
    only = family.get("only")
    if only and (tag is None or re.search(str(only), tag.flat) is None):
        return Image(engine, ReleaseClaim(), None)
    tags = family.get("tags")
    if tags == "own":
        return Image(engine, ReleaseClaim(), entrypoint)
    if tag is None:
        return Image(engine, ReleaseClaim(None, "image", rolling=not pinned), entrypoint)
    match = (re.compile(str(tags)) if tags else _RELEASE).match(tag.flat)
    if match is not None and tag.cut(match.start("release"), match.end("release")).known:
        span = tag.span(match.start("release"), match.end("release"))
        return Image(engine, ReleaseClaim(match.group("release"), "image", span), entrypoint)
    rolling = re.compile(str(family["rolling"])) if "rolling" in family else _ROLLING
    if tag.known and not pinned and rolling.match(tag.flat):
        return Image(engine, ReleaseClaim(None, "image", tag.span(), rolling=True), entrypoint)
    return Image(engine, ReleaseClaim(None, None, tag.span()), entrypoint)


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
