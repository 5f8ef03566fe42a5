"""What was found of the launches of a text before it was changed, for those that the change has left alone.

To judge a launch takes longer than to see that it is the one of before: the same words, variables and settings, each character
where the change has moved it.
"""

from __future__ import annotations

from copy import copy

from servelint.core.finding import Finding, Related
from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.core.text import Text
from servelint.files.directives import name_gpus
from servelint.judge.checks.model_too_new import names_transformers
from servelint.judge.judging import judge
from servelint.kept import Kept
from servelint.launch_walk import LaunchWalk
from servelint.lsp.shifting import Standing, differing, moved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.syntax.shell.files import Opened


_MOVING_AT_MOST = 32
"""Launches that move with their text of which it is kept what was found."""


class Judged:
    """A launch as it was, and what was found.

    values: what it consists of but for places, None if that is not held against another one
    places: offsets of its text, of each place the start and the end
    asked:  the files that it was judged by, and those that were looked for
    moving: what was found, if its places move with those of the launch; None if they do not
    """

    __slots__ = ("asked", "findings", "launch", "moving", "places", "values")

    def __init__(self, launch: Launch, asked: list[Text], findings: list[Finding]) -> None:
        self.values: list[object] | None = None
        self.places: list[int] = []
        self.asked = asked
        self.findings: list[Finding] = []
        self.launch = launch
        self.moving: list[Finding] | None = None
        moves = launch.moves and launch.gpu_site is None and all(map(_moves, findings))
        if moves and not _opens(launch, asked):
            self.moving = [_copied(finding) for finding in findings]
        else:
            walk = _walked(launch, asked)
            self.values, self.places = walk.values, walk.places
            self.findings = [_copied(finding, fixed=True) for finding in findings]

    def moved(self, launch: Launch) -> list[Finding] | None:
        """What was found, if a launch is this one, which was moved (servelint.readers.again)."""
        mine = self.launch
        same = mine.argv is launch.argv and mine.env is launch.env and mine.site is launch.site
        same = same and mine.container is launch.container and mine.release is launch.release and mine.cut is launch.cut
        same = same and mine.gpu == launch.gpu and mine.gpu_count == launch.gpu_count and launch.gpu_site is None
        if not same or self.moving is None or _opens(launch, self.asked):
            return None
        found = [_copied(finding) for finding in self.moving]
        for finding in found:
            finding.launch = launch
        return found


def _opens(launch: Launch, paths: list[Text]) -> bool:
    """Whether one of some files is there."""
    return launch.open is not None and any(launch.open(path) is not None for path in paths)


class Asking:
    """Opens files for a launch. asked: their paths"""

    __slots__ = ("_open", "asked")

    def __init__(self, open: Callable[[Text], Opened | None]) -> None:
        self._open = open
        self.asked: list[Text] = []

    def __call__(self, path: Text) -> Opened | None:
        if all(path.flat != one.flat for one in self.asked):
            self.asked.append(path)
        return self._open(path)


class Memory:
    """Judges the launches of one text after the other, each an edit of the one before."""

    __slots__ = ("_before", "_change", "_kept", "_known", "_moving", "_new", "_settings", "_source")

    def __init__(self) -> None:
        self._source: Source | None = None
        self._settings: Settings | None = None
        self._known: dict[tuple[str, str], list[Judged]] = {}
        self._new: dict[tuple[str, str], list[Judged]] = {}
        self._before: Source | None = None
        self._change: Change | None = None
        self._kept = Kept()
        self._moving: list[Judged] = []

    def forget(self) -> None:
        """Know nothing of before: something outside of the text has changed."""
        self._source = None

    def begin(self, source: Source, settings: Settings) -> None:
        """Turn to a text."""
        before, self._source = self._source, source
        same = before is not None and settings is self._settings
        same = same and before is not None and names_transformers(before.text) == names_transformers(source.text)
        self._settings = settings
        self._known, self._new = self._new if same else {}, {}
        if not same:
            self._moving.clear()
        self._before = before if same else None
        self._change = change = Change(before.text, source.text) if before is not None and same else None
        self._kept.turn(source, change.edit if change is not None else None, lines=change is not None and change.lines)
        source.kept = self._kept

    def judge(self, launch: Launch, settings: Settings) -> list[Finding]:
        """As servelint.judge.judging does."""
        name_gpus(launch, settings)
        if launch.source is not self._source:
            return judge(launch, settings)
        for entry in self._moving:
            found = entry.moved(launch)
            if found is not None:
                self._moving.remove(entry)
                self._moving.append(entry)
                return found
        findings, asked = self._again(launch)
        if findings is None:
            findings, asked = _judged(launch, settings)
        if all(path.known for path in asked):  # the same path, wherever it stands
            entry = Judged(launch, asked, findings)
            if entry.moving is None:
                self._new.setdefault((launch.engine, launch.name), []).append(entry)
            else:
                self._moving.append(entry)
                del self._moving[:-_MOVING_AT_MOST]
        return findings

    def _again(self, launch: Launch) -> tuple[list[Finding] | None, list[Text]]:
        """What was found of the launch before, if it and all that it was judged by is as it was; and the files of that."""
        change, before = self._change, self._before
        if change is None or before is None:
            return None, []
        for entry in self._known.get((launch.engine, launch.name), ()):
            if entry.values is None:
                continue
            walk = _walked(launch, entry.asked)
            if entry.values == walk.values and change.moves(entry.places, walk.places):
                found = moved(entry.findings, change.standing, before, launch.source)
                if len(found) == len(entry.findings):
                    for finding in found:
                        finding.launch = launch
                    return found, entry.asked
        return None, []


