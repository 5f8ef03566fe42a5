"""What a user asks of a check beside the files themselves."""

from __future__ import annotations

import os

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
    """select, ignore:    rule ids, areas (`vllm/*`) or single names; empty select means all
    severity:          findings below it are not reported
    engine_versions:   engine -> release, used where a file does not say
    rules:             folders of rules beside servelint's own
    gpu, gpu_count:    the GPUs that a launch runs on, used where a file does not say; gpu as servelint.hardware knows it
    profile:           how much is told: one of PROFILES, each with what stands before it
    fail_on:           the least severity that makes the exit status 1, or `never`
    rule_settings:     rule id or area -> what is set for it: `severity`, and the options that the rule has
    selections:        layers of select and ignore, in the place of these two
    trust:             whose version of comments, baselines and rules counts
    read_outside:      folders outside of the project whose files may be read where a file names them; True: any file
    """

    __slots__ = (
        "engine_versions",
        "fail_on",
        "gpu",
        "gpu_count",
        "profile",
        "read_outside",
        "rule_settings",
        "rules",
        "selections",
        "severity",
        "trust",
    )

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
    ) -> None:
        self.trust = trust
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
        return Settings(
            severity=self.severity,
            engine_versions={**self.engine_versions, engine: release},
            profile=self.profile,
            rules=self.rules,
            gpu=self.gpu,
            gpu_count=self.gpu_count,
            fail_on=self.fail_on,
            rule_settings=self.rule_settings,
            selections=self.selections,
            read_outside=self.read_outside,
            trust=self.trust,
        )

    def of(self, _path: str) -> Settings:
        """The settings of a file: these hold for every file (servelint.files.settings_finder has others for each)."""
        return self

    def wants(self, rule: str, profile: str = "default") -> bool:
        """Whether findings of a rule are asked for. profile: the rule's own; a rule that is selected by its id needs none"""
        told = profile == "default" or PROFILES.index(profile) <= PROFILES.index(self.profile)
        wanted = told
        for layer in self.selections:
            if layer.select is not None:
                wanted = _selected(layer.select, rule, told)
            if layer.extend_select:
                wanted = wanted or _selected(layer.extend_select, rule, told)
            if any(matches(pattern, rule) for pattern in layer.ignore):
                wanted = False
        return wanted

    def of_rule(self, rule: str) -> dict[str, Any]:
        """What is set for a rule: by its id, else by its area, the longest pattern last."""
        if not self.rule_settings:
            return {}
        patterns = sorted([pattern for pattern in self.rule_settings if matches(pattern, rule)], key=len)
        return {name: value for pattern in patterns for name, value in self.rule_settings[pattern].items()}


def _selected(patterns: tuple[str, ...], rule: str, told: bool) -> bool:
    return rule in patterns or (told and any(matches(pattern, rule) for pattern in patterns))


def matches(pattern: str, rule: str) -> bool:
    """Whether a pattern (an id, `area/*`, `area`, `*`) speaks of a rule."""
    if pattern.endswith("*"):
        return rule.startswith(pattern[:-1])
    return pattern == rule or rule.startswith(pattern.rstrip("/") + "/")


DEFAULT = Settings()
"""What holds where nobody asks for anything: one object, so that what is worked out for it is worked out once."""
