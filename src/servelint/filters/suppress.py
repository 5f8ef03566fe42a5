"""Suppression comments: `# servelint: ignore[vllm/some-rule] why` on the line of a finding, above it, or above its launch."""

from __future__ import annotations

import re

from servelint.core.finding import Finding
from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.files import trust
from servelint.files.directives import SIGN, lines_of
from servelint.rules import own
from servelint.rules.load import every
from servelint.rules.own import OWN, UNUSED_IGNORE

_COMMENT = re.compile(r"#\s*servelint:\s*ignore(?:\[([^\]\n]*)\])?[^\n]*")


class Ignore:
    """One comment. lines: the lines that it speaks for; patterns: rule ids or areas (`vllm/*`), with their spans."""

    __slots__ = ("lines", "patterns", "span", "used")

    def __init__(self, span: Span, lines: tuple[int, ...], patterns: list[tuple[str, Span]]) -> None:
        self.span = span
        self.lines = lines
        self.patterns = patterns
        self.used: set[str] = set()

    def speaks_for(self, finding: Finding) -> bool:
        """Whether the comment is for a finding, which it silences where it is believed; it is noted as used."""
        places = {finding.span.line} if finding.span.source is self.span.source else set()
        if finding.launch is not None and finding.launch.source is self.span.source:
            places.add(finding.launch.line)
        places |= {
            related.span.line
            for related in finding.related
            if related.message == "used here" and related.span.source is self.span.source
        }
        if not places.intersection(self.lines):
            return False
        for pattern, _ in self.patterns:
            if pattern == finding.rule or (pattern.endswith("/*") and finding.rule.startswith(pattern[:-1])):
                self.used.add(pattern)
                return True
        return False


def ignores(source: Source) -> list[Ignore]:
    """The suppression comments of a source."""
    if SIGN not in source.text:
        return []
    found: list[Ignore] = []
    for match in _COMMENT.finditer(source.text):
        patterns: list[tuple[str, Span]] = []
        if match.group(1) is not None:
            for part in re.finditer(r"[^,\s]+", match.group(1)):
                start = match.start(1) + part.start()
                patterns.append((part.group(), Span(source, start, start + len(part.group()))))
        end = match.start() + len(match.group().rstrip())
        found.append(Ignore(Span(source, match.start(), end), lines_of(source, match.start()), patterns))
    return found


class Silenced:
    """A finding for which a comment speaks, and whether that counts."""

    __slots__ = ("comment", "finding", "trusted")

    def __init__(self, finding: Finding, comment: Ignore, trusted: bool) -> None:
        self.finding = finding
        self.comment = comment
        self.trusted = trusted


def suppress(
    source: Source, findings: list[Finding], settings: Settings, silenced: list[Silenced] | None = None
) -> list[Finding]:
    """The findings that no comment silences, and a finding for each ignore that silences nothing.

    silenced: takes what comments speak for

    An ignore of a rule that was not asked for (`--select`) is not held against its comment.
    """
    elsewhere = {id(finding.span.source): finding.span.source for finding in findings if finding.span.source is not source}
    for other in elsewhere.values():
        # a comment there speaks for the file's own findings as well: it is not said here whether it silences any
        theirs = ignores(other)
        findings = [one for one in findings if not _silences(theirs, one, silenced)]
    comments = ignores(source)
    if not comments:
        return findings
    kept = [finding for finding in findings if not _silences(comments, finding, silenced)]
    if settings.wants(UNUSED_IGNORE):
        profiles = {**dict.fromkeys(OWN, "default"), **{rule.id: rule.profile for rule in every(settings.rules)}}
        kept += [unused for comment in comments for unused in _unused(comment, settings, profiles)]
    return kept


def _silences(comments: list[Ignore], finding: Finding, silenced: list[Silenced] | None) -> bool:
    """Whether one of some comments silences a finding. Every one is asked: one that repeats another is not called unused."""
    found = False
    for comment in comments:
        if comment.speaks_for(finding):
            trusted = trust.current().believes(comment.span, comment.lines, finding)
            found = found or trusted
            if silenced is not None:
                silenced.append(Silenced(finding, comment, trusted))
    return found


def _unused(comment: Ignore, settings: Settings, profiles: dict[str, str]) -> list[Finding]:
    if not comment.patterns:
        return [
            own.finding(
                UNUSED_IGNORE,
                comment.span,
                "the ignore names no rule",
                "write the rule's id in brackets: ignore[vllm/some-rule] why",
                settings,
            )
        ]
    found: list[Finding] = []
    for pattern, span in comment.patterns:
        if pattern in comment.used:
            continue
        area = pattern.endswith("/*") and any(rule.startswith(pattern[:-1]) for rule in profiles)
        if pattern not in profiles and not area:
            found.append(
                own.finding(
                    UNUSED_IGNORE, span, f"there is no rule {pattern}", "correct the id (servelint rules lists them)", settings
                )
            )
        elif area or settings.wants(pattern, profiles.get(pattern, "default")):
            found.append(
                own.finding(UNUSED_IGNORE, span, f"the ignore of {pattern} silences nothing here", "delete it", settings)
            )
    return found
