"""What is known of one text: its launches, its findings, and what could not be read of it."""

from __future__ import annotations

from servelint.core.finding import Finding
from servelint.core.launch import Launch
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.judge.judging import judge
from servelint.lint import add_source, settle
from servelint.readers import mentions_engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.lsp.remembering import Memory


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


def analyse(source: Source, settings: Settings, neighbours: Neighbours, memory: Memory | None = None) -> Analysis:
    """Lint a text as a file at its path would be linted. memory: of the text as it was before"""
    report = Report()
    if mentions_engine(source.text.encode("utf-8", "replace")):
        if memory is not None:
            memory.begin(source, settings)
        add_source(report, source, settings, neighbours, memory.judge if memory is not None else judge)
        settle(report)
        for finding in report.findings:
            _fix_places(finding)
    return Analysis(source, settings, report.launches, report.findings, report.errors)


def _fix_places(finding: Finding) -> None:
    """Have it stay where it is: its launch may move with the next edit of the text."""
    finding.span = finding.span.fixed
    for place in finding.related:
        place.span = place.span.fixed
