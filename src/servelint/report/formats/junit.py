"""JUnit XML: a test suite for each file, a test case for each finding.

An error or a warning is a failure, a note passes. A file that could not be read is an error, a file without findings passes.
The property `servelint.judged` of a suite says how far the launches of the file were judged.
"""

from __future__ import annotations

import re

from servelint.core.finding import Finding
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.report import extent
from servelint.report.clean import clean
from servelint.report.formats import DEFAULTS, RenderOptions
from servelint.report.formats.text import Painter, finding_text
from servelint.report.places import relative

AUDIENCE = "Jenkins, Azure and others"
SUMMARY = "a suite for each file, a case for each finding"

_FORBIDDEN = re.compile("[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, and the carriage return, which readers turn into a line feed."""

_FAILS = ("error", "warning")


def render(report: Report, options: RenderOptions = DEFAULTS) -> str:
    """Return the XML document, in ASCII."""
    suites: dict[str, list[Finding | Problem]] = {}
    for source in report.sources:
        suites.setdefault(relative(source.path), [])
    for finding in report.findings:
        suites.setdefault(relative(finding.span.source.path), []).append(finding)
    for problem in report.errors:
        suites.setdefault(relative(problem.path), []).append(problem)
    if not suites:
        suites["servelint"] = []  # readers take a report without a test case for a failed run
    judged: dict[str, list[str]] = {}
    for path, line in extent.by_file(report):
        judged.setdefault(relative(path), []).append(line)
    found = [entry for entries in suites.values() for entry in entries]
    tests = len(found) + sum(not entries for entries in suites.values())
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<testsuites name="servelint" tests="{tests}" {_counts(found)}>',
        *[line for path, entries in suites.items() for line in _suite(path, entries, judged.get(path, []))],
        "</testsuites>",
        "",
    ]
    return "\n".join(lines).encode("ascii", "xmlcharrefreplace").decode()


def _suite(path: str, entries: list[Finding | Problem], judged: list[str]) -> list[str]:
    name = _attribute(path)
    lines = [f'  <testsuite name="{name}" tests="{len(entries) or 1}" skipped="0" {_counts(entries)}>']
    if judged:
        value = _attribute("; ".join(judged))
        lines.append(f'    <properties><property name="servelint.judged" value="{value}"/></properties>')
    if not entries:
        lines.append(f'    <testcase name="servelint" classname="{name}" file="{name}"/>')
    for entry in entries:
        lines += _problem(entry, name) if isinstance(entry, Problem) else _finding(entry, name)
    return [*lines, "  </testsuite>"]


def _counts(entries: list[Finding | Problem]) -> str:
    errors = sum(isinstance(entry, Problem) for entry in entries)
    failures = sum(isinstance(entry, Finding) and entry.severity in _FAILS for entry in entries)
    return f'failures="{failures}" errors="{errors}"'


def _finding(finding: Finding, name: str) -> list[str]:
    line, column = finding.span.source.position(finding.span.start)
    body = _text(finding_text(finding, Painter(False)))
    if finding.severity in _FAILS:
        head = f'<failure type="{_attribute(finding.severity)}" message="{_attribute(finding.sentence)}">'
        result = f"      {head}{body}</failure>"
    else:
        result = f"      <system-out>{body}</system-out>"
    return [_case(finding.rule, name, line, column), result, "    </testcase>"]


def _problem(problem: Problem, name: str) -> list[str]:
    result = f'      <error type="servelint/not-read" message="{_attribute(problem.message)}"/>'
    return [_case("servelint/not-read", name, problem.line, problem.column), result, "    </testcase>"]


def _case(rule: str, name: str, line: int, column: int) -> str:
    title = _attribute(f"{rule} at {line}:{column}")
    return f'    <testcase name="{title}" classname="{name}" file="{name}" line="{line}">'


def _text(text: str) -> str:
    text = _FORBIDDEN.sub("\u00b7", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _attribute(text: str) -> str:
    return _text(clean(text)).replace('"', "&quot;")
