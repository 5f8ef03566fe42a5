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
from servelint.core.judged import Judged, totals
from servelint.core.launch import Launch
from servelint.core.own_rules import OWN
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.source import Source, Span
from servelint.engines.catalog import freshness
from servelint.report import extent
from servelint.report.clean import clean, encoded, json_list
from servelint.report.formats import DEFAULTS, RenderOptions
from servelint.report.formats.markdown import escaped
from servelint.report.places import numbered, position, printable, relative, utf16
from servelint.report.reference import written
from servelint.rules.pages import markdown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.core.trust import RuleFolder

AUDIENCE = "GitHub code scanning and others"
SUMMARY = "SARIF 2.1.0"

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LINK = re.compile(r"\[(?=[^\]]*\]\()")
"""The bracket that would turn a quotation in a message into a link."""


def render(report: Report, options: RenderOptions = DEFAULTS) -> str:
    """Return the log, with the texts of the rules that have findings."""
    folders = options.settings.rule_folders() if options.settings is not None else ()
    index: dict[str, int] = {}
    rules: list[str] = []
    for finding in report.findings:
        if finding.rule not in index:
            index[finding.rule] = len(rules)
            rules.append(encoded(descriptor(finding, folders)))
    results = [encoded(_result(finding, number, index)) for finding, number in numbered(report.findings)]
    invocation: dict[str, Any] = {
        "executionSuccessful": not report.errors,
        "toolExecutionNotifications": [
            *[_notification(problem, "error") for problem in report.errors],
            *[_notification(problem, "note") for problem in report.notes],
            *[_not_judged(launch, record) for launch, record in extent.records(report) if record.open],
            *[_without_launch(source) for source in extent.without_launch(report)],
        ],
    }
    if report.launches:
        invocation["properties"] = {"judged": totals([record for _, record in extent.records(report)])}
    driver = f'"name": "servelint", "version": "{__version__}", "semanticVersion": "{__version__}", "rules": {json_list(rules)}'
    driver += f', "properties": {{"data": {encoded(freshness())}}}'
    run = [
        f'"tool": {{"driver": {{{driver}}}}}',
        f'"invocations": [{encoded(invocation)}]',
        '"columnKind": "utf16CodeUnits"',
        '"newlineSequences": ["\\r\\n", "\\n", "\\r"]',
        f'"results": {json_list(results)}',
    ]
    return f'{{"$schema": "{_SCHEMA}", "version": "2.1.0", "runs": [{{\n ' + ",\n ".join(run) + "\n}]}\n"


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
    if finding.assumption:
        data["properties"]["assumption"] = finding.assumption
    return data


def _message(finding: Finding) -> str:
    """Return what is wrong and what to write, with a link to each related place."""
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
    return {"level": level, "message": {"text": clean(problem.message)}, "locations": [{"physicalLocation": place}]}


def _not_judged(launch: Launch, record: Judged) -> dict[str, Any]:
    """Return the notification of a launch that was not wholly judged, which points at the words that are not resolved."""
    parts = [extent.head(launch, record), *[extent.sentence(one) for one in record.unresolved]]
    if record.undecided:
        parts.append(f"{len(record.undecided)} rules are undecided: {', '.join([one.rule for one in record.undecided])}")
    spans = [one.span for one in record.unresolved if one.span is not None] or [launch.site]
    return {
        "descriptor": {"id": "servelint/not-judged"},
        "level": "note",
        "message": {"text": clean("; ".join(parts))},
        "locations": [{"physicalLocation": _place(span)} for span in dict.fromkeys(spans)],
        "properties": {"judged": extent.data(record)},
    }


def _without_launch(source: Source) -> dict[str, Any]:
    place = {"artifactLocation": _artifact(source.path)}
    text = f"the file mentions {extent.mentions(source)}, but contains no launch"
    return {
        "descriptor": {"id": "servelint/no-launch"},
        "level": "note",
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }


