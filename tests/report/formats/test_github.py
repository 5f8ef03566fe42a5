"""GitHub workflow commands."""

from __future__ import annotations

import pytest

from servelint.core.problem import Problem
from servelint.report.formats.github import render
from tests.findings import documented, finding, report
from tests.launching import marked
from tests.together import together


def test_a_finding() -> None:
    assert render(report(documented())) == (
        "::error file=deploy/compose.yml,line=7,col=24,endLine=7,endColumn=39,title=vllm/turboquant-with-spec-decode::"
        "turboquant_k8v4 KV cache with speculative decoding (mtp) falls into token loops; write --kv-cache-dtype fp8 "
        "(vLLM 0.20 and later)\n"
    )


@pytest.mark.parametrize(("severity", "level"), [("error", "error"), ("warning", "warning"), ("info", "notice")])
def test_levels(severity: str, level: str) -> None:
    _, (mark,) = marked("run.sh", "⟦m⟧")
    assert render(report(finding(mark, severity=severity))).startswith(f"::{level} file=run.sh,")


def test_a_span_of_several_lines_is_shown_at_its_first() -> None:
    _, (mark,) = marked("run.sh", "vllm serve '⟦{\n}⟧'\n")
    assert render(report(finding(mark))).startswith("::error file=run.sh,line=1,col=13,title=")


def test_a_finding_without_a_launch() -> None:
    _, (mark,) = marked("run.sh", "⟦m⟧")
    text = render(report(finding(mark, launch=None, rule="servelint/unused-ignore", message="a", advice="b", affected="")))
    assert text == "::error file=run.sh,line=1,col=1,endLine=1,endColumn=2,title=servelint/unused-ignore::a; b\n"


def test_errors() -> None:
    found = report()
    found.errors = [Problem("a,b:c.yml", "not valid YAML: 100%", 4, 7)]
    assert render(found) == "::error file=a%2Cb%3Ac.yml,line=4,col=7,title=servelint::not valid YAML: 100%25\n"


def test_nothing() -> None:
    assert render(report()) == ""


@together(
    "text, in_message, in_property",
    [
        ("a\nb", r"a\nb", r"a\nb"),
        ("a\rb", r"a\rb", r"a\rb"),
        ("\x1b[31m", r"\x1b[31m", r"\x1b[31m"),
        ("100%", "100%25", "100%25"),
        ("%0A", "%250A", "%250A"),
        ("a:b,c", "a:b,c", "a%3Ab%2Cc"),
        ("\n::error::x", r"\n\x3a:error::x", r"\n\x3a%3Aerror%3A%3Ax"),
        ("##[add-mask]x", r"\x23#[add-mask]x", r"\x23#[add-mask]x"),
        ("##vso[task.complete]x", r"\x23#vso[task.complete]x", r"\x23#vso[task.complete]x"),
    ],
)
def test_no_text_starts_another_command(text: str, in_message: str, in_property: str) -> None:
    _, (mark,) = marked(text, "⟦m⟧")
    command = render(report(finding(mark, message=text, advice="", affected="")))
    assert command.count("\n") == 1
    assert command == (
        f"::error file={in_property},line=1,col=1,endLine=1,endColumn=2,title=vllm/turboquant-with-spec-decode::{in_message}\n"
    )
