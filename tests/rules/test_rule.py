"""A compiled rule: its fields, those that a file may leave out, and its impact on a release."""

from __future__ import annotations

from typing import Any

import pytest

from servelint.engines.releases import release_key
from servelint.rules.compile import compile_rule
from servelint.rules.rule import Rule
from tests.together import together

LEAST: dict[str, Any] = {
    "id": "vllm/some-rule",
    "title": "A rule",
    "severity": "info",
    "confidence": "high",
    "impact": "best-practice",
    "engine": "vllm",
    "versions": ">=0.13",
    "when": {"max-num-seqs": {"above": 3}},
    "at": "max-num-seqs",
    "message": "a message",
    "advice": "an advice",
    "evidence": [],
}


@together(
    "field, value",
    [
        *(
            (name, LEAST[name])
            for name in ("id", "title", "severity", "confidence", "impact", "engine", "versions", "message", "advice")
        ),
        ("profile", "default"),
        ("options", {}),
        ("complaint", None),
        ("unless", None),
        ("exempts", None),
        ("impacts", []),
        ("values", {}),
        ("shows", []),
        ("cases", []),
        ("when", ["test", "max-num-seqs", "above", 3]),
    ],
)
def test_fields_of_a_rule_that_has_no_more_than_it_needs(field: str, value: object) -> None:
    assert getattr(Rule(compile_rule(LEAST)), field) == value


@pytest.mark.parametrize(
    ("release", "impact"),
    [("0.13.0", "crash-at-load"), ("0.19.1", "crash-at-load"), ("0.20.0", "best-practice"), (None, "best-practice")],
)
def test_the_impact_on_a_release(release: str | None, impact: str) -> None:
    rule = Rule(compile_rule({**LEAST, "impact-in": {">=0.13,<0.20": "crash-at-load"}}))
    assert rule.impact_on(release_key(release) if release is not None else None) == impact


def test_what_a_rule_lacks() -> None:
    with pytest.raises(AttributeError):
        assert Rule(compile_rule(LEAST)).colour
