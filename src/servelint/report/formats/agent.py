"""The report for coding assistants: a line for each finding, with the exact edits, and one line that says what was judged."""

from __future__ import annotations

from servelint.core.finding import Edit, Finding
from servelint.core.result import Report
from servelint.core.secrets import masked_span, masked_text
from servelint.core.source import Source
from servelint.report import extent
from servelint.report.clean import clean, encoded
from servelint.report.formats import DEFAULTS, RenderOptions
from servelint.report.formats.text import summary
from servelint.report.places import printable

AUDIENCE = "coding assistants"
SUMMARY = "`path:line:column severity rule: message; edit`, a line each, and what was not judged"


def render(report: Report, options: RenderOptions = DEFAULTS) -> str:
    """Return a line for each finding, one for each file that could not be read, and the summary unless `quiet`."""
    lines = [_line(finding) for finding in report.findings]
    lines += [f"{one.path}:{one.line}:{one.column} error: {one.message}" for one in report.errors]
    if not options.quiet:
        lines += extent.lines(report) if options.verbose else []
        closing = extent.closing(report)
        lines.append(extent.no_launch(report) or summary(report, None) + (f"; {closing}" if closing else ""))
    return "".join([clean(line) + "\n" for line in lines])


def _line(finding: Finding) -> str:
    source = finding.span.source
    line, column = source.position(finding.span.start)
    edits = _edits(finding)
    # the advice of a safe fix is what its edits do; beside an unsafe one there may be a better way
    advice = finding.advice if not edits or (finding.fix is not None and not finding.fix.safe) else ""
    what = "; ".join([finding.statement, *[part for part in (advice, edits) if part]])
    return f"{source.path}:{line}:{column} {finding.severity} {finding.rule}: {what}"


def _edits(finding: Finding) -> str:
    """Return the edits of a fix on one line; "" where there is none, or where a secret is replaced or written."""
    fix = finding.fix
    if fix is None or not fix.edits or not printable(finding):
        return ""
    if any(
        masked_span(edit.span) != edit.span.text or masked_text(edit.text, edit.span.source) != edit.text for edit in fix.edits
    ):
        return ""
    shown = ", ".join([_edit(edit, finding.span.source) for edit in fix.edits])
    return f"edit {shown}" if fix.safe else f"unsafe edit{f' ({fix.note})' if fix.note else ''} {shown}"


def _edit(edit: Edit, source: Source) -> str:
    """Return `12:24-12:39 "turboquant_k8v4" -> "fp8"`: the end is the column after the last one, as in the JSON report."""
    own = edit.span.source
    ends = "-".join([":".join(map(str, own.position(at))) for at in (edit.span.start, edit.span.end)])
    path = "" if own is source else f"{own.path}:"
    return f"{path}{ends} {encoded(edit.span.text)} -> {encoded(edit.text)}"
