"""Where a script's words are cut from, if its text is one that is edited: from its statements, which are kept."""

from __future__ import annotations

from bisect import bisect_right

from servelint.core.source import Span
from servelint.core.text import Text
from servelint.kept import Kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.tree import Node


class Ground:
    """The same characters as those of a text, each of a statement in that one's part. Offsets are those of the whole text."""

    __slots__ = ("_ends", "_kept", "_starts", "_text")

    def __init__(self, text: Text, kept: Kept, statements: list[Node]) -> None:
        self._text = text
        self._kept = kept
        self._starts = [node.start_byte for node in statements]
        self._ends = [node.end_byte for node in statements]

    def cut(self, start: int, end: int) -> Text:
        """As Text.cut."""
        at = bisect_right(self._starts, start) - 1
        if at < 0 or not start < end <= self._ends[at]:
            return self._text.cut(start, end)
        low = self._starts[at]
        return self._kept.part(low, self._ends[at]).text.cut(start - low, end - low)

    def extent(self, start: int, end: int) -> Span | None:
        """As Text.extent."""
        return self.cut(start, end).extent()


def kept_of(text: Text) -> Kept | None:
    """What is kept of a text that is edited; None for any other, and for what is not the whole of one."""
    span = text.pieces[0].span if len(text.pieces) == 1 and text.pieces[0].verbatim else None
    kept = span.source.kept if span is not None else None
    if span is None or kept is None or not kept.is_of(span.source):
        return None
    return kept if len(text.flat) == len(span.source.text) else None
