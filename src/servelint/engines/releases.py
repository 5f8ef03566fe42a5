"""Releases: their order, and those that an engine has published.

A check compares keys. Releases and ranges that a person writes are read by `packaging`, whose import costs 10 ms: here, in
normalize(), and in servelint.rules.ranges. Tests hold the order of the keys against packaging.
"""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.core.data import RELEASES, load_data
from servelint.engines.registry import ENGINES

ReleaseKey = tuple[tuple[int, ...], int, int, int, int, int]

_RELEASE = (
    r"[vb]?(?P<numbers>\d+(?:\.\d+)*)(?:[-_.]?(?P<pre>a|b|rc)(?P<pre_number>\d*))?"
    r"(?:[-_.]?post(?P<post>\d*))?(?:[-_.]?dev(?P<dev>\d*))?(?:\+[a-z0-9.]+)?"
)
_PRE = {"a": 0, "b": 1, "rc": 2}
_FINAL = 3
_UNTAGGED = "0.1.dev"
"""How the version begins that setuptools-scm gives a checkout without tags: it says nothing of the release."""


@lru_cache(maxsize=512)
def release_key(release: str) -> ReleaseKey | None:
    """A key that orders releases as PEP 440 does; builds of llama.cpp (b9180) are whole numbers. None for other texts.

    (numbers without trailing zeros, pre-release phase, pre-release number, post number, has no dev, dev number)
    """
    text = release.strip()
    numbers = text.split(".")
    if text.isascii() and all(number.isdigit() for number in numbers):
        return _numbers(numbers), _FINAL, 0, -1, 1, 0
    match = re.fullmatch(_RELEASE, text, re.IGNORECASE)
    if match is None:
        return None
    pre, post, dev = match.group("pre"), match.group("post"), match.group("dev")
    if pre is not None:
        phase = _PRE[pre.lower()]
    elif dev is not None and post is None:
        phase = -1  # 1.0.dev1 comes before 1.0a1
    else:
        phase = _FINAL
    return (
        _numbers(match.group("numbers").split(".")),
        phase,
        int((match.group("pre_number") or "0")[:18]) if pre is not None else 0,
        -1 if post is None else int((post or "0")[:18]),
        0 if dev is not None else 1,
        int((dev or "0")[:18]) if dev is not None else 0,
    )


LEAST: ReleaseKey = ((), 0, 0, 0, 0, 0)
"""The key of nothing that was ever released: where a key is missing, it is older than all."""


def sort_key(release: str) -> ReleaseKey:
    """The key of a release; LEAST for any other text."""
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
    published: dict[str, list[str]] = load_data(RELEASES)["engines"]
    return published


def _numbers(parts: list[str]) -> tuple[int, ...]:
    numbers = [int(part[:18]) for part in parts]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def known_releases(engine: str) -> list[str]:
    """The releases of an engine that servelint knows, oldest first; empty for an engine it does not follow."""
    return _published().get(engine, [])


def newest(engine: str) -> str | None:
    """The newest release of an engine that servelint knows; None for an engine it does not follow."""
    releases = known_releases(engine)
    return releases[-1] if releases else None


# -- releases that servelint does not know

KNOWN, NEWER, OLDER, BETWEEN, NEVER = "known", "newer", "older", "between", "never"
"""Where a release stands among the known ones. BETWEEN: a version before a release that is known; NEVER: no project published
it, as far as servelint knows, so that it is probably mistyped."""

_LARGEST = 99
"""A minor or patch number that is larger, and larger than four times the newest's, has probably lost a dot."""
_BUILD = r"(?i)(?:cu\d+|cuda[\d.]*|cpu|rocm[\d.]*|xpu|tpu|computecanada)?(?:\.(?:cxx11)?abi(?:true|false))?"
"""Labels behind the `+` of a version that only say what a published release is built for."""


def is_published_build(label: str) -> bool:
    """Whether the label behind the `+` of a version is one of the project's own."""
    return re.fullmatch(_BUILD, label) is not None


class Placed:
    """Where a release stands among the known ones.

    Attributes:
        kind: KNOWN, NEWER, OLDER, BETWEEN or NEVER.
        near: the nearest known releases, the most likely first.
    """

    __slots__ = ("kind", "near")

    def __init__(self, kind: str, near: list[str]) -> None:
        self.kind = kind
        self.near = near


