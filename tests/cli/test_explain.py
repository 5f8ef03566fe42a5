"""`servelint explain`: a rule's page."""

from __future__ import annotations

from functools import lru_cache

import pytest

from servelint.cli.rules import page
from servelint.rules.load import rules
from tests.book import each_rule
from tests.running import Workspace
from tests.together import together

RULE = {
    "id": "sglang/some-rule",
    "title": "A variable that nothing reads",
    "severity": "warning",
    "confidence": "high",
    "impact": "silently-ignored",
    "engine": "sglang",
    "versions": ">=0.5.14,<0.6",
    "why": "The variable was read " + "up to some release " * 6 + "and then\nit was not.\n",
    "advice": "delete it",
    "evidence": [
        {"url": "https://example.invalid/1", "says": "it is gone"},
        {"source": "sglang-0.5.14 srt/environ.py:1", "says": "no reader of the variable is left"},
    ],
    "examples": {
        "bad": [{"version": "0.5.14", "env": {"A": "\u27e61\u27e7"}, "run": "sglang serve --model-path m"}],
        "good": [{"version": "0.5.13", "env": {"A": "1"}, "run": "sglang serve"}, {"run": "sglang serve --model-path $M"}],
    },
}


def test_a_page() -> None:
    assert (
        page(RULE)
        == """\
sglang/some-rule: A variable that nothing reads

severity    warning (confidence high, impact silently-ignored)
engine      SGLang 0.5.14 and later, before 0.6 (>=0.5.14,<0.6)

The variable was read up to some release up to some release up to some release up to some release up
to some release up to some release and then it was not.

Fix: delete it

Evidence:
  https://example.invalid/1
    it is gone
  sglang-0.5.14 srt/environ.py:1
    no reader of the variable is left

Reported:
  SGLang 0.5.14:
    A=1 sglang serve --model-path m

Not reported:
  SGLang 0.5.13:
    A=1 sglang serve
  release not known:
    sglang serve --model-path $M

Silence it with a comment above the launch: # servelint: ignore[sglang/some-rule] why
"""
    )


@pytest.mark.book
@together("rule", [rule.id for rule in rules()[::3]])
def test_every_third_rule_has_one(rule: str, workspace: Workspace) -> None:
    ran = workspace.run("explain", rule)
    assert ran.status == 0
    assert ran.out.startswith(f"{rule}: ")
    assert "\u27e6" not in ran.out
    # a rule that several engines share has examples of some of them
    assert ("\nReported:\n" in ran.out) is (rule in with_bad_examples())


@lru_cache(maxsize=1)
def with_bad_examples() -> set[str]:
    return {rule["id"] for rule in each_rule() if rule["examples"]["bad"]}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            "vllm/spec-method-allias",
            "servelint: there is no rule 'vllm/spec-method-allias'; did you mean vllm/spec-method-alias",
        ),
        ("xyz", "servelint: there is no rule 'xyz' (servelint rules lists them)\n"),
        ("../../etc/passwd", "servelint: there is no rule '../../etc/passwd'"),
    ],
)
def test_a_rule_that_is_not_there(asked: str, said: str, workspace: Workspace) -> None:
    ran = workspace.run("explain", asked)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(said)


def test_without_a_rule(workspace: Workspace) -> None:
    assert workspace.run("explain").status == 2
