"""What a check of files found: findings, errors, launches, and what comments in the files suppress."""

from __future__ import annotations

from servelint.core.finding import Finding
from servelint.core.launch import Launch
from servelint.core.problem import Problem
from servelint.core.source import Source, Span


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


class Silenced:
    """A finding for which a comment speaks, and whether that counts."""

    __slots__ = ("comment", "finding", "trusted")

    def __init__(self, finding: Finding, comment: Ignore, trusted: bool) -> None:
        self.finding = finding
        self.comment = comment
        self.trusted = trusted


class Report:
    """What a check found.

    findings: by path, then by place;  errors: what could not be read or parsed
    notes:    what was left unread on purpose, and is taken as unknown: files outside of the project
    files:    how many files were looked at;  launches: those that were found;  sources: those that were parsed
    paths:    the files that were looked at, where they are files
    silenced: what comments speak for
    known:    how many findings a baseline accepts, unchanged: how many are of older code; those are not in findings
    """

    __slots__ = ("errors", "files", "findings", "known", "launches", "notes", "paths", "silenced", "sources", "unchanged")

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.errors: list[Problem] = []
        self.notes: list[Problem] = []
        self.files = 0
        self.launches: list[Launch] = []
        self.sources: list[Source] = []
        self.paths: list[str] = []
        self.silenced: list[Silenced] = []
        self.known = 0
        self.unchanged = 0

    def add(self, other: Report) -> None:
        """Add what another report found."""
        self.findings += other.findings
        self.errors += other.errors
        self.notes += other.notes
        self.files += other.files
        self.launches += other.launches
        self.sources += other.sources
        self.paths += other.paths
        self.silenced += other.silenced
