"""Positions as the protocol counts them: lines from 0, columns in code units of the encoding that was agreed on."""

from __future__ import annotations

from lsprotocol import types

from servelint.core.source import Source, Span
from servelint.report.places import utf8, utf16

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LENGTHS: dict[str, Callable[[str], int]] = {"utf-8": utf8, "utf-16": utf16, "utf-32": len}


class Positions:
    """Converts between offsets of a text and positions. encoding: "utf-8", "utf-16" or "utf-32"

    >>> text = Source("a.sh", "x = \\N{GRINNING FACE}y\\n")
    >>> Positions("utf-16").position(text, 5).character, Positions("utf-8").position(text, 5).character
    (6, 8)
    """

    __slots__ = ("_length", "encoding")

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding
        self._length = _LENGTHS[encoding]

    def position(self, source: Source, offset: int) -> types.Position:
        """The position of an offset; between CR and LF, where none is, it is the line's end."""
        if source.text[max(offset - 1, 0) : offset + 1] == "\r\n":
            offset -= 1
        line, column = source.position(offset)
        return types.Position(line - 1, self._length(source.text[offset - column + 1 : offset]))

    def range(self, source: Source, start: int, end: int) -> types.Range:
        return types.Range(self.position(source, start), self.position(source, end))

    def of_span(self, span: Span) -> types.Range:
        return self.range(span.source, span.start, span.end)

    def offset(self, source: Source, position: types.Position) -> int:
        """The offset of a position; behind the end of a line it is the line's end, behind the last line the text's."""
        starts = source.line_starts
        if position.line >= len(starts):
            return len(source.text)
        start = starts[position.line]
        text = source.line_text(position.line + 1)
        if text.isascii() or self._length is len:
            return start + min(position.character, len(text))
        units = 0
        for index, char in enumerate(text):
            if units >= position.character:
                return start + index
            units += self._length(char)
        return start + len(text)

    def span(self, source: Source, range: types.Range) -> Span:
        start = self.offset(source, range.start)
        return Span(source, start, max(start, self.offset(source, range.end)))
