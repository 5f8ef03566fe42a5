"""The releases that a launch may run on: the pinned one, the newest for a rolling tag, or all that can start it."""

from __future__ import annotations

import re
from functools import lru_cache
from weakref import WeakKeyDictionary

from servelint.core.launch import PATCHED, Launch
from servelint.core.settings import Settings
from servelint.engines import ENGINE_NAMES, ENGINES, entry, images
from servelint.engines.catalog import load, newest_release
from servelint.engines.config import Config, configs
from servelint.engines.releases import (
    BETWEEN,
    KNOWN,
    NEVER,
    OLDER,
    Placed,
    is_published_build,
    known_releases,
    place,
    release_key,
    sort_key,
)
from servelint.judge.parser import refuse, verdicts
from servelint.judge.parser.violation import UNKNOWN_WORDS

_METHOD_KNOWN = "effective.speculative-method-known"
_started_by: WeakKeyDictionary[Launch, tuple[tuple[object, ...], list[str]]] = WeakKeyDictionary()
"""What of a launch decides which releases start it, and these releases: it is asked for the findings and for what is open."""


class Releases:
    """The releases that a launch may run on.

    Attributes:
        known: oldest first; empty if no release of the engine is known.
        exact: whether one release is pinned.
        rolling: whether it is the newest release, because the image's tag moves.
        how: what pins it: "image", "pip" or "settings"; None if nothing does.
        unlisted: the release that is named, where servelint does not know it.
    """

    __slots__ = ("exact", "how", "known", "rolling", "unlisted")

    def __init__(
        self, known: list[str], *, exact: bool, rolling: bool, how: str | None, unlisted: Unlisted | None = None
    ) -> None:
        self.known = known
        self.exact = exact
        self.rolling = rolling
        self.how = how
        self.unlisted = unlisted


class Unlisted:
    """A release that a launch names and servelint does not know.

    Attributes:
        written: the release with what stands behind it.
        placed: where it stands among the known ones; KNOWN for a fork of a known one.
        assumed: the release that the launch is judged as.
        how: what names it.
    """

    __slots__ = ("assumed", "how", "placed", "written")

    def __init__(self, written: str, placed: Placed, assumed: str, how: str) -> None:
        self.written = written
        self.placed = placed
        self.assumed = assumed
        self.how = how

    @property
    def fork(self) -> bool:
        """Whether it is a changed build of a known release."""
        return self.placed.kind == KNOWN

    @property
    def ends(self) -> bool:
        """Whether no known release follows it, or none comes before it: what is missing may exist there."""
        return len(self.placed.near) == 1 and not self.fork

    def fact(self, engine: str) -> str:
        """What servelint does not know, in words."""
        name = f"{ENGINE_NAMES[engine]} {self.written}"
        near = self.placed.near
        if self.fork and self.written.endswith(PATCHED):
            return f"{ENGINE_NAMES[engine]} {near[0]} is patched here and not the published build"
        if self.fork:
            return f"{name} is not a published build of {near[0]}"
        if self.placed.kind == NEVER:
            return f"{name} is not a release that servelint knows"
        if self.placed.kind == BETWEEN:
            return f"{name} is not in the catalog"
        end = "first" if self.placed.kind == OLDER else "newest"
        return f"{name} is {self.placed.kind} than every release that servelint knows ({near[0]} is the {end})"

    @property
    def assumption(self) -> str:
        """How it is judged, in words."""
        near = self.placed.near
        return f"judged by {near[0]} and {near[1]}, as far as they agree" if len(near) == 2 else f"judged as {near[0]}"


def unlisted(launch: Launch, settings: Settings) -> Unlisted | None:
    """The release that a launch runs on, where one is named and servelint does not know it."""
    claim = launch.release
    named = claim.release if claim.release is not None and release_key(claim.release) is not None else None
    release = named or settings.engine_versions.get(launch.engine)
    placed = place(launch.engine, release) if release is not None else None
    if release is None or placed is None:
        return None
    label = release.partition("+")[2]
    build = claim.build if named else "" if is_published_build(label) else "+" + label
    if placed.kind == KNOWN and not build:
        return None
    written = release + claim.build if named else release
    assumed = written if placed.kind == BETWEEN else placed.near[0]
    return Unlisted(written, placed, assumed, (claim.how if named else None) or "settings")


