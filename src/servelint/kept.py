"""What was made of the parts of a text, kept for the text that the next edit makes of it.

In an editor most of a text stays as it is while a line is typed. A part before or behind the edit is moved, and with it the
place of each character that was read of it (servelint.source.Segment): what was worked out of it need not be made again.
"""

from __future__ import annotations

from servelint.source import Segment, Source, Span
from servelint.text import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from servelint.readers.again import Command
    from servelint.shell.calls import Call
    from servelint.shell.syntax import Script

    Site: TypeAlias = tuple[Source | Segment, int, int]


class Part:
    """Characters of a text that were read together: a statement of a script, a function's body.

    text: the characters;  made: what the reader has made of them
    """

    __slots__ = ("_segment", "made", "text")

    def __init__(self, source: Source, start: int, end: int) -> None:
        self._segment = Segment(source, start)
        self.text = Text.on(self._segment, source.text[start:end])
        self.made: object = None

    def move(self, source: Source, start: int) -> None:
        """Say that they stand elsewhere now: so does all that was made of them."""
        self._segment.source, self._segment.base = source, start


class Kept:
    """The parts of one text as the last reading has used them, and as this one does; likewise its commands."""

    __slots__ = ("_behind", "_by", "_called", "_calls", "_commands", "_known", "_lines", "_new", "_old", "_source", "_start")

    def __init__(self) -> None:
        self._source: Source | None = None
        self._old: dict[tuple[int, int], Part] = {}
        self._new: dict[tuple[int, int], Part] = {}
        self._known: dict[Site, list[Command]] = {}
        self._commands: dict[Site, list[Command]] = {}
        self._called: dict[Script, list[Call]] = {}
        self._calls: dict[Script, list[Call]] = {}
        self._start = self._behind = self._by = 0
        self._lines = False

    def turn(self, source: Source, edit: tuple[int, int, int] | None, *, lines: bool = False) -> None:
        """Turn to a text, which is read next.

        edit:  the range of the text before it that was replaced, and by how many characters; None if that is not known
        lines: whether the number of lines before some of it has changed
        """
        self._source = source
        self._lines = lines
        self._old, self._new = self._new if edit is not None else {}, {}
        self._known, self._commands = self._commands if edit is not None else {}, {}
        self._called, self._calls = self._calls if edit is not None else {}, {}
        if edit is not None:
            start, end, count = edit
            self._start, self._behind, self._by = start, start + count, count - (end - start)

    def part(self, start: int, end: int) -> Part:
        """The part between two offsets: the one of before, where it is untouched."""
        source = self._source
        if source is None:
            raise ValueError("of no text")
        key = start, end
        found = self._new.get(key)
        if found is None:
            if end <= self._start:
                found = self._old.get(key)
            elif start >= self._behind:
                found = self._old.get((start - self._by, end - self._by))
            if found is not None:
                found.move(source, start)
            else:
                found = Part(source, start, end)
            self._new[key] = found
        return found

    def breaks(self, start: int, end: int) -> bool:
        """Whether the edit may have put characters between two offsets of the text on other lines than each other."""
        return self._lines and start < self._behind and end > self._start

    def commands_at(self, site: Span) -> list[Command]:
        """The commands that stood at a place of a part."""
        key = site.of, site.low, site.high
        return [*self._commands.get(key, ()), *self._known.get(key, ())]

    def add_command(self, site: Span, command: Command) -> None:
        """Note a command of this text."""
        found = self._commands.setdefault((site.of, site.low, site.high), [])
        if command not in found:
            found.append(command)

    def calls_of(self, script: Script) -> list[Call]:
        """The calls of a function, whose body is a script."""
        return [*self._calls.get(script, ()), *self._called.get(script, ())]

    def add_call(self, script: Script, call: Call) -> None:
        """Note a call in this text."""
        found = self._calls.setdefault(script, [])
        if call not in found:
            found.append(call)
