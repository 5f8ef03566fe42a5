"""`servelint rules`: the list of rules."""

from __future__ import annotations

import pytest

from servelint.rules.load import rules
from tests.running import Workspace


def test_every_rule_is_a_line(workspace: Workspace) -> None:
    ran = workspace.run("rules", "--profile", "audit")
    assert ran.status == 0
    assert [line.split()[0] for line in ran.out.splitlines()] == [rule.id for rule in rules()]


def test_the_default_profile_leaves_best_practice_out(workspace: Workspace) -> None:
    told = [line.split()[0] for line in workspace.run("rules").out.splitlines()]
    assert told == [rule.id for rule in rules() if rule.profile == "default"]
    assert len(told) < len(rules())


def test_a_line(workspace: Workspace) -> None:
    assert workspace.run("rules", "--select", "vllm/gpu-memory-utilization-out-of-range").out == (
        "vllm/gpu-memory-utilization-out-of-range  error    "
        "--gpu-memory-utilization is a fraction above 0 and at most 1 (vLLM 0.6 and later)\n"
    )


def test_json(workspace: Workspace) -> None:
    data = workspace.run("rules", "--format", "json", "--profile", "audit").data
    assert [entry["id"] for entry in data] == [rule.id for rule in rules()]
    assert list(data[0]) == ["id", "title", "severity", "confidence", "impact", "engine", "versions", "evidence"]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--select", "sglang/*"], lambda rule: rule.engine == "sglang"),
        (["--ignore", "vllm/*,sglang/*"], lambda rule: rule.engine not in ("vllm", "sglang")),
        (["--severity", "error"], lambda rule: rule.severity == "error"),
        (["--severity", "warning"], lambda rule: rule.severity != "info"),
        (["--select", "vllm", "--severity", "error"], lambda rule: rule.engine == "vllm" and rule.severity == "error"),
    ],
)
def test_filtered_as_check_does(options: list[str], wanted: object, workspace: Workspace) -> None:
    assert callable(wanted)
    data = workspace.run("rules", "--format", "json", "--profile", "audit", *options).data
    assert [entry["id"] for entry in data] == [rule.id for rule in rules() if wanted(rule)]


def test_a_pattern_that_no_rule_matches(workspace: Workspace) -> None:
    assert workspace.run("rules", "--select", "nothing").status == 2


def test_servelint_s_own_rule_is_no_rule_of_the_book(workspace: Workspace) -> None:
    assert workspace.run("rules", "--select", "servelint/unused-ignore") == (0, "", "")
