"""Whether a launch starts: one judgement from the rules and the memory plan.

`check` reports findings, `memory` a plan, `upgrade` both under two releases, and the editor all of them. They agree because the
plan of each comes from this module: an error of the rules that stops the start is a refusal of the plan, and a plan that
refuses is an error of the rules (servelint.judge.checks.memory uses the same `joint`).
"""

from __future__ import annotations

from copy import copy

from servelint.core.finding import Finding
from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.engines.config import Config
from servelint.files.directives import name_gpus
from servelint.judge.checks.memory import joint
from servelint.judge.judging import judge_as_named
from servelint.judge.releases import planned_releases
from servelint.memory.plan import REFUSED, MemoryPlan

STOPS = ("crash-at-start", "crash-at-load")
"""Impacts of findings after which the engine does not serve: it exits before it loads the weights, or while it does."""

MEMORY_RULES = ("memory-does-not-start", "max-model-len-above-kv-cache", "max-num-seqs-above-states")
"""Names of the rules that say of a plan that it refuses."""


def stops(findings: list[Finding]) -> list[Finding]:
    """The findings that certainly stop the start: errors with one of the impacts `STOPS`, whatever branch is taken."""
    return [finding for finding in findings if finding.severity == "error" and finding.impact in STOPS and not finding.branches]


def start_plan(launch: Launch, settings: Settings) -> tuple[MemoryPlan, list[Config], str | None]:
    """Plan the memory of a launch, with the verdict that `check` of the same launch under the same settings has.

    Args:
        launch: the launch of an engine with known arithmetic. Its GPUs are named by the comments or the settings.
        settings: name the GPU and the release where the launch does not, and which rules run.

    Returns:
        The plan, the launch under each release that it was made for, the newest last, and a note where no release is pinned.
    """
    name_gpus(launch, settings)
    configs, note = planned_releases(launch, settings.engine_versions.get(launch.engine))
    return plan_with_findings(configs, settings), configs, note


def plan_with_findings(configs: list[Config], settings: Settings) -> MemoryPlan:
    """Plan a launch, given under each release that it may run on, and add the findings that stop its start."""
    plan = joint(configs)
    launch = copy(configs[-1].launch)
    plan.findings = stops(judge_as_named(launch, settings))
    if plan.findings:
        plan.verdict = REFUSED
    return plan
