"""The JSON report (schemas/report.schema.json)."""

from __future__ import annotations

from servelint import __version__
from servelint.core.finding import Finding
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.source import Span
from servelint.report.encode import encoded
from servelint.report.places import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def render(report: Report, suppressions: list[dict[str, Any]] | None = None) -> str:
    """One object; a finding and an error on a line each, and a suppression where these are asked for."""
    head = {"servelint": __version__, "files": report.files, "launches": len(report.launches)}
    head |= {name: count for name, count in (("known", report.known), ("unchanged", report.unchanged)) if count}
    lists = {
        "findings": [finding_data(finding) for finding in report.findings],
        "errors": [problem_data(problem) for problem in report.errors],
    }
    if suppressions is not None:
        lists["suppressions"] = suppressions
    if report.notes:
        lists["notes"] = [problem_data(problem) for problem in report.notes]
    parts = [f' "{name}": {encoded(value)}' for name, value in head.items()]
    parts += [f' "{name}": {_lines(items)}' for name, items in lists.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lines(items: list[dict[str, Any]]) -> str:
    return "[\n  " + ",\n  ".join([encoded(item) for item in items]) + "\n ]" if items else "[]"


def place(span: Span) -> dict[str, Any]:
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {
        "path": span.source.path,
        "start": {"line": line, "column": column},
        "end": {"line": end_line, "column": end_column},
    }


def problem_data(problem: Problem) -> dict[str, Any]:
    return {"path": problem.path, "line": problem.line, "column": problem.column, "message": problem.message}


def finding_data(finding: Finding) -> dict[str, Any]:
    launch = finding.launch
    fix = finding.fix
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "impact": finding.impact,
        "message": finding.sentence,
        **place(finding.span),
        "launch": None
        if launch is None
        else {
            "engine": launch.engine,
            "version": finding.release,
            "version_from": finding.release_from,
            "name": launch.name,
        },
        "versions": finding.affected,
        "advice": finding.advice,
        "related": [{**place(related.span), "message": related.message} for related in finding.related],
        "fix": None
        if fix is None
        else {
            "title": fix.title,
            "safe": fix.safe,
            # an edit that writes a secret is in no report; servelint check --fix makes it
            "edits": [{**place(edit.span), "text": edit.text} for edit in fix.edits] if printable(finding) else [],
        },
        "evidence": finding.evidence,
        "fingerprint": finding.fingerprint,
    }
