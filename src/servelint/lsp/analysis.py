"""What is known of a text: its launches, its findings, and what could not be read of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event

from servelint.core.finding import Finding
from servelint.core.launch import Launch
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.judge.judging import judge
from servelint.lint import add_source, settle
from servelint.lsp.launch_cache import LaunchCache
from servelint.readers import mentions_engine
from servelint.report.extent import unjudged


@dataclass(slots=True, eq=False)
class Analysis:
    """What is known of one text.

    Attributes:
        source: The text.
        settings: Those that it was judged by.
        launches: Its launches.
        findings: As `servelint check` of a file with this text gives them, in the same order.
        problems: What could not be read or parsed, of this text or of files beside it.
        unjudged: Images whose containers are not judged.
    """

    source: Source
    settings: Settings
    launches: list[Launch]
    findings: list[Finding]
    problems: list[Problem]
    unjudged: list[Problem] = field(default_factory=list)

    @property
    def broken(self) -> bool:
        """Whether the text could not be parsed."""
        return any(problem.path == self.source.path and not problem.own and not problem.note for problem in self.problems)


def analyse(
    source: Source, settings: Settings, neighbours: Neighbours, cache: LaunchCache | None = None, stop: Event | None = None
) -> Analysis:
    """Lint a text as a file at its path would be linted.

    Args:
        source: The text.
        settings: Those of its file.
        neighbours: Reads the files beside it.
        cache: Findings of earlier states of the text.
        stop: Ends the analysis, before the next launch is judged.

    Raises:
        GivenUp: `stop` was set.
    """
    report = Report()

    def judging(launch: Launch, own: Settings) -> list[Finding]:
        if stop is not None and stop.is_set():
            raise GivenUp
        return cache.judge(launch, own) if cache is not None and launch.source is source else judge(launch, own)

    if mentions_engine(source.text.encode("utf-8", "replace")):
        if cache is not None:
            cache.begin(source)
        add_source(report, source, settings, neighbours, judging)
        settle(report)
    problems = [*report.errors, *[one for one in report.notes if one.note != "unjudged"]]
    return Analysis(source, settings, report.launches, report.findings, problems, unjudged(report))


class GivenUp(BaseException):
    """Raised in an analysis whose result is no longer needed. No error: what handles exceptions of readers lets it pass."""
