"""Checking files that pass a bound, in the current folder."""

from __future__ import annotations

from pathlib import Path

from servelint.core.result import Report
from servelint.core.settings import Settings
from servelint.lint import check

RULE = "vllm/gpu-memory-utilization-out-of-range"
WRONG = "vllm serve m --gpu-memory-utilization 1.5\n"
SERVICE = "image: vllm/vllm-openai:v0.20.0, command: --model m --gpu-memory-utilization 1.5"


def checked(name: str, text: str, **others: str) -> Report:
    """The report of a file, and of one beside it that is wrong in a way that must always be found."""
    for other, content in others.items():
        Path(other.replace("_", ".")).write_text(content)
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text(text)
    Path("zzz.sh").write_text(WRONG)
    report = check([name, "zzz.sh"], Settings(select=(RULE,)))
    assert report.findings[-1].span.source.path == "zzz.sh"
    return report


def said(report: Report) -> list[str]:
    return [repr(one) for one in report.errors]


def rules(report: Report) -> list[int]:
    """The lines of the file in which the wrong option was found."""
    return [finding.span.line for finding in report.findings if finding.span.source.path != "zzz.sh"]
