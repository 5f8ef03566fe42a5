"""One line a finding: `path:line:column: severity[rule] what is wrong; what to write`."""

from __future__ import annotations

from servelint.core.finding import Finding
from servelint.core.result import Report
from servelint.report.clean import clean


def render(report: Report) -> str:
    lines = [_line(finding) for finding in report.findings]
    lines += [clean(f"{problem.path}:{problem.line}:{problem.column}: error {problem.message}") for problem in report.errors]
    return "".join([line + "\n" for line in lines])


def _line(finding: Finding) -> str:
    line, column = finding.span.source.position(finding.span.start)
    return clean(f"{finding.span.source.path}:{line}:{column}: {finding.severity}[{finding.rule}] {finding.sentence}")
