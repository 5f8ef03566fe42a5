"""The JSON report (schemas/report.schema.json)."""

from __future__ import annotations

from servelint import __version__
from servelint.core.finding import Finding
from servelint.core.judged import totals
from servelint.core.launch import Branch
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.secrets import masked_span
from servelint.core.source import Span
from servelint.engines.catalog import freshness
from servelint.report import extent
from servelint.report.clean import encoded
from servelint.report.formats import DEFAULTS, RenderOptions
from servelint.report.places import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from servelint.filters.suppressions import Suppression

AUDIENCE = "programs"
SUMMARY = "[its schema](../schemas/report.schema.json)"


def render(report: Report, options: RenderOptions = DEFAULTS) -> str:
    """Return one object, with a line for each finding and each error, and each suppression where these are listed."""
    head: dict[str, Any] = {"servelint": __version__, "files": report.files, "launches": len(report.launches)}
    head |= {name: count for name, count in (("known", report.known), ("unchanged", report.unchanged)) if count}
    found = extent.records(report)
    # made one by one: the data of 10,000 files at once takes ten times the memory of their text
    lists: dict[str, Iterator[dict[str, Any]]] = {
        "findings": map(finding_data, report.findings),
        "errors": map(problem_data, report.errors),
        "judged": (extent.launch_data(launch, record) for launch, record in found),
        "without_launch": ({"path": source.path} for source in extent.without_launch(report)),
    }
    if options.suppressions is not None:
        lists["suppressions"] = map(_suppression, options.suppressions)
    if report.notes:
        lists["notes"] = map(problem_data, report.notes)
    head["data"] = freshness()
    head["totals"] = totals([record for _, record in found])
    parts = ["{\n", ",\n".join([f' "{name}": {encoded(value)}' for name, value in head.items()])]
    for name, items in lists.items():
        before = len(parts)
        parts += [f",\n  {encoded(item)}" for item in items]
        if len(parts) > before:
            parts[before] = f',\n "{name}": [{parts[before][1:]}'
            parts.append("\n ]")
        else:
            parts.append(f',\n "{name}": []')
    return "".join([*parts, "\n}\n"])


def _place(span: Span) -> dict[str, Any]:
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    ends = {"start": {"line": line, "column": column}, "end": {"line": end_line, "column": end_column}}
    return {"path": span.source.path, **ends}


def problem_data(problem: Problem) -> dict[str, Any]:
    """Return a problem as the report has it."""
    return {name: getattr(problem, name) for name in ("path", "line", "column", "message")}


def finding_data(finding: Finding) -> dict[str, Any]:
    """Return a finding as the report has it; without the edits of a fix that writes a secret."""
    fix = finding.fix
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "impact": finding.impact,
        "message": finding.sentence,
        **_place(finding.span),
        "launch": _launch(finding),
        "versions": finding.affected,
        "advice": finding.advice,
        "related": [{**_place(related.span), "message": related.message} for related in finding.related],
        "fix": None
        if fix is None
        else {
            "title": fix.title,
            "safe": fix.safe,
            "edits": [{**_place(edit.span), "text": edit.text} for edit in fix.edits] if printable(finding) else [],
        },
        "evidence": finding.evidence,
        "fingerprint": finding.fingerprint,
        **({"branches": [branch_data(one) for one in finding.branches]} if finding.branches else {}),
    }


def branch_data(branch: Branch) -> dict[str, Any]:
    """Return an undecided condition of a script: its place, its text and whether it holds."""
    line, column = branch.span.source.position(branch.span.start)
    return {"line": line, "column": column, "text": masked_span(branch.span), "taken": branch.taken}


def _launch(finding: Finding) -> dict[str, Any] | None:
    launch = finding.launch
    if launch is None:
        return None
    data = {"engine": launch.engine, "version": finding.release, "version_from": finding.release_from, "name": launch.name}
    return {**data, "assumption": finding.assumption} if finding.assumption else data


def _suppression(one: Suppression) -> dict[str, Any]:
    """Return a suppression; `hidden` is null where the check cannot say what it hides."""
    return {
        "kind": one.kind,
        "what": one.what,
        "reason": one.reason,
        "path": one.path if one.line else None,
        "line": one.line or None,
        "column": one.column or None,
        "said_by": None if one.line else one.path,
        "trusted": one.trusted,
        "hidden": None if one.hidden is None else [_hidden(finding) for finding in one.hidden],
    }


def _hidden(finding: Finding) -> dict[str, Any]:
    line, column = finding.span.source.position(finding.span.start)
    about = {name: getattr(finding, name) for name in ("rule", "severity", "message")}
    return {**about, "path": finding.span.source.path, "line": line, "column": column}
