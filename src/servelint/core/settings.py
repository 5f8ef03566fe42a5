"""What a user asks of a check beside the files themselves."""

from __future__ import annotations

import os
from copy import copy

from servelint.core.trust import EVERYTHING, RuleFolder, Trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    Outside = tuple[str, ...] | Literal[True]
    """Folders outside of the project whose files may be read; True: any file."""

_FIRST = ("text", "concise", "json")


def _formats() -> tuple[str, ...]:
    """Return the names of the modules in servelint/report/formats, each of which is a format."""
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "report", "formats")
    names = {name.partition(".")[0] for name in os.listdir(folder) if not name.startswith(("_", "."))}
    return (*_FIRST, *sorted(names.difference(_FIRST)))


FORMATS = _formats()
"""Formats of the report: the default, those of wide use, then the others by name."""

PROFILES = ("default", "strict", "audit")
"""What is certain and worth stopping for; best practice as well; everything, low confidence too."""


class Selection:
    """Which rules one layer of settings switches on and off. Each starts from what those before it left switched on.

    select: only these (None: as before);  extend_select: these too;  ignore: not these, whatever the others say
    A rule id, an area (`vllm/*`, `vllm`), or `*`.
    """

    __slots__ = ("extend_select", "ignore", "select")

    def __init__(
        self, select: tuple[str, ...] | None = None, extend_select: tuple[str, ...] = (), ignore: tuple[str, ...] = ()
    ) -> None:
        self.select = select
        self.extend_select = extend_select
        self.ignore = ignore


class Settings:
    """What a user asks of a check.

    Attributes:
        select, ignore: Rule ids, areas (`vllm/*`) or single names; an empty select means all.
        selections: Layers of select and ignore, instead of these two.
        severity: Findings below it are not reported.
        fail_on: The least severity that makes the exit status 1, or `never`.
        profile: How much is reported: one of PROFILES, each with those before it.
        engine_versions: Engine to release, used where a file names none.
        gpu, gpu_count: The GPUs that a launch runs on, used where a file names none.
        rules: Folders of rules beside servelint's own.
        rule_settings: Rule id or area to its settings: `severity`, and the options that the rule has.
        models: Path -> text of the files that a models file describes models with.
        read_outside: Folders outside of the project whose files may be read where a file names them; True: any file.
        trust: Which version of comments, baselines and rules counts.
    """

    __slots__ = (
        "engine_versions", "fail_on", "gpu", "gpu_count", "models", "profile", "read_outside", "rule_settings", "rules",
        "selections", "severity", "trust",
    )  # fmt: skip

    def __init__(
        self,
        select: tuple[str, ...] = (),
        ignore: tuple[str, ...] = (),
        severity: str = "info",
        engine_versions: dict[str, str] | None = None,
        profile: str = "default",
        rules: tuple[str | RuleFolder, ...] = (),
        gpu: str | None = None,
        gpu_count: int | None = None,
        fail_on: str = "error",
        rule_settings: dict[str, dict[str, Any]] | None = None,
        selections: tuple[Selection, ...] | None = None,
        read_outside: Outside = (),
        trust: Trust = EVERYTHING,
        models: dict[str, str] | None = None,
    ) -> None:
        self.trust = trust
        self.models = models or {}
        if selections is None:
            selections = (Selection(select or None, (), ignore),) if select or ignore else ()
        self.selections = selections
        self.severity = severity
        self.engine_versions = engine_versions or {}
        self.profile = profile
        self.rules = rules
        self.gpu = gpu
        self.gpu_count = gpu_count
        self.fail_on = fail_on
        self.rule_settings = rule_settings or {}
        self.read_outside = read_outside

    def with_release(self, engine: str, release: str) -> Settings:
        """The same, with a release of an engine."""
        new = copy(self)
        new.engine_versions = {**self.engine_versions, engine: release}
        return new

    def of(self, _path: str) -> Settings:
        """The settings of a file: these, for every file (servelint.settings.files has others for each)."""
        return self

    def wants(self, rule: str, profile: str = "default") -> bool:
        """Whether findings of a rule are wanted.

        Args:
            rule: Its id.
            profile: The rule's own profile; a rule that is selected by its id needs none.
        """
        in_profile = profile == "default" or PROFILES.index(profile) <= PROFILES.index(self.profile)
        wanted = in_profile
        for layer in self.selections:
            if layer.select is not None:
                wanted = _selected(layer.select, rule, in_profile)
            if layer.extend_select:
                wanted = wanted or _selected(layer.extend_select, rule, in_profile)
            if any(matches(pattern, rule) for pattern in layer.ignore):
                wanted = False
        return wanted

    def of_rule(self, rule: str) -> dict[str, Any]:
        """What is set for a rule: by its id, else by its area, the longest pattern last."""
        if not self.rule_settings:
            return {}
        patterns = sorted([pattern for pattern in self.rule_settings if matches(pattern, rule)], key=len)
        return {name: value for pattern in patterns for name, value in self.rule_settings[pattern].items()}


def _selected(patterns: tuple[str, ...], rule: str, in_profile: bool) -> bool:
    return rule in patterns or (in_profile and any(matches(pattern, rule) for pattern in patterns))


def matches(pattern: str, rule: str) -> bool:
    """Whether a pattern (an id, `area/*`, `area`, `*`) covers a rule."""
    if pattern.endswith("*"):
        return rule.startswith(pattern[:-1])
    return pattern == rule or rule.startswith(pattern.rstrip("/") + "/")


DEFAULT = Settings()
"""The settings of a check without any: one object, so that what is computed for them is computed once."""
