"""What was made of the parts of a text, kept for the text that the next edit makes of it.

In an editor most of a text stays as it is while a line is typed. A part before or behind the edit is moved, and with it the
place of each character that was read of it (servelint.core.source.Segment): what was worked out of it need not be made again.
"""

from __future__ import annotations

from typing import TypeVar

from servelint.core.source import Segment, Source
from servelint.core.text import EMPTY, Text

_T = TypeVar("_T")
TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.readers.again import Command
    from servelint.syntax.shell.calls import Call

_KEPT_AT_MOST = 8
"""Commands at one place, and calls of one function, that are kept: as many as a loop, or a few texts in turn, make."""


class Part(Segment):
    """Characters of a text that were read together: a statement of a script, a function's body.

    text:  the characters;  made: what the reader has made of them
    calls: of the function whose body they are;  commands: that stand in them, by their offsets. The last one first
    inner: what was made of the characters between two offsets
    gone:  a text did without it, and none will have it again
    """

    __slots__ = ("_commands", "calls", "gone", "inner", "made", "text")

    def __init__(self, source: Source, start: int, end: int) -> None:
        super().__init__(source, start)
        self.text = Text.on(self, source.text[start:end])
        self.made: object = None
        self.inner: dict[tuple[int, int], object] = {}
        self.gone = False
        self.calls: list[Call] = []
        self._commands: dict[tuple[int, int], list[Command]] = {}

    def forget(self) -> None:
        """Let go of all that was made of it, which has it for its place."""
        self.gone = True
        self.text = EMPTY
        self.made = None
        self.inner.clear()
        self.calls.clear()
        self._commands.clear()

    def add_call(self, call: Call) -> None:
        """Note the call that was made last."""
        _note(self.calls, call)

    def commands(self, low: int, high: int) -> list[Command]:
        """Those that stood between two offsets."""
        return self._commands.get((low, high), [])

    def add_command(self, low: int, high: int, command: Command) -> None:
        """Note the command that was run last."""
        _note(self._commands.setdefault((low, high), []), command)


def _note(found: list[_T], last: _T) -> None:
    if found and found[0] is last:
        return
    if last in found:
        found.remove(last)
    found.insert(0, last)
    del found[_KEPT_AT_MOST:]


class Kept:
    """The parts of one text as the last reading has used them, and as this one does.

    line_edits: how many edits so far have changed the number of lines
    """

    __slots__ = ("_behind", "_by", "_lines", "_new", "_old", "_source", "_start", "line_edits")

    def __init__(self) -> None:
        self._source: Source | None = None
        self._old: dict[tuple[int, int], Part] = {}
        self._new: dict[tuple[int, int], Part] = {}
        self._start = self._behind = self._by = 0
        self._lines = False
        self.line_edits = 0

    def turn(self, source: Source, edit: tuple[int, int, int] | None, *, lines: bool = False) -> None:
        """Turn to a text, which is read next.

        edit:  the range of the text before it that was replaced, and by how many characters; None if that is not known
        lines: whether the number of lines before some of it has changed
        """
        self._source = source
        self._lines = lines
        self.line_edits += lines
        gone = [*self._old.values(), *self._new.values()]
        self._old, self._new = self._new if edit is not None else {}, {}
        used = set(map(id, self._old.values()))
        for part in gone:
            if id(part) not in used:
                part.forget()
        if edit is not None:
            start, end, count = edit
            self._start, self._behind, self._by = start, start + count, count - (end - start)

    def is_of(self, source: Source) -> bool:
        """Whether a text is the one that was turned to last: the parts of one of before stand elsewhere now."""
        return self._source is source

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
                # all that was made of it stands elsewhere now
                found.source, found.base = source, start
            else:
                found = Part(source, start, end)
            self._new[key] = found
        return found

    def breaks(self, start: int, end: int, line_edits: int) -> bool:
        """Whether edits may have put characters between two offsets of the text on other lines than each other.

        line_edits: how many there were when they were read
        """
        if line_edits == self.line_edits:
            return False
        return line_edits + 1 != self.line_edits or not self._lines or (start < self._behind and end > self._start)