@lru_cache(maxsize=256)
def place(engine: str, release: str) -> Placed | None:
    """Where a release of an engine stands; None for a text that is not a release, and for an engine without a catalog."""
    known = known_releases(engine) or _cataloged(engine)
    key = release_key(release)
    if key is None or not known or release.startswith(_UNTAGGED):
        return None
    keys = [sort_key(one) for one in known]
    if key in keys:
        tabled = _cataloged(engine)
        if tabled and key > sort_key(tabled[-1]):
            return Placed(NEWER, tabled[-1:])  # published, but its source could not be read
        return Placed(KNOWN, [known[keys.index(key)]])
    newer = sum(one < key for one in keys)
    around = known[max(newer - 1, 0) : newer + 1]
    if ENGINES[engine].tags_patch_at_branch and 0 < newer < len(known) and _of_main(key):
        later = next((one for one, other in zip(known, keys, strict=True) if other[0][:2] > key[0][:2]), around[-1])
        return Placed(BETWEEN, [around[0], later])
    if newer == len(known):
        meant = _meant(key[0], known, keys)
        return Placed(NEVER, list(dict.fromkeys([*meant, *around]))) if meant else Placed(NEWER, around)
    if newer == 0:
        return Placed(OLDER, around[:1])
    if ENGINES[engine].numbered_builds:
        return Placed(KNOWN, around)  # most builds are not in the catalog
    final = is_final(release) and not any(one[0] == key[0] for one in keys)
    return Placed(NEVER if final else BETWEEN, around)


def requested(engine: str, written: str) -> str:
    """The release that a person names, without the v of its tag; also one that is newer than all that are known.

    Raises:
        ValueError: It is not a release, or one that the engine's makers never published.
    """
    name = ENGINES[engine].name
    try:
        found = normalize(engine, written)
    except ValueError:
        like = "b9180" if ENGINES[engine].numbered_builds else "0.19.1"
        raise ValueError(f'"{written}" is not a release of {name}; releases look like {like}') from None
    if found.startswith(_UNTAGGED):
        raise ValueError(f'"{written}" says nothing of the release: a checkout of {name} without tags calls itself so')
    placed = place(engine, found)
    if placed is not None and placed.kind == NEVER:
        raise ValueError(f'"{written}" is not a release of {name}; did you mean {" or ".join(placed.near)}?')
    return found


def unlisted_note(engine: str, release: str) -> str:
    """A sentence on a release that servelint does not know; "" for one that it knows."""
    placed = place(engine, release)
    if placed is None or placed.kind == KNOWN:
        return ""
    if placed.kind == BETWEEN:
        where = "not in the catalog"
    elif placed.kind == NEVER:
        where = "not a release that servelint knows"
    else:
        where = f"{placed.kind} than every release that servelint knows"
    near = " and ".join(placed.near)
    return f"{ENGINES[engine].name} {release} is {where}; it is judged {'by' if len(placed.near) > 1 else 'as'} {near}"


def _cataloged(engine: str) -> list[str]:
    from servelint.engines import catalog  # which needs the keys of this module

    found = catalog.load(engine)
    return found.releases if found is not None else []


def _of_main(key: ReleaseKey) -> bool:
    """Whether a version is of the main branch, where the engine `tags_patch_at_branch`."""
    return len(key[0]) == 3 and key[1] == _PRE["rc"] and key[4] == 0


def _meant(numbers: tuple[int, ...], known: list[str], keys: list[ReleaseKey]) -> list[str]:
    """The releases that a mistyped one probably means; none for one that may be newer than all that are known."""
    shortened = [one for one, key in zip(known, keys, strict=True) if key[0] == (0, *numbers)]
    if shortened:
        return shortened[-1:]
    pairs = list(zip(numbers, keys[-1][0], strict=False))
    index = next((index for index, (one, other) in enumerate(pairs) if one != other), 0)
    one, other = pairs[index]
    plausible = 9 * other if len(keys[-1][0]) == 1 else max(_LARGEST, 4 * other) if index else one
    if one <= plausible:
        return []
    if len(keys[-1][0]) == 1:
        return known[-1:]
    digits = "".join([str(number) for number in numbers])
    plain = [re.sub(r"\D", "", one) for one in known]
    alike = [next((at for at, char in enumerate(one) if digits[at : at + 1] != char), len(one)) for one in plain]
    return [max(zip(alike, known, strict=True), key=lambda pair: (pair[0], sort_key(pair[1])))[1]]
