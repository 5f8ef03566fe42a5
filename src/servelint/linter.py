"""The way of a file through a check: read, judged, suppressed."""

from __future__ import annotations

import os

from servelint.discover import files, read_file
from servelint.finding import Finding
from servelint.judge import judge
from servelint.launch import Launch
from servelint.problem import Problem
from servelint.readers import read
from servelint.readers.neighbours import Neighbours
from servelint.rules.rule import SEVERITIES
from servelint.settings import Settings
from servelint.source import Source
from servelint.suppress import suppress


class Report:
    """What a check found.

    findings: by path, then by place;  errors: what could not be read or parsed
    files:    how many files were looked at;  launches: those that were found;  sources: those that were parsed
    """

    __slots__ = ("errors", "files", "findings", "launches", "sources")

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.errors: list[Problem] = []
        self.files = 0
        self.launches: list[Launch] = []
        self.sources: list[Source] = []


def check(paths: list[str], settings: Settings | None = None) -> Report:
    """Lint files and folders. One that cannot be read is an error in the report; the others are linted."""
    settings = settings or Settings()
    report = Report()
    for path in files(paths, report.errors):
        report.files += 1
        source = read_file(path)
        if isinstance(source, Problem):
            report.errors.append(source)
        elif source is not None:
            add_source(report, source, settings, beside(path))
    return report


def beside(path: str) -> Neighbours:
    """The neighbours of a file."""
    folder = os.path.dirname(path)
    return Neighbours(folder or ".", folder)


def add_source(report: Report, source: Source, settings: Settings, neighbours: Neighbours) -> None:
    """Lint one source into a report."""
    report.sources.append(source)
    try:
        reading = read(source, neighbours)
        found = check_launches(source, reading.launches, settings)
    except Exception as error:  # a bug of ours must not cost the findings in other files
        what = f"servelint failed on this file, which is a bug: {type(error).__name__}: {error}"
        report.errors.append(Problem(source.path, what))
        return
    report.errors += reading.problems
    report.launches += reading.launches
    report.findings += found


def check_launches(source: Source, launches: list[Launch], settings: Settings) -> list[Finding]:
    """The findings of one source's launches, in the order of their places; the same finding twice counts once."""
    found: list[Finding] = []
    seen: set[tuple[str, object, str]] = set()
    for launch in launches:
        for finding in judge(launch, settings):
            key = (finding.rule, finding.span, finding.message)
            if key not in seen:
                seen.add(key)
                found.append(finding)
    found = suppress(source, found, settings)
    least = SEVERITIES.index(settings.severity)
    kept = [finding for finding in found if SEVERITIES.index(finding.severity) >= least]
    return sorted(kept, key=lambda finding: (finding.span.source is not source, finding.span.start, finding.rule))
