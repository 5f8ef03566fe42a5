"""What is known of one text: its launches, its findings, and what could not be read of it."""

from __future__ import annotations

from servelint.finding import Finding
from servelint.launch import Launch
from servelint.linter import Report, add_source, settle
from servelint.problem import Problem
from servelint.readers import mentions_engine
from servelint.readers.neighbours import Neighbours
from servelint.settings import Settings
from servelint.source import Source


class Analysis:
    """findings: as `servelint check` of a file with this text gives them, in the same order

    problems: what could not be read or parsed, of this text or of files beside it
    """

    __slots__ = ("findings", "launches", "problems", "settings", "source")

    def __init__(
        self, source: Source, settings: Settings, launches: list[Launch], findings: list[Finding], problems: list[Problem]
    ) -> None:
        self.source = source
        self.settings = settings
        self.launches = launches
        self.findings = findings
        self.problems = problems


def analyse(source: Source, settings: Settings, neighbours: Neighbours) -> Analysis:
    """Lint a text as a file at its path would be linted."""
    report = Report()
    if mentions_engine(source.text.encode("utf-8", "replace")):
        add_source(report, source, settings, neighbours)
        settle(report)
    return Analysis(source, settings, report.launches, report.findings, report.errors)
