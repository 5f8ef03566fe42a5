"""`--statistics`: how many findings each rule has."""

from __future__ import annotations

import json

from servelint.core.finding import Edit, Finding, Fix
from servelint.core.problem import Problem
from servelint.core.source import Source, Span
from servelint.report.statistics import render
from tests.findings import finding, report
from tests.report.kinds import mixed

SPAN = Span(Source("run.sh", "m"), 0, 1)


def some(count: int, rule: str, severity: str = "error", *, safe: bool | None = None) -> list[Finding]:
    fix = Fix("x", safe, [Edit(SPAN, "")]) if safe is not None else None
    return [finding(SPAN, rule=rule, severity=severity, impact="deprecated", fix=fix) for _ in range(count)]


def test_as_a_table() -> None:
    found = report(*some(2, "a/few"), *some(11, "a/many", safe=True), *some(40, "b/mild", "info", safe=False), files=3)
    found.errors = [Problem("bad.yml", "not valid YAML", 4, 7)]
    fixes = "11 fixable with --fix, 40 with --unsafe-fixes"
    assert render(found, False, 12.0, quiet=True).endswith("40 with --unsafe-fixes\nerror: bad.yml:4:7: not valid YAML\n")
    assert render(found, False, 12.0).splitlines() == [
        "11  error  a/many  deprecated  11 with --fix",
        " 2  error  a/few   deprecated",
        "40  info   b/mild  deprecated  40 with --unsafe-fixes",
        "error: bad.yml:4:7: not valid YAML",
        "",
        "by impact: deprecated 53",
        f"found 13 errors, 40 notes in 53 launches (3 files, 12 ms); 1 file could not be read; {fixes}",
    ]


def test_as_json() -> None:
    found = report(*some(2, "a/few", "warning"), *some(1, "a/few", "warning", safe=True))
    assert json.loads(render(found, True, None)) == {
        "statistics": [
            {
                "rule": "a/few",
                "severity": "warning",
                "impact": "deprecated",
                "count": 3,
                "fixable": 1,
                "unsafely_fixable": 0,
            }
        ],
        "errors": 0,
    }


def test_nothing_found() -> None:
    assert json.loads(render(report(), True, None)) == {"statistics": [], "errors": 0}
    assert render(report(), False, None) == "nothing found in 0 launches (1 file)\n"


def test_counts_what_the_report_has() -> None:
    rows = json.loads(render(mixed(), True, None))["statistics"]
    assert sum(row["count"] for row in rows) == len(mixed().findings)