def _judged(launch: Launch, settings: Settings) -> tuple[list[Finding], list[Text]]:
    """The findings of a launch, and the files that were asked for."""
    opens = launch.open
    if opens is None:
        return judge(launch, settings), []
    launch.open = asking = Asking(opens)
    try:
        return judge(launch, settings), asking.asked
    finally:
        launch.open = opens


class _Files(LaunchWalk):
    """Goes through the files as well that a launch is judged by."""

    __slots__ = ()

    def files(self, launch: Launch, paths: list[Text]) -> None:
        for path in paths:
            opened = launch.open(path) if launch.open is not None else None
            self.values += (path.flat, opened is None)
            if opened is not None:
                self.values += (opened.path, opened.own)
                self.text(opened.text)


def _walked(launch: Launch, asked: list[Text]) -> _Files:
    walk = _Files(launch.source)
    walk.launch(launch)
    walk.files(launch, asked)
    return walk


class Change:
    """How a text became another one: a range was replaced.

    standing: of the text before;  lines: whether the number of lines before some of it has changed
    """

    __slots__ = ("_count", "_end", "_start", "lines", "standing")

    def __init__(self, before: str, after: str) -> None:
        start, end, _ = differing(before, after)
        self._start, self._end = start, end
        self._count = len(after) - len(before) + end - start
        self.lines = "\n" in before[start:end] or "\n" in after[start : start + self._count]
        self.lines = self.lines or "\r" in before[start:end] or "\r" in after[start : start + self._count]
        self.standing = Standing(len(before))
        self.standing.edit(start, end, self._count)

    @property
    def edit(self) -> tuple[int, int, int]:
        """The range that was replaced, and by how many characters."""
        return self._start, self._end, self._count

    def moves(self, before: list[int], after: list[int]) -> bool:
        """Whether it moved places, pairs of offsets, to where they are, without touching one of them."""
        if len(before) != len(after):
            return False
        start, end, by = self._start, self._end, self._count - self._end + self._start
        if self.lines and before and min(before) < end and max(before) > start:
            return False  # what was on one line may be on two
        for index in range(0, len(before), 2):
            first, last = before[index], before[index + 1]
            if last < start:
                if after[index] != first or after[index + 1] != last:
                    return False
            elif first > end:
                if after[index] != first + by or after[index + 1] != last + by:
                    return False
            else:
                return False
        return True


def _copied(finding: Finding, *, fixed: bool = False) -> Finding:
    """A finding of which nothing is taken away later (servelint.filters.masking). fixed: which stays where it is"""
    one = copy(finding)
    one.related = [Related(place.span.fixed if fixed else place.span, place.message) for place in finding.related]
    one.fix = None
    if fixed:
        one.span = finding.span.fixed
    return one


def _moves(finding: Finding) -> bool:
    """Whether all places of a finding move with the parts of the text that they stand in."""
    spans = [finding.span, *[place.span for place in finding.related]]
    return not any(isinstance(part, Source) and part.kept is not None for span in spans for part, _, _ in span.parts)
