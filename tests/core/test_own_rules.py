"""Findings on servelint's own comments and baselines."""

from __future__ import annotations

from servelint.core.finding import IMPACTS
from servelint.core.own_rules import GPU_COMMENT, MOVED_ENTRY, OWN, STALE_ENTRY, UNKNOWN_RELEASE, UNUSED_IGNORE, finding
from servelint.core.settings import Settings
from servelint.core.source import Source, Span

WARNINGS = (GPU_COMMENT, STALE_ENTRY, UNKNOWN_RELEASE, UNUSED_IGNORE)


def test_a_finding_of_each() -> None:
    span = Span(Source("run.sh", "# servelint: ignore"), 0, 5)
    assert set(OWN) == {MOVED_ENTRY, *WARNINGS}
    for rule in OWN:
        one = finding(rule, span, "it is so", "write that")
        assert (one.severity, one.confidence) == ("warning" if rule in WARNINGS else "info", "high")
        assert (one.rule, one.message, one.advice, one.span) == (rule, "it is so", "write that", span)
        assert one.impact in IMPACTS


def test_settings_may_give_another_severity() -> None:
    settings = Settings(rule_settings={MOVED_ENTRY: {"severity": "error"}})
    span = Span(Source("run.sh", "a"), 0, 1)
    assert finding(MOVED_ENTRY, span, "", "", settings).severity == "error"
    assert finding(STALE_ENTRY, span, "", "", settings).severity == "warning"
