"""What a gate lets pass: findings that a baseline knows, and those of code that nobody changed."""

from __future__ import annotations

import argparse
import os

from servelint.cli.told import tell
from servelint.core.result import Report
from servelint.core.source import Source
from servelint.files.settings.files import SettingsFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date

    from servelint.core.finding import Finding
    from servelint.files.git import Changes
    from servelint.filters.baseline.entry import Entry
    from servelint.filters.baseline.file import Baseline


class Gate:
    """baseline: None where there is none;  known: what it has accepted

    since: the revision whose code passes, and what has changed since; None for none
    """

    __slots__ = ("_asked", "_changes", "_revision", "baseline", "known")

    def __init__(self, asked: SettingsFiles, baseline: Baseline | None, since: tuple[str, Changes] | None) -> None:
        self._asked = asked
        self._revision = since[0] if since is not None else None
        self._changes: Changes | None = since[1] if since is not None else None
        self.baseline = baseline
        self.known: list[tuple[Finding, Entry]] = []

    def narrow(self, report: Report) -> None:
        """Take from a report what may pass. What is wrong with the baseline is in its errors; its sound entries count.

        Files may change between one report and the next, so what has changed is asked anew for each.
        """
        told = []
        if self.baseline is not None:
            from servelint.filters.baseline import match

            report.errors[:0] = [problem for problem in self.baseline.problems if problem not in report.errors]
            found = match.apply(report, self.baseline, self._asked, _today())
            told, self.known = found.told, found.known
        if self._revision is not None:
            from servelint.files import git
            from servelint.filters import changed

            changed.narrow(report, self._changes or git.since(self._revision), self._asked)
            self._changes = None
        report.findings += told


def of(arguments: argparse.Namespace, asked: SettingsFiles, usage: argparse.ArgumentParser) -> Gate | None:
    """The gate that options and settings ask for, if any; ends with a usage error where they make no sense."""
    path = asked.value("baseline")
    revision = arguments.changed_since
    if path is None and revision is None:
        return None
    since = None
    if revision is not None:
        if arguments.command is not None or "-" in arguments.paths:
            usage.error("--changed-since is for files")
        from servelint.files import git

        try:
            since = revision, git.since(revision)
        except git.GitError as error:
            usage.error(f"--changed-since: {error}")
    baseline = None
    if path is not None and not arguments.write_baseline:
        from servelint.files.settings.find import shown
        from servelint.filters.baseline import file

        baseline = file.read(shown(path))
    return Gate(asked, baseline, since)


def write(arguments: argparse.Namespace, asked: SettingsFiles, report: Report, usage: argparse.ArgumentParser) -> int:
    """Write the findings of a report as known ones, with the reasons that the file gave before; gives the exit status."""
    from servelint.cli import files, options
    from servelint.files.settings.find import shown
    from servelint.filters.baseline import file
    from servelint.filters.baseline.write import renew

    path = shown(asked.value("baseline") or file.NAME)
    old = file.read(path) if os.path.lexists(path) else file.Baseline(Source(path, ""))
    problems = [*old.problems, *report.errors]
    if not old.problems:
        new = renew(report, old, asked, _today())
        problem = files.write(path, file.written(new.entries).encode("utf-8", "backslashreplace"))
        if problem is not None:
            usage.error(f"{path}: {problem}")
        count = sum(entry.count for entry in new.entries)
        parts = [
            f"{number} {word}" for number, word in ((new.added, "new"), (new.gone, "gone"), (new.moved, "moved")) if number
        ]
        text = f"servelint: wrote {path}: {count} known {'finding' if count == 1 else 'findings'}"
        if not arguments.quiet:
            tell(text + (f" ({', '.join(parts)})" if parts else ""))
    for one in problems:
        tell(one)
    return options.status(report) or (2 if problems else 0)


def _today() -> date:
    from datetime import date

    return date.today()
