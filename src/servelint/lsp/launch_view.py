"""What is known where a launch stands: the releases that it may run on, what they take, and the rules about it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.core.trust import RuleFolder
from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines import catalog as catalogs
from servelint.engines.catalog import Catalog, Keys, Option
from servelint.engines.config import Config, configs
from servelint.engines.releases import newest, release_key
from servelint.files.directives import name_gpus
from servelint.judge.releases import Releases, possible_releases, unlisted
from servelint.lsp.launch_cache import LaunchKey
from servelint.rules import ranges
from servelint.rules.condition import operands
from servelint.rules.load import every
from servelint.rules.rule import ANY, Rule

LOOKED_UP = {
    "kv-cache-dtype": "kv-cache-dtypes", "quantization": "quantization", "tool-call-parser": "tool-call-parsers",
    "reasoning-parser": "reasoning-parsers", **dict.fromkeys(
        ("spec-method", "speculative-algorithm", "speculative-algo", "spec-type"), "speculative-methods"),
}  # fmt: skip
"""Option whose parser takes any text -> kind of the catalog's names that its value is one of."""
METHOD = ("speculative-config", ("method",))
_STANDS_FOR = {
    "effective.speculative-method": ("speculative-config.method", "spec-method"),
    "effective.speculative-algorithm": ("speculative-algorithm", "speculative-algo"),
    "effective.speculation": ("speculative-config", "spec-method", "spec-model", "spec-tokens"),
    "effective.speculative-tokens": ("speculative-config.num_speculative_tokens", "spec-tokens"),
    "effective.prefix-caching": ("enable-prefix-caching",),
    "effective.async-scheduling": ("async-scheduling",),
    "effective.attention-backend": ("attention-backend",),
    "effective.mamba-strategy": ("mamba-scheduler-strategy",),
    "effective.dp-attention": ("enable-dp-attention",),
    "effective.pp-size": ("pp-size", "pipeline-parallel-size"),
}
"""What the engine makes of its settings -> those settings."""
_RELEASES_AT_MOST = 128
_PATHS = ("/", "./", "../", "~")
_known: dict[object, tuple[Launch | None, Releases]] = {}


class LaunchView:
    """A launch under the newest of the releases that it may run on.

    Attributes:
        launch: The launch.
        releases: Those that it may run on.
        config: The launch as the newest of them reads it.
        catalog: Of its engine, None if there is none.
        index: Index in the catalog of that release, or of the one before it.
    """

    __slots__ = ("catalog", "config", "index", "launch", "releases")

    def __init__(self, launch: Launch, settings: Settings) -> None:
        name_gpus(launch, settings)
        self.launch = launch
        self.releases = releases_of(launch, settings)
        self.config = self.at(self.release)
        catalog = catalogs.load(launch.engine)
        self.catalog: Catalog | None = catalog
        self.index = catalog.nearest(self.release) if catalog is not None else 0

    @property
    def release(self) -> str | None:
        """The newest release that the launch may run on, None if none is known."""
        known = self.releases.known
        return known[-1] if known else None

    def at(self, release: str | None) -> Config:
        """The launch as a release reads it."""
        return configs(self.launch, [release] if release is not None else [])[0]

    @property
    def engine(self) -> str:
        """The name of the engine."""
        return ENGINE_NAMES[self.launch.engine]

    @property
    def shown(self) -> str:
        """The engine and its releases, as in "vLLM 0.27.1 (by the image)"."""
        releases, name = self.releases, self.engine
        if not releases.known:
            return name
        last = releases.known[-1]
        if releases.unlisted is not None:
            return f"{name} {releases.unlisted.written}, {releases.unlisted.assumption}"
        if releases.exact:
            names = {"image": "by the image", "pip": "by its installation", "settings": "by the settings"}
            how = names.get(releases.how or "", "")
            return f"{name} {last}" + (f" ({how})" if how else "")
        if releases.rolling:
            return f"{name} {last}, the newest that is known (the image's tag moves)"
        first = releases.known[0]
        return (
            f"{name}, no release named: {first} to {last}" if first != last else f"{name} {last}, the only one that takes this"
        )

    @property
    def span(self) -> tuple[int, int]:
        """First and last index in the catalog of the releases that the launch may run on."""
        if self.catalog is None or not self.releases.known:
            return self.index, self.index
        return self.catalog.nearest(self.releases.known[0]), self.index

    def option(self, spelling: str) -> Option | None:
        """An option of the release."""
        return self.catalog.table(self.index).find(spelling) if self.catalog is not None else None

    def keys(self, option: Option, path: tuple[str, ...]) -> Keys | None:
        """The keys that an object in a JSON option may have. path: the keys down to the object."""
        if self.catalog is None or not option.json:
            return None
        name, keys = option.json, self.catalog.keys(option.json, self.index)
        for key in path:
            body = keys.get(key) if keys is not None else None
            if body is None:
                return None
            name = f"{name}.{key}"
            keys = self.catalog.inner(name, body, self.index)
        return keys

    def names(self, kind: str) -> dict[str, dict[str, Any]]:
        """The names of a kind that the release has."""
        lives = self.catalog.names(kind) if self.catalog is not None else {}
        return {name: run[2] for name, runs in lives.items() for run in runs if run[0] <= self.index <= run[1]}

    def choices(self, option: Option) -> list[str]:
        """The values that an option takes; empty where they are not all known."""
        if option.choices is not None:
            return [str(one) for one in option.choices if one is not None]
        field = ENGINES[self.launch.engine].moved_values.get(option.name)
        if field is not None and self.catalog is not None:
            keys = self.catalog.keys(field[0], self.index)
            body = keys.get(field[1]) if keys is not None else None
            return [str(one) for one in body.get("choices", ()) if one is not None] if body is not None else []
        kind = LOOKED_UP.get(option.name)
        return list(self.names(kind)) if kind is not None else []


