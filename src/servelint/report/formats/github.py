"""Workflow commands of GitHub Actions: one annotation for each finding."""

from __future__ import annotations

from servelint.core.finding import Finding
from servelint.core.result import Report
from servelint.engines import ENGINE_NAMES
from servelint.report import extent
from servelint.report.clean import clean
from servelint.report.formats import DEFAULTS, RenderOptions
from servelint.rules.ranges import describe

AUDIENCE = "GitHub Actions"
SUMMARY = "annotations in the log"

_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report, options: RenderOptions = DEFAULTS) -> str:
    """Return a command for each finding, one for each file that could not be read, and one where not all was judged."""
    lines = [_annotation(finding) for finding in report.findings]
    for problem in report.errors:
        place = f"file={_property(problem.path)},line={problem.line},col={problem.column}"
        lines.append(f"::error {place},title=servelint::{_data(clean(problem.message))}")
    for problem in extent.unjudged(report):
        place = f"file={_property(problem.path)},line={problem.line},col={problem.column}"
        lines.append(f"::notice {place},title=servelint::{_data(clean(problem.message))}")
    if any(not record.whole for _, record in extent.records(report)):
        lines.append(f"::notice title=servelint::{_data(clean(extent.closing(report)))}")
    return "".join([line + "\n" for line in lines])


def _annotation(finding: Finding) -> str:
    span = finding.span
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    # columns of a region over several lines are not shown and have been rejected; its first line is what matters
    end = f",endLine={line},endColumn={end_column}" if end_line == line else ""
    message = finding.sentence
    if finding.launch is not None and finding.affected:
        message += f" ({ENGINE_NAMES[finding.launch.engine]} {describe(finding.affected)})"
    place = f"file={_property(span.source.path)},line={line},col={column}{end},title={_property(finding.rule)}"
    return f"::{_LEVELS[finding.severity]} {place}::{_data(clean(message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(clean(text)).replace(":", "%3A").replace(",", "%2C")
