"""Findings of launches, reused from one state of a text to the next where nothing that they depend on has changed.

To judge a launch takes 0.5 ms if its release is pinned and up to 10 ms if it is not, as every release that accepts its options
is tried. Most edits leave most launches of a file alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable
from copy import copy
from typing import TypeAlias

from servelint.core.finding import Finding, Related
from servelint.core.launch import Branch, Launch, OpenedFile
from servelint.core.run import Run, current
from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines import stack
from servelint.files.directives import name_gpus
from servelint.judge.judging import judge

_UNUSED_AT_MOST = 16
"""Texts for which an entry is kept that none of them uses: what is typed is often deleted again."""
_NOT_COMPARED = ("beside", "files", "later", "meanwhile", "nodes", "open", "source")
"""Fields that open files, which a key opens itself, that find what no finding needs, and the
file of a launch, which is that of its places."""
_HERE = object()
"""Stands for a place in the launch's own file."""
_SCALARS = frozenset((str, int, float, bool, type(None)))

Place: TypeAlias = "tuple[str | None, tuple[int, int], tuple[int, int]]"
"""Path of the file, None for the launch's own, then its start and end: the number of a block of lines and an offset in it."""


class LaunchKey:
    """Everything that the judgement of a launch depends on, but for the settings, as one value that can be compared.

    All fields of the launch count: words, environment, release claim, container. Of each text its characters count, which of
    them are unknown or a default, and where they stand. The lines in which they stand count as well, but not how far apart
    these are: lines that follow each other are a block, and a place is an offset in its block. So a launch is equal to itself
    after an edit that moved some of its blocks.

    Attributes:
        value: Equal for launches that are judged alike.
        content: Equal for launches that differ in places only.
    """

    __slots__ = ("_blocks", "_offsets", "_others", "_source", "_values", "content", "value")

    def __init__(self, launch: Launch, files: tuple[str, ...] = ()) -> None:
        """Work out the key of a launch. files: paths of the files that its judgement opens."""
        self._source = launch.source
        self._offsets: list[tuple[int, int]] = []
        self._others: dict[str, Source] = {}
        self._values: list[Hashable] = [launch.open is None]
        self._add(launch)
        if launch.nodes is not None:
            self._add([launch.nodes.kind, launch.nodes.size, launch.nodes.site, launch.nodes.gpus])
            self._add([[other is launch or other, count] for other, count in launch.nodes.parts])
        self._add(launch.beside)
        self._add(launch.meanwhile)
        for path in files:
            self._values.append(path)
            self._add(launch.open(TracedText.of(path)) if launch.open is not None else None)
        self._blocks = _blocks(self._source, self._offsets)
        text = self._source.text
        places = [(self._at(start), self._at(end)) for start, end in self._offsets]
        lines = [text[start:end] for start, end in self._blocks]
        self.content: Hashable = tuple(self._values)
        self.value: Hashable = _Hashed((self.content, tuple(places), tuple(lines)))

    def _add(self, value: object) -> None:
        values = self._values
        kind = type(value)
        if kind in _SCALARS:
            values.append(value)
        elif isinstance(value, Span):
            if value.source is self._source:
                values.append(_HERE)
                self._offsets.append((value.start, value.end))
            else:
                self._add(value.source)
                values += (value.start, value.end)
        elif isinstance(value, TracedText):
            values.append(len(value.pieces))
            for piece in value.pieces:
                values += (piece.text, piece.verbatim, piece.expression, piece.shown, piece.assumed)
                for place in (piece.span, piece.origin, piece.perhaps):
                    if place is None:
                        values.append(None)
                    else:
                        self._add(place)
        elif isinstance(value, (list, tuple)):
            values.append(len(value))
            for one in value:
                self._add(one)
        elif isinstance(value, dict):
            values.append(len(value))
            for name, one in value.items():
                values.append(name)
                self._add(one)
        elif isinstance(value, Source):
            self._others[value.path] = value
            values += (value.path, value.text)
        else:  # a launch, or a record that it has
            values.append(kind.__name__)
            for name in kind.__slots__:  # type: ignore[attr-defined]
                if name not in _NOT_COMPARED:
                    one = getattr(value, name)
                    if type(one) in _SCALARS:
                        values.append(one)
                    else:
                        self._add(one)

    def _at(self, offset: int) -> tuple[int, int] | None:
        number = bisect_right(self._blocks, (offset, len(self._source.text))) - 1
        if number < 0 or offset > self._blocks[number][1]:
            return None
        return number, offset - self._blocks[number][0]

    def place(self, span: Span) -> Place | None:
        """A place as that of an equal launch can be found by it; None if the key does not tell where it is."""
        if span.source is self._source:
            start, end = self._at(span.start), self._at(span.end)
            return (None, start, end) if start is not None and end is not None else None
        return (span.source.path, (0, span.start), (0, span.end)) if self._others.get(span.source.path) is span.source else None

    def span(self, place: Place) -> Span:
        """The place of this launch that is the same as one of an equal one."""
        path, start, end = place
        if path is not None:
            return Span(self._others[path], start[1], end[1])
        return Span(self._source, self._blocks[start[0]][0] + start[1], self._blocks[end[0]][0] + end[1])