def _place(span: Span) -> dict[str, Any]:
    return {"artifactLocation": _artifact(span.source.path), "region": _region(span)}


def _region(span: Span) -> dict[str, int]:
    line, column = position(span.source, span.start, utf16)
    end_line, end_column = position(span.source, span.end, utf16)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _artifact(path: str) -> dict[str, str]:
    """Return a location relative to the current folder, the root of the repository; outside of it, an absolute one."""
    path = relative(path)
    if os.path.isabs(path):
        return {"uri": PurePath(path).as_uri()}
    return {"uri": quote(path.encode("utf-8", "surrogateescape")), "uriBaseId": "%SRCROOT%"}


LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_PROBLEMS = {"error": "error", "warning": "warning", "info": "recommendation"}
_SECURITY = {"error": "8.0", "warning": "5.5", "info": "2.0"}
"""Scores in GitHub's bands of high, medium and low."""
_AT_MOST = 1024
"""Characters of a description that GitHub accepts."""


def descriptor(finding: Finding, folders: tuple[str | RuleFolder, ...]) -> dict[str, Any]:
    """Return the reportingDescriptor of a finding's rule.

    Args:
        finding: the first finding of the rule.
        folders: the folders of users' rules.
    """
    data = written(finding.rule, folders)
    if data is None:
        own = OWN.get(finding.rule)
        title, why = (own.title, own.why) if own is not None else (finding.rule, finding.rule)
        text = page = f"{title}. {why}"
        severity, confidence, impact = finding.severity, finding.confidence, finding.impact
    else:
        title, why = data["title"], " ".join(data["why"].split())
        text, page = _help(data, why), markdown(_harmless(data) if _is_foreign(finding.rule, folders) else data)
        severity, confidence, impact = data["severity"], data["confidence"], data["impact"]
    properties: dict[str, Any] = {
        "tags": [impact, finding.rule.partition("/")[0]],
        "precision": confidence,
        "problem.severity": _PROBLEMS[severity],
    }
    if impact == "security":
        properties["security-severity"] = _SECURITY[severity]
    return {
        "id": finding.rule,
        "shortDescription": {"text": _cut(title)},
        "fullDescription": {"text": _cut(why)},
        "help": {"text": text, "markdown": page},
        "defaultConfiguration": {"level": LEVELS[severity]},
        "properties": properties,
    }


def _is_foreign(rule: str, folders: tuple[str | RuleFolder, ...]) -> bool:
    """Return whether the texts of a rule come from a folder of users' rules."""
    if not folders:
        return False
    from servelint.rules import folder

    return any(data["id"] == rule for path in folders for data in folder.load(path).written)


def _harmless(data: dict[str, Any]) -> dict[str, Any]:
    """Escape the texts of a rule, so that nothing in them is markup; examples are code and stay as they are."""
    cited = [
        {name: escaped(value) if name == "says" else re.sub(r"[\s<>`]", "", value) for name, value in one.items()}
        for one in data["evidence"]
    ]
    texts = {name: escaped(data[name]) for name in ("title", "advice") if data[name]}
    why = "\n\n".join([escaped(" ".join(part.split())) for part in re.split(r"\n\s*\n", data["why"].strip())])
    return {**data, **texts, "why": why, "evidence": cited}


def _help(data: dict[str, Any], why: str) -> str:
    parts = [f"{data['title']}.", why]
    if data["advice"]:
        parts.append(f"What to write instead: {data['advice']}.")
    cited = [f"- {entry.get('url') or entry['source']}: {entry['says']}" for entry in data["evidence"]]
    if cited:
        parts.append("\n".join(["Evidence:", *cited]))
    parts.append(f"Silence it with a comment above the launch: # servelint: ignore[{data['id']}] why")
    return "\n\n".join(parts)


def _cut(text: str) -> str:
    return text if len(text) <= _AT_MOST else text[: _AT_MOST - 1].rstrip() + "\u2026"
