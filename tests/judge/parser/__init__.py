"""What the catalog says of launches: findings of the rules in rules/catalog/ alone."""

from __future__ import annotations

import shlex

import servelint
from servelint.core.finding import Finding
from servelint.core.settings import Settings
from servelint.judge.judging import judge
from servelint.rules.load import rules
from tests.launching import launch_in

OF_CATALOG = frozenset(rule.id for rule in rules() if rule.complaint not in (None, "removed-later") and rule.engine != "any")
Edit = tuple[str, str]


def found(engine: str, text: str, version: str | None = None, env: dict[str, str] | None = None) -> list[Finding]:
    """The findings of an argv, which is written as a shell would have it."""
    settings = Settings(profile="strict")
    findings = servelint.check_command(engine, shlex.split(text), version=version, env=env, settings=settings)
    return [finding for finding in findings if finding.rule in OF_CATALOG]


def only(engine: str, text: str, version: str | None = None, env: dict[str, str] | None = None) -> Finding:
    (finding,) = found(engine, text, version, env)
    return finding


def kinds(engine: str, text: str, version: str | None = None, env: dict[str, str] | None = None) -> list[str]:
    """The findings' rules without their engine."""
    return [finding.rule.partition("/")[2] for finding in found(engine, text, version, env)]


def in_file(text: str, filename: str = "compose.yml", **versions: str) -> list[Finding]:
    """The findings of the only launch of a text."""
    findings = judge(launch_in(text, filename), Settings(engine_versions=versions))
    return [finding for finding in findings if finding.rule in OF_CATALOG]


def kinds_in(text: str, filename: str = "compose.yml", **versions: str) -> list[str]:
    return [finding.rule.partition("/")[2] for finding in in_file(text, filename, **versions)]


def edits(finding: Finding) -> list[Edit]:
    """(what stands there, what takes its place) of a finding's fix; empty if it has none."""
    return [(edit.span.text, edit.text) for edit in finding.fix.edits] if finding.fix is not None else []


def is_safe(finding: Finding) -> bool | None:
    return finding.fix.safe if finding.fix is not None else None


def fixed(finding: Finding) -> str:
    """The text after a finding's fix."""
    text = finding.span.source.text
    assert finding.fix is not None
    for edit in sorted(finding.fix.edits, key=lambda edit: edit.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text
