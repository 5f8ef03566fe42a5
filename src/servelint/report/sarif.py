"""SARIF 2.1.0 as GitHub code scanning reads it.

Columns count UTF-16 code units, as GitHub and editors do. A file that could not be read is a notification of the run.
"""

from __future__ import annotations

import os
import re
from pathlib import PurePath
from urllib.parse import quote

from servelint import __version__
from servelint.core.finding import Finding, Fix
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.source import Source, Span
from servelint.report.clean import clean
from servelint.report.encode import encoded
from servelint.report.places import numbered, position, printable, relative, utf16
from servelint.report.sarif_rules import LEVELS, descriptor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.core.trust import RuleFolder

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LINK = re.compile(r"\[(?=[^\]]*\]\()")
"""The bracket that would make a link of what a message quotes."""


def render(report: Report, folders: tuple[str | RuleFolder, ...] = ()) -> str:
    """The log. folders: those of users' rules, whose texts are told too"""
    index: dict[str, int] = {}
    rules: list[str] = []
    for finding in report.findings:
        if finding.rule not in index:
            index[finding.rule] = len(rules)
            rules.append(encoded(descriptor(finding, folders)))
    results = [encoded(_result(finding, number, index)) for finding, number in numbered(report.findings)]
    invocation = {
        "executionSuccessful": not report.errors,
        "toolExecutionNotifications": [
            *[_notification(problem, "error") for problem in report.errors],
            *[_notification(problem, "note") for problem in report.notes],
        ],
    }
    driver = f'"name": "servelint", "version": "{__version__}", "semanticVersion": "{__version__}", "rules": {_lines(rules)}'
    run = [
        f'"tool": {{"driver": {{{driver}}}}}',
        f'"invocations": [{encoded(invocation)}]',
        '"columnKind": "utf16CodeUnits"',
        '"newlineSequences": ["\\r\\n", "\\n", "\\r"]',
        f'"results": {_lines(results)}',
    ]
    return f'{{"$schema": "{_SCHEMA}", "version": "2.1.0", "runs": [{{\n ' + ",\n ".join(run) + "\n}]}\n"


def _lines(items: list[str]) -> str:
    return "[\n  " + ",\n  ".join(items) + "\n ]" if items else "[]"


def _result(finding: Finding, number: int, index: dict[str, int]) -> dict[str, Any]:
    data: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": LEVELS[finding.severity],
        "message": {"text": _message(finding)},
        "locations": [{"physicalLocation": _place(finding.span)}],
        "partialFingerprints": {"primaryLocationLineHash": f"{finding.fingerprint}:{number}"},
    }
    launch = finding.launch
    if launch is not None and launch.name:
        data["locations"][0]["logicalLocations"] = [{"fullyQualifiedName": clean(launch.name), "kind": "resource"}]
    if finding.related:
        data["relatedLocations"] = [
            {"id": place, "physicalLocation": _place(related.span), "message": {"text": clean(related.message) or "here"}}
            for place, related in enumerate(finding.related, 1)
        ]
    if finding.fix is not None and finding.fix.edits and printable(finding):
        data["fixes"] = [_fix(finding.fix)]
    data["properties"] = {"confidence": finding.confidence, "impact": finding.impact}
    if launch is not None:
        data["properties"] |= {"engine": launch.engine, "release": finding.release}
    return data


def _message(finding: Finding) -> str:
    """The sentence, with a link to each related place."""
    text = _LINK.sub(r"\\[", clean(finding.sentence))
    links = [f"[{_label(related.message)}]({place})" for place, related in enumerate(finding.related, 1)]
    return f"{text} (see {', '.join(links)})" if links else text


def _label(text: str) -> str:
    return re.sub(r"[\\\[\]]", r"\\\g<0>", clean(text)) or "here"


def _fix(fix: Fix) -> dict[str, Any]:
    edits: dict[int, list[dict[str, Any]]] = {}
    sources: dict[int, Source] = {}
    for edit in fix.edits:
        sources[id(edit.span.source)] = edit.span.source
        replacement = {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}
        edits.setdefault(id(edit.span.source), []).append(replacement)
    title = clean(fix.title) if fix.safe else f"{clean(fix.title)} (unsafe: it changes what the launch does)"
    return {
        "description": {"text": title},
        "artifactChanges": [
            {"artifactLocation": _artifact(sources[key].path), "replacements": replacements}
            for key, replacements in edits.items()
        ],
    }


def _notification(problem: Problem, level: str) -> dict[str, Any]:
    place = {"artifactLocation": _artifact(problem.path), "region": {"startLine": problem.line}}
    return {
        "level": level,
        "message": {"text": clean(problem.message)},
        "locations": [{"physicalLocation": place}],
    }


def _place(span: Span) -> dict[str, Any]:
    return {"artifactLocation": _artifact(span.source.path), "region": _region(span)}


def _region(span: Span) -> dict[str, int]:
    line, column = position(span.source, span.start, utf16)
    end_line, end_column = position(span.source, span.end, utf16)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _artifact(path: str) -> dict[str, str]:
    """A place from the current folder, which is where a repository is checked out; another one by its whole address."""
    path = relative(path)
    if os.path.isabs(path):
        return {"uri": PurePath(path).as_uri()}
    return {"uri": quote(path.encode("utf-8", "surrogateescape")), "uriBaseId": "%SRCROOT%"}
