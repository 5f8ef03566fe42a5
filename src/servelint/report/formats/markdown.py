"""A Markdown table, for the summary of a job or a comment on a pull request."""

from __future__ import annotations

import re

from servelint.core.finding import Finding
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.report import extent
from servelint.report.clean import clean
from servelint.report.formats import DEFAULTS, RenderOptions
from servelint.report.formats.text import summary

AUDIENCE = "summaries of jobs, comments"
SUMMARY = "a table"

_MARKUP = r"([\\`*_{}\[\]()#+!|~$@:])"
_HEAD = "| | where | what | instead |\n|---|---|---|---|\n"


def render(report: Report, options: RenderOptions = DEFAULTS) -> str:
    """Return a heading, the summary line, and the table where something was found."""
    rows = [_finding(finding) for finding in report.findings] + [_problem(problem) for problem in report.errors]
    table = f"\n{_HEAD}{''.join(rows)}" if rows else ""
    judged = extent.closing(report)
    judged = f"\n{escaped(f'{judged}; {extent.data_line()}')}\n" if judged else ""
    return f"### servelint\n\n{escaped(summary(report, None))}\n{judged}{table}"


def _finding(finding: Finding) -> str:
    span = finding.span
    line, column = span.source.position(span.start)
    what = f"{escaped(finding.statement)} ({_code(finding.rule)})"
    return f"| {finding.severity} | {_code(f'{span.source.path}:{line}:{column}')} | {what} | {escaped(finding.advice)} |\n"


def _problem(problem: Problem) -> str:
    return f"| error | {_code(f'{problem.path}:{problem.line}:{problem.column}')} | {escaped(problem.message)} | |\n"


def escaped(text: str) -> str:
    """Escape a text so that nothing in it is markup, neither Markdown nor HTML."""
    return re.sub(_MARKUP, r"\\\1", _without_tags(text))


def _code(text: str) -> str:
    # Markdown is read inside an HTML tag too, and a bar ends a cell; character references are neither
    return f"<code>{re.sub(_MARKUP, lambda match: f'&#{ord(match.group())};', _without_tags(text))}</code>"


def _without_tags(text: str) -> str:
    return clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