def possible_releases(launch: Launch, settings: Settings) -> tuple[Releases, list[Config]]:
    """The releases that a launch may run on, and the launch under each.

    That is the pinned release, or the newest for a rolling image, or all that start the launch; if none starts it, those that
    refuse the least of it: what they say of the rest stands whatever is mended first.
    """
    claim = launch.release
    strange = unlisted(launch, settings)
    if strange is not None and not strange.fork:
        return _around(launch, strange)
    if claim.release is not None and release_key(claim.release) is not None:
        releases = Releases([claim.release], exact=True, rolling=False, how=claim.how, unlisted=strange)
        return releases, configs(launch, releases.known)
    given = settings.engine_versions.get(launch.engine)
    if given is not None:
        return Releases([given], exact=True, rolling=False, how="settings", unlisted=strange), configs(launch, [given])
    followed = _followed(launch)
    if claim.rolling and followed:
        catalog = load(launch.engine)
        tabled = [one for one in followed if catalog is not None and catalog.index(one) is not None] or followed
        return Releases(tabled[-1:], exact=False, rolling=True, how=claim.how), configs(launch, tabled[-1:])
    read = read_of(launch)
    before = _started_by.get(launch)
    if before is not None and before[0] == read:
        return Releases(before[1], exact=False, rolling=False, how=None), configs(launch, before[1])
    since = release_key(_floor(launch))
    known = [release for release in followed if since is None or (release_key(release) or since) >= since]
    every = configs(launch, known)
    # a release that has no table refuses nothing: it must not stand for those that have one
    every = [config for config in every if config.index is not None or config.around is not None] or every
    taking = [config for config, refused in zip(every, refuse(every), strict=True) if not refused] or _refusing_least(every)
    starting = [config for config in taking if config.operand(_METHOD_KNOWN).value is not False] or taking or every
    names = [config.release for config in starting if config.release is not None]
    _started_by[launch] = read, names
    return Releases(names, exact=False, rolling=False, how=None), starting


def _followed(launch: Launch) -> list[str]:
    """The published releases of an engine; those with a catalog where every build of its repository is one.

    An image that others built may hold a fork, whose builds have other numbers: none of them is known.
    """
    numbered = ENGINES[launch.engine].numbered_builds and not may_be_a_fork(launch)
    catalog = load(launch.engine) if numbered else None
    return catalog.releases if catalog is not None else known_releases(launch.engine)


def read_of(launch: Launch) -> tuple[object, ...]:
    """What of a launch its engine reads: words, variables and the program that is started."""
    return (launch.verb, launch.launcher, launch.fragment, launch.image, *launch.argv, *launch.env.items())


def _around(launch: Launch, strange: Unlisted) -> tuple[Releases, list[Config]]:
    """The known releases nearest to one that servelint does not know, the one that the launch is judged as last."""
    near = strange.placed.near
    names = [*[one for one in near if one != strange.assumed], strange.assumed]
    releases = Releases(names[-1:], exact=not strange.ends, rolling=False, how=strange.how, unlisted=strange)
    return releases, configs(launch, names)


def _refusing_least(every: list[Config]) -> list[Config]:
    """The releases that lack the fewest words of a launch, the same as the newest of them, and refuse the fewest values."""
    refused = [[one for one in found if one.refused] for found in verdicts(every)]
    lacking = [frozenset([one.span for one in found if one.rule in UNKNOWN_WORDS]) for found in refused]
    fewest = min(map(len, lacking), default=0)
    newest_of = next((words for words in reversed(lacking) if len(words) == fewest), None)
    counts = [len(found) for found, words in zip(refused, lacking, strict=True) if words == newest_of]
    alike = zip(every, refused, lacking, strict=True)
    return [config for config, found, words in alike if words == newest_of and len(found) == min(counts)]


def _floor(launch: Launch) -> str:
    """The first release that knows the launch's verb and model; older ones do not start it, or are judged only where named."""
    bounds: list[str] = ["0", entry.since(launch.engine, launch.verb), ENGINES[launch.engine].unpinned_since or "0"]
    model = configs(launch, [])[0].since
    if model is not None:
        bounds.append(model)
    return max(bounds, key=sort_key)


def planned_releases(launch: Launch, given: str | None) -> tuple[list[Config], str | None]:
    """A launch under each release to plan for, the newest last, and a note on them if none is pinned.

    Args:
        launch: the launch.
        given: the release to use if the launch pins none.
    """
    claim = launch.release.release
    named = claim if claim is not None and release_key(claim) is not None else given
    if named is not None:
        return configs(launch, [named]), None
    latest = newest_release(launch.engine)
    if launch.release.rolling and latest is not None:
        return configs(launch, [latest]), f"the image's tag moves: planned as {latest}, the newest that is known"
    found = able_releases(launch)
    return found, releases_note(found, "no release is named")


