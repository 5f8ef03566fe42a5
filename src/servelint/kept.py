"""What was made of the parts of a text, kept for the text that the next edit makes of it.

In an editor most of a text stays as it is while a line is typed. A part before or behind the edit is moved, and with it the
place of each character that was read of it (servelint.source.Segment): what was worked out of it need not be made again.
"""

from __future__ import annotations

from servelint.source import Segment, Source
from servelint.text import Text


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
    """The parts of one text as the last reading has used them, and as this one does."""

    __slots__ = ("_behind", "_by", "_new", "_old", "_source", "_start")

    def __init__(self) -> None:
        self._source: Source | None = None
        self._old: dict[tuple[int, int], Part] = {}
        self._new: dict[tuple[int, int], Part] = {}
        self._start = self._behind = self._by = 0

    def turn(self, source: Source, edit: tuple[int, int, int] | None) -> None:
        """Turn to a text, which is read next.

        edit: the range of the text before it that was replaced, and by how many characters; None if that is not known
        """
        self._source = source
        self._old, self._new = self._new if edit is not None else {}, {}
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
