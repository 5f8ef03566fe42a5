"""The number of findings of each rule (`servelint check --statistics`): where to begin in a large repository."""

from __future__ import annotations

from collections import Counter

from servelint.core.finding import SEVERITIES
from servelint.core.result import Report
from servelint.report.clean import clean, encoded
from servelint.report.formats.text import Painter, impacts, problem_text, summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def render(report: Report, as_json: bool, milliseconds: float | None, *, quiet: bool = False) -> str:
    """Return the rules of a report, the worst and then the most frequent first, each with its number of findings and fixes.

    Args:
        report: the findings.
        as_json: whether a program reads the result.
        milliseconds: how long the check took; None leaves it out.
        quiet: leave out the summary.
    """
    rows = _rows(report)
    if as_json:
        items = ",\n  ".join([encoded(row) for row in rows])
        return '{\n "statistics": [' + (f"\n  {items}\n ]" if rows else "]") + f',\n "errors": {len(report.errors)}\n}}\n'
    cells = [(str(row["count"]), row["severity"], clean(row["rule"]), row["impact"], _fixes(row)) for row in rows]
    count, *widths = [max([len(row[column]) for row in cells], default=0) for column in range(4)]
    lines = []
    for number, *texts, fixes in cells:
        padded = [text.ljust(width) for text, width in zip(texts, widths, strict=True)]
        lines.append("  ".join([number.rjust(count), *padded, fixes]).rstrip())
    lines += [problem_text(problem, Painter(False)) for problem in report.errors]
    if quiet:
        return "".join([line + "\n" for line in lines])
    return "\n".join([*lines, *([""] if lines else []), impacts(report) + summary(report, milliseconds)]) + "\n"


def _rows(report: Report) -> list[dict[str, Any]]:
    keys = [(finding.rule, finding.severity, finding.impact) for finding in report.findings]
    safe = Counter([key for key, one in zip(keys, report.findings, strict=True) if one.fix is not None and one.fix.safe])
    unsafe = Counter([key for key, one in zip(keys, report.findings, strict=True) if one.fix is not None and not one.fix.safe])
    rows = [
        {
            **dict(zip(("rule", "severity", "impact"), key, strict=True)),
            "count": count,
            "fixable": safe[key],
            "unsafely_fixable": unsafe[key],
        }
        for key, count in Counter(keys).items()
    ]
    return sorted(rows, key=lambda row: (-SEVERITIES.index(row["severity"]), -row["count"], row["rule"]))


def _fixes(row: dict[str, Any]) -> str:
    parts = [f"{row['fixable']} with --fix"] if row["fixable"] else []
    parts += [f"{row['unsafely_fixable']} with --unsafe-fixes"] if row["unsafely_fixable"] else []
    return ", ".join(parts)