def able_releases(launch: Launch) -> list[Config]:
    """A launch under the newest release of each group that plans memory alike (`CHANGES`), oldest first.

    Only releases count that may start it: they know the model's architecture and the verb, and their parser takes the
    arguments. If no parser takes them, the arguments are ignored; if no release knows the model either, it is the newest.
    """
    until = images.identify(launch.image).until if launch.image is not None else ""
    catalog = load(launch.engine)
    every = known_releases(launch.engine) or (catalog.releases if catalog is not None else [])
    known = [one for one in every if not until or sort_key(one) <= sort_key(until)]
    if not known:
        return configs(launch, [])
    from servelint.memory import changes_of

    bounds = sorted(sort_key(one) for one in changes_of(launch.engine))
    alike: dict[int, list[str]] = {}
    for release in known:
        key = sort_key(release)
        if key >= bounds[0]:
            alike.setdefault(sum(key >= bound for bound in bounds), []).append(release)
    latest = configs(launch, [several[-1] for several in alike.values()])
    found: list[Config] = []
    for config, several in zip(latest, alike.values(), strict=True):
        one = config if _starts(config) else _first_that_starts(launch, several[-2::-1])
        if one is not None:
            found.append(one)
    return found or [config for config in latest if _knows_verb_and_model(config)] or latest[-1:]


def _first_that_starts(launch: Launch, releases: list[str]) -> Config | None:
    return next((config for config in configs(launch, releases) if _starts(config)), None) if releases else None


def _starts(config: Config) -> bool:
    return _knows_verb_and_model(config) and not refuse([config])[0]


def _knows_verb_and_model(config: Config) -> bool:
    """Whether a release has the verb and knows the model, whatever its parser says of the arguments."""
    verb = config.at_least(entry.since(config.launch.engine, config.launch.verb))
    return verb is not False and _knows_model(config)


def _knows_model(config: Config) -> bool:
    since = config.since
    return since is None or config.at_least(since) is not False


def releases_note(found: list[Config], why: str) -> str:
    """A sentence on the releases that a plan covers. `why` is the reason for planning several."""
    first, last = found[0].release, found[-1].release
    if first == last:
        return f"{why}: planned as {last}, the newest that can start it"
    return f"{why}: planned for {first} to {last}, which can start it; single figures are those of {last}"


@lru_cache(maxsize=64)
def next_minor_release(engine: str, release: str) -> str | None:
    """The first release of the next minor series; None if there is none yet."""
    key = release_key(release)
    if key is None:
        return None
    keys = [(one, release_key(one)) for one in known_releases(engine)]
    return next((one for one, found in keys if found is not None and found > key and found[0][:2] != key[0][:2]), None)


def may_be_a_fork(launch: Launch) -> bool:
    """Whether the image, the package or an option is not the engine's own, or a source tree runs: it may have been changed."""
    of_forks = ENGINES[launch.engine].options_of_forks
    return (
        bool(launch.release.build)
        or of_source(launch)
        or (launch.image is not None and images.identify(launch.image).house)
        or any(word.text.flat.partition("=")[0].replace("_", "-") in of_forks for word in launch.argv)
    )


def of_source(launch: Launch) -> bool:
    """Whether it may run the source tree in which its file lies, a clone or a fork at any commit."""
    return launch.release.how == "source"


def may_be_between(launch: Launch) -> bool:
    """Whether the engine may be a build that servelint does not know: one of many, of the repository or of a fork of it."""
    return ENGINES[launch.engine].numbered_builds and launch.image is None and launch.release.release is None


_PUBLISHED = r"(?:(?:g[0-9a-f]{6,}|d\d{8}|cu\d+|rocm[\d.]*|cpu|xpu|tpu|precompiled)(?:\.|$))*"
"""Local labels of versions that name a commit of the engine, a date or what it is built for."""


def is_changed_build(release: str) -> bool:
    """Whether a version has a local label that marks a private build: 0.20.2rc1.dev249+mybuild."""
    label = release.partition("+")[2]
    return bool(label) and re.fullmatch(_PUBLISHED, label) is None


def spanned(launch: Launch, releases: Releases) -> tuple[str, str]:
    """The releases that a launch without a pinned one may run on.

    Returns:
        name: as messages name them: "vLLM", or "vLLM 0.9.0 to 0.15.1" if the newest is not one of them.
        range: their range, "" for all known releases.
    """
    followed, first, last = _followed(launch), releases.known[0], releases.known[-1]
    name = ENGINE_NAMES[launch.engine]
    if last == followed[-1]:
        return name, "" if first == followed[0] else f">={first}"
    return (f"{name} {last}", f"=={last}") if first == last else (f"{name} {first} to {last}", f">={first},<={last}")


def release_name(launch: Launch, releases: Releases) -> str:
    """The release as messages name it: "vLLM 0.27.1", or which releases may run."""
    engine = ENGINE_NAMES[launch.engine]
    if releases.exact or releases.unlisted is not None:
        return f"{engine} {releases.known[-1]}"
    if releases.rolling:
        return f"{engine} {releases.known[-1]} (the newest that servelint knows)"
    return f"every {engine} release that takes these options"
