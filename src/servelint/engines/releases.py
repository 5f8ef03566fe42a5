"""Releases: their order, and which ones an engine has published.

A check compares keys. Releases and ranges that a person writes are read by `packaging`, whose import costs 10 ms: here, in
normalize(), and in servelint.rules.ranges. Tests hold the order of the keys against packaging.
"""

from __future__ import annotations

import json
import os
import re
from functools import lru_cache

from servelint.engines.registry import ENGINES

ReleaseKey = tuple[tuple[int, ...], int, int, int, int, int]

_RELEASE = re.compile(
    r"[vb]?(?P<numbers>\d+(?:\.\d+)*)(?:[-_.]?(?P<pre>a|b|rc)(?P<pre_number>\d*))?"
    r"(?:[-_.]?post(?P<post>\d*))?(?:[-_.]?dev(?P<dev>\d*))?(?:\+[a-z0-9.]+)?",
    re.IGNORECASE,
)
_PRE = {"a": 0, "b": 1, "rc": 2}
_FINAL = 3


@lru_cache(maxsize=512)
def release_key(release: str) -> ReleaseKey | None:
    """A key that orders releases as PEP 440 does; llama.cpp's builds (b9180) are whole numbers. None if it is no release.

    (numbers without trailing zeros, pre-release phase, pre-release number, post number, has no dev, dev number)
    """
    match = _RELEASE.fullmatch(release.strip())
    if match is None:
        return None
    numbers = [int(number[:18]) for number in match.group("numbers").split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    pre, post, dev = match.group("pre"), match.group("post"), match.group("dev")
    if pre is not None:
        phase = _PRE[pre.lower()]
    elif dev is not None and post is None:
        phase = -1  # 1.0.dev1 comes before 1.0a1
    else:
        phase = _FINAL
    return (
        tuple(numbers),
        phase,
        int((match.group("pre_number") or "0")[:18]) if pre is not None else 0,
        -1 if post is None else int((post or "0")[:18]),
        0 if dev is not None else 1,
        int((dev or "0")[:18]) if dev is not None else 0,
    )


LEAST: ReleaseKey = ((), 0, 0, 0, 0, 0)
"""The key of nothing that was ever released: where a key is missing, it is older than all."""


def sort_key(release: str) -> ReleaseKey:
    """The key of a release; LEAST for what is no release."""
    return release_key(release) or LEAST


def is_final(release: str) -> bool:
    """Whether a release is neither a pre-release nor a development release."""
    key = release_key(release)
    return key is not None and key[1] == _FINAL and key[4] == 1


def normalize(engine: str, written: str) -> str:
    """A release of an engine that a person writes, as packaging spells it: `v0.20.0-rc1` is 0.20.0rc1.

    A numbered build (`b9180` of llama.cpp) is left as it is written. Raises ValueError.
    """
    from packaging.version import InvalidVersion, Version

    build = ENGINES[engine].numbered_builds
    try:
        version = Version(written.removeprefix("b") if build else written)
    except InvalidVersion as error:
        raise ValueError(f"{written!r} is not a release") from error
    if version.epoch:
        raise ValueError(f"{written!r} is not a release")
    return written.removeprefix("v") if build else str(version)


@lru_cache(maxsize=1)
def _published() -> dict[str, list[str]]:
    with open(os.path.join(os.path.dirname(__file__), "data", "releases.json"), encoding="utf-8") as file:
        published: dict[str, list[str]] = json.load(file)["engines"]
    return published


def known_releases(engine: str) -> list[str]:
    """The releases of an engine that servelint knows, oldest first; empty for an engine it does not follow."""
    return _published().get(engine, [])


def newest(engine: str) -> str | None:
    """The newest release of an engine that servelint knows; None for an engine it does not follow."""
    releases = known_releases(engine)
    return releases[-1] if releases else None
