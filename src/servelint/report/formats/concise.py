"""One line for each finding: `path:line:column: severity[rule] what is wrong; what to write`."""

from __future__ import annotations

from servelint.core.result import Report
from servelint.report.clean import clean
from servelint.report.formats import DEFAULTS, RenderOptions

AUDIENCE = "people, `grep`, editors"
SUMMARY = "`path:line:column: severity[rule] message`, a line each"
HAS_EXTENT = False


def render(report: Report, options: RenderOptions = DEFAULTS) -> str:
    """Return a line for each finding, then one for each file that could not be read."""
    lines: list[str] = []
    for finding in report.findings:
        line, column = finding.span.source.position(finding.span.start)
        lines.append(f"{finding.span.source.path}:{line}:{column}: {finding.severity}[{finding.rule}] {finding.sentence}")
    lines += [f"{problem.path}:{problem.line}:{problem.column}: error {problem.message}" for problem in report.errors]
    return "".join([clean(line) + "\n" for line in lines])
