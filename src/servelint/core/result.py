"""What a check of files found: findings, errors, launches, and suppressions."""

from __future__ import annotations

from servelint.core.finding import Finding
from servelint.core.launch import Launch
from servelint.core.problem import Problem
from servelint.core.source import Source, Span


class Ignore:
    """One suppression comment.

    Attributes:
        span: The comment.
        lines: The lines that it applies to.
        patterns: Rule ids or areas (`vllm/*`), with their spans.
        used: The patterns that suppressed a finding.
    """

    __slots__ = ("lines", "patterns", "span", "used")

    def __init__(self, span: Span, lines: tuple[int, ...], patterns: list[tuple[str, Span]]) -> None:
        self.span = span
        self.lines = lines
        self.patterns = patterns
        self.used: set[str] = set()

    def speaks_for(self, finding: Finding) -> bool:
        """Whether the comment applies to a finding; if so, its pattern is noted as used."""
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
    """A finding that a comment applies to, and whether the comment counts (servelint.core.trust)."""

    __slots__ = ("comment", "finding", "trusted")

    def __init__(self, finding: Finding, comment: Ignore, trusted: bool) -> None:
        self.finding = finding
        self.comment = comment
        self.trusted = trusted


class Report:
    """What a check found.

    Attributes:
        findings: By path, then by place.
        errors: What could not be read or parsed.
        notes: Files left unread on purpose: those outside of the project, which are taken as unknown, and large ones in which
            nothing starts an engine.
        files: How many files were read.
        launches: The launches in them.
        sources: The files that were parsed.
        paths: The files that were read, where they are files.
        silenced: Findings that comments suppress.
        known: How many findings a baseline accepts; they are not in `findings`.
        unchanged: How many findings are of code that the change does not touch; they are not in `findings`.
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
