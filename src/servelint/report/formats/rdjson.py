"""reviewdog's diagnostic format (rdjson): columns count bytes of UTF-8, and a reviewer takes a suggestion with one click.

reviewdog refuses unknown fields and offers each suggestion apart: a fix of several edits is one suggestion that spans them,
and a fix that changes several files is none.
"""

from __future__ import annotations

from servelint.core.finding import Finding, Fix
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.secrets import holds_secret
from servelint.core.source import Source
from servelint.report.clean import clean, encoded, json_list
from servelint.report.formats import DEFAULTS, RenderOptions
from servelint.report.places import address, edited, position, printable, relative, utf8

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

AUDIENCE = "reviewdog"
SUMMARY = "fixes are suggestions that a reviewer can take with a click"
HAS_EXTENT = False

_SEVERITIES = {"error": "ERROR", "warning": "WARNING", "info": "INFO"}


def render(report: Report, options: RenderOptions = DEFAULTS) -> str:
    """Return a DiagnosticResult as JSON."""
    items = [encoded(_finding(finding)) for finding in report.findings]
    items += [encoded(_problem(problem)) for problem in report.errors]
    return f'{{\n "source": {{"name": "servelint"}},\n "diagnostics": {json_list(items)}\n}}\n'


def _finding(finding: Finding) -> dict[str, Any]:
    span = finding.span
    code = {"value": finding.rule}
    cited = next((url for one in finding.evidence if (url := address(one)) is not None), None)
    if cited is not None:
        code["url"] = cited
    data: dict[str, Any] = {
        "message": clean(finding.sentence),
        "location": {"path": relative(span.source.path), "range": _range(span.source, span.start, span.end)},
        "severity": _SEVERITIES[finding.severity],
        "code": code,
    }
    suggestion = _suggestion(finding.fix, span.source) if finding.fix is not None and printable(finding) else None
    if suggestion is not None:
        data["suggestions"] = [suggestion]
    return data


def _problem(problem: Problem) -> dict[str, Any]:
    return {  # without a column: the text that would give it in bytes is missing
        "message": clean(problem.message),
        "location": {"path": relative(problem.path), "range": {"start": {"line": problem.line}}},
        "severity": "ERROR",
    }


def _range(source: Source, start: int, end: int) -> dict[str, Any]:
    line, column = position(source, start, utf8)
    end_line, end_column = position(source, end, utf8)
    return {"start": {"line": line, "column": column}, "end": {"line": end_line, "column": end_column}}


def _suggestion(fix: Fix, source: Source) -> dict[str, Any] | None:
    edits = sorted(fix.edits, key=lambda edit: (edit.span.start, edit.span.end))
    if not edits or any(edit.span.source is not source for edit in edits):
        return None
    start, end = edits[0].span.start, max(edit.span.end for edit in edits)
    text = edited(source, edits, start, end)
    if holds_secret(text, source.redactions.values):
        return None
    return {"range": _range(source, start, end), "text": text}
