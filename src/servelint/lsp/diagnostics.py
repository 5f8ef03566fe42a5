"""Findings and problems as the protocol has them."""

from __future__ import annotations

import os
from functools import lru_cache

from lsprotocol import types

from servelint.core.finding import Finding
from servelint.core.judged import IMAGE, VARIABLE, WORD
from servelint.core.own_rules import OWN, UNUSED_IGNORE
from servelint.core.problem import Problem
from servelint.core.source import Source, Span
from servelint.core.trust import RuleFolder, folder_path
from servelint.lsp.analysis import Analysis
from servelint.lsp.documents import Positions, uri_of
from servelint.report.clean import clean
from servelint.report.extent import sentence
from servelint.rules.compile import file_of
from servelint.rules.load import rule_folder

NAME = "servelint"
SYNTAX = "servelint/unreadable"
"""The code of what could not be read or parsed."""
UNRESOLVED = "servelint/unresolved"
"""The code of a word that is not resolved."""
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}


def of_text(analysis: Analysis, findings: list[Finding], positions: Positions, uri: str) -> list[types.Diagnostic]:
    """The diagnostics of a text: what could not be read of it, then some findings. uri: as the editor writes it."""
    source, folders = analysis.source, analysis.settings.rules
    found = [of_problem(problem, source, positions) for problem in analysis.problems]
    return found + [of_finding(finding, source, positions, folders, uri) for finding in findings]


def of_unresolved(analysis: Analysis, positions: Positions) -> list[types.Diagnostic]:
    """A hint at each word and variable that is not resolved, as far as a judgement may depend on it, and at unjudged images."""
    every = [
        one for launch in analysis.launches if launch.judged is not None for one in launch.judged.unresolved if one.matters
    ]
    found = {one.span: one for one in every if one.span is not None and one.kind in (WORD, IMAGE, VARIABLE)}
    images = [of_problem(one, analysis.source, positions, UNRESOLVED) for one in analysis.unjudged]
    return images + [
        types.Diagnostic(
            range=positions.of_span(span),
            message=clean(f"{sentence(one)}; what depends on it is not judged"),
            severity=types.DiagnosticSeverity.Hint,
            code=UNRESOLVED,
            source=NAME,
        )
        for span, one in found.items()
        if span.source is analysis.source
    ]


def of_finding(
    finding: Finding, source: Source, positions: Positions, folders: tuple[str | RuleFolder, ...], uri: str
) -> types.Diagnostic:
    """The diagnostic of a finding of a text.

    A finding in another file is shown where this text uses that file, with its own place as a related one. `folders` are those
    of users' rules, and `uri` is that of the text as the editor writes it.
    """
    place, page = here(finding, source), _page(finding.rule, folders)
    related = [(one.span, one.message) for one in finding.related if one.span != place]
    if finding.span.source is not source:
        related.insert(0, (finding.span, finding.label or "this"))
    return types.Diagnostic(
        range=positions.of_span(place),
        message=clean(finding.sentence),
        severity=_SEVERITIES[finding.severity],
        code=finding.rule,
        code_description=types.CodeDescription(uri_of(page)) if page is not None else None,
        source=NAME,
        tags=_tags(finding.rule, finding.impact),
        related_information=[
            types.DiagnosticRelatedInformation(
                types.Location(uri if span.source is source else uri_of(span.source.path), positions.of_span(span)),
                clean(message),
            )
            for span, message in related
        ],
    )


def here(finding: Finding, source: Source) -> Span:
    """Where a finding is shown in a text: its own place, else the one that uses it, else its launch, else the first line."""
    if finding.span.source is source:
        return finding.span
    used = next((one.span for one in finding.related if one.span.source is source), None)
    if used is not None:
        return used
    if (launch := finding.launch) is not None and launch.site.source is source:
        return _first_line(source, launch.site.start, launch.site.end)
    return _first_line(source, 0, len(source.text))


def of_problem(problem: Problem, source: Source, positions: Positions, code: str = SYNTAX) -> types.Diagnostic:
    """What could not be read, or was not judged: from its place to the end of the line."""
    if problem.path != source.path:
        place = positions.of_span(_first_line(source, 0, len(source.text)))
        message = str(problem)
    else:
        starts = source.line_starts
        line = min(max(problem.line, 1), len(starts))
        start = starts[line - 1]
        end = start + len(source.line_text(line))
        start = min(start + problem.column - 1, end)
        if start == end:  # what is wrong is that the line ends here
            start = max(starts[line - 1], end - 1)
        place = positions.range(source, start, end)
        message = problem.message
    severity = types.DiagnosticSeverity.Information if problem.note else types.DiagnosticSeverity.Error
    severity = severity if code == SYNTAX else types.DiagnosticSeverity.Hint
    return types.Diagnostic(range=place, message=clean(message), severity=severity, code=code, source=NAME)


def _first_line(source: Source, start: int, end: int) -> Span:
    stop = source.text.find("\n", start, end)
    return Span(source, start, stop if stop != -1 else end)


def _tags(rule: str, impact: str) -> list[types.DiagnosticTag] | None:
    """How an editor may show a finding: struck through, or faded since what it is about has no effect."""
    if impact == "deprecated":
        return [types.DiagnosticTag.Deprecated]
    if impact == "silently-ignored" or rule == UNUSED_IGNORE:
        return [types.DiagnosticTag.Unnecessary]
    return None


@lru_cache(maxsize=4096)
def _page(rule: str, folders: tuple[str | RuleFolder, ...]) -> str | None:
    """The path of the file or table that a rule is written in; None if there is none."""
    if rule in OWN:
        return None
    candidates = [os.path.join(folder_path(folder), *rule.split("/")) + ".yaml" for folder in folders]
    path = next((path for path in candidates if os.path.isfile(path)), None) or file_of(rule, rule_folder())
    return os.path.abspath(path) if path is not None else None
