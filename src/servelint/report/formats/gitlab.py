"""GitLab's code quality report: a JSON array, each element with a fingerprint of its own.

A file that could not be read is an element too, so that a merge request shows it.
"""

from __future__ import annotations

import hashlib

from servelint.core.finding import Finding
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.report.clean import clean, encoded
from servelint.report.formats import DEFAULTS, RenderOptions
from servelint.report.places import numbered, own, relative

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

AUDIENCE = "GitLab"
SUMMARY = "the code quality report"
HAS_EXTENT = False

_SEVERITIES = {"error": "major", "warning": "minor", "info": "info"}
_WORST = ("security", "wrong-output", "crash-at-start", "crash-at-load", "crash-at-runtime", "out-of-memory")


def render(report: Report, options: RenderOptions = DEFAULTS) -> str:
    """Return the array."""
    items = [_finding(finding, own(finding.fingerprint, number)) for finding, number in numbered(report.findings)]
    seen: dict[str, int] = {}
    for problem in report.errors:
        same = f"{problem.path}\0{problem.message}"
        seen[same] = seen.get(same, 0) + 1
        items.append(_problem(problem, own(hashlib.sha256(same.encode("utf-8", "replace")).hexdigest()[:16], seen[same])))
    return "[\n " + ",\n ".join([encoded(item) for item in items]) + "\n]\n" if items else "[]\n"


def _finding(finding: Finding, fingerprint: str) -> dict[str, Any]:
    span = finding.span
    severity = _SEVERITIES[finding.severity]
    if severity == "major" and finding.impact in _WORST:
        severity = "critical"
    return {
        "description": clean(finding.sentence),
        "check_name": finding.rule,
        "fingerprint": fingerprint,
        "severity": severity,
        "location": {"path": relative(span.source.path), "lines": {"begin": span.line, "end": span.end_line}},
    }


def _problem(problem: Problem, fingerprint: str) -> dict[str, Any]:
    return {
        "description": clean(problem.message),
        "check_name": "servelint/not-read",
        "fingerprint": fingerprint,
        "severity": "blocker",
        "location": {"path": relative(problem.path), "lines": {"begin": problem.line}},
    }