def briefly(launch: Launch, settings: Settings) -> str:
    """The release of a launch, as in "vLLM 0.27.1", without looking for those that would start it."""
    name, claim = ENGINE_NAMES[launch.engine], launch.release
    if claim.release is not None:
        return f"{name} {claim.release}"
    if (given := settings.engine_versions.get(launch.engine)) is not None:
        return f"{name} {given} (by the settings)"
    latest = newest(launch.engine)
    return f"{name} {latest}, the newest that is known" if claim.rolling and latest is not None else name


def releases_of(launch: Launch, settings: Settings) -> Releases:
    """The releases that a launch may run on, as a check finds them; found once for equal launches."""
    claim = launch.release
    if claim.release is not None and release_key(claim.release) is not None:
        strange = unlisted(launch, settings)
        return Releases([claim.release], exact=True, rolling=False, how=claim.how, unlisted=strange)
    if launch.engine not in settings.engine_versions and not claim.rolling and newest(launch.engine) is not None:
        key, kept = key_of(launch, None)
        if key not in _known:
            if len(_known) >= _RELEASES_AT_MOST:
                _known.clear()
            _known[key] = kept, possible_releases(launch, settings)[0]
        return _known[key][1]
    return possible_releases(launch, settings)[0]


@lru_cache(maxsize=32)
def _rules_by_operand(engine: str, folders: tuple[str | RuleFolder, ...]) -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {}
    for rule in every(folders):
        if rule.engine not in (engine, ANY) or rule.complaint is not None:
            continue
        names: set[str] = set()
        for operand in operands(rule.when):
            for name in (operand, *_STANDS_FOR.get(operand, ())):
                names.add(name)
                head, dot, _ = name.partition(".")
                if dot and head not in ("env", "effective", "model", "draft", "gpu", "container", "stack"):
                    names.add(head)
        for name in sorted(names):
            found.setdefault(name, []).append(rule)
    return found


def key_of(launch: Launch, release: str | None) -> tuple[object, Launch | None]:
    """A value that is equal for launches of which the same is known, and a launch that has to be kept as long as it is.

    A launch that names files is only equal to itself: the next time that it is read they may have changed.
    """
    opens = launch.open is not None or launch.folder is not None
    depends = opens and any(word.value == "--config" or word.text.flat.startswith(_PATHS) for word in launch.argv)
    return ((id(launch), release), launch) if depends else ((LaunchKey(launch).content, release), None)


def forget() -> None:
    """Forget the rules: a folder of rules has changed."""
    _rules_by_operand.cache_clear()


def rules_on(name: str, view: LaunchView, settings: Settings) -> list[Rule]:
    """The selected rules whose condition names an operand (`speculative-config.method`, `env.NAME`).

    Only those are returned that hold for a release that the launch may run on.
    """
    keys = [release_key(release) for release in view.releases.known]
    return [
        rule
        for rule in _rules_by_operand(view.launch.engine, settings.rules).get(name, ())
        if settings.wants(rule.id, rule.profile) and any(ranges.contains(rule.bounds, key) for key in keys)
    ]