def _blocks(source: Source, offsets: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The lines that some ranges touch, those that follow each other as one range."""
    found: list[tuple[int, int]] = []
    text, starts = source.text, source.line_starts
    for first, last in sorted(set(offsets)):
        if found and last <= found[-1][1]:
            continue
        start = starts[bisect_right(starts, first) - 1]
        end = text.find("\n", last)
        end = end if end != -1 else len(text)
        if found and start <= found[-1][1] + 1:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


class _Hashed:
    """A value of thousands of parts, with its hash, which a tuple works out anew each time."""

    __slots__ = ("_hash", "_value")

    def __init__(self, value: Hashable) -> None:
        self._value = value
        self._hash = hash(value)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and self._hash == other._hash and self._value == other._value


class _Entry:
    """Findings without their fixes, and the places of each. used: number of the last text with the launch."""

    __slots__ = ("files", "findings", "name", "places", "used")

    def __init__(self, name: tuple[str, str], files: tuple[str, ...], key: LaunchKey, findings: list[Finding]) -> None:
        self.name = name
        self.files = files
        self.used = 0
        self.findings = [_copied(finding) for finding in findings]
        self.places = [[key.place(span) for span in _spans(finding)] for finding in findings]

    def at(self, launch: Launch, key: LaunchKey) -> list[Finding]:
        """The findings at the place of an equal launch."""
        found = [_copied(finding) for finding in self.findings]
        for finding, places in zip(found, self.places, strict=True):
            finding.launch = launch
            spans = [key.span(place) for place in places if place is not None]
            finding.span = spans[0]
            moving: list[Related | Branch] = [*finding.related, *finding.branches]
            for placed, span in zip(moving, spans[1:], strict=True):
                placed.span = span
        return found


class LaunchCache:
    """Judges the launches of one document, and reuses what it found for those that an edit leaves as they are."""

    __slots__ = ("_entries", "_files", "_installed", "_text")

    def __init__(self) -> None:
        self._entries: dict[Hashable, _Entry] = {}
        self._files: dict[tuple[str, str], dict[tuple[str, ...], None]] = {}
        self._text = 0
        self._installed: tuple[object, ...] = ()

    def begin(self, source: Source) -> None:
        """Note that the launches of another text follow."""
        self._text += 1
        self._installed = stack.installed(source.text)
        self._entries = {key: one for key, one in self._entries.items() if self._text - one.used <= _UNUSED_AT_MOST}
        self._files = {}
        for entry in self._entries.values():
            self._files.setdefault(entry.name, {})[entry.files] = None

    def judge(self, launch: Launch, settings: Settings) -> list[Finding]:
        """Find what servelint.judge.judging finds of a launch."""
        name_gpus(launch, settings)
        if launch.folder is not None:
            return judge(launch, settings)  # what it names is read from the disk
        name = launch.engine, launch.name
        for files in self._files.get(name, ()):
            with Run(launch.source.path):  # what is past a bound is reported when the launch is judged
                key = LaunchKey(launch, files)
            entry = self._entries.get((key.value, self._installed, settings))
            if entry is not None:
                entry.used = self._text
                return entry.at(launch, key)
        paths: list[TracedText] = []
        with Run(launch.source.path) as run:
            findings = _judged(launch, settings, paths)
        if (around := current()) is not None:
            for problem in run.problems:
                around.report(problem)
        if not run.problems and all(path.known for path in paths):
            files = tuple(dict.fromkeys([path.flat for path in paths]))
            key = LaunchKey(launch, files)
            entry = _Entry(name, files, key, findings)
            if not any(place is None for places in entry.places for place in places):
                entry.used = self._text
                self._entries[key.value, self._installed, settings] = entry
                self._files.setdefault(name, {})[files] = None
        return findings


def _judged(launch: Launch, settings: Settings, paths: list[TracedText]) -> list[Finding]:
    """The findings of a launch. paths: takes those of the files that are opened for it."""
    opened = launch.open
    if opened is None:
        return judge(launch, settings)

    def noting(path: TracedText) -> OpenedFile | None:
        paths.append(path)
        return opened(path)

    launch.open = noting
    try:
        return judge(launch, settings)
    finally:
        launch.open = opened


def _spans(finding: Finding) -> list[Span]:
    return [finding.span, *[one.span for one in finding.related], *[one.span for one in finding.branches]]


def _copied(finding: Finding) -> Finding:
    """A finding of which nothing is taken away later (servelint.filters.masking)."""
    one = copy(finding)
    one.related = [Related(place.span, place.message) for place in finding.related]
    one.branches = tuple([Branch(place.span, place.taken, place.assumed) for place in finding.branches])
    one.fix = None
    return one
