"""Sources and spans: where every character that servelint talks about stands.

Offsets count Unicode code points from the start of the text (a byte order mark is not part of it). Line and column are
derived from a newline table of our own: YAML's parser counts U+2028 and NEL as line breaks, editors do not.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, count
from operator import add

from servelint.core.secrets import Redactions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.kept import Kept
    from servelint.syntax.template_mask import Mask


class Source:
    """One file's text with the path that reports show.

    encoding: how the bytes were decoded ("utf-8", "utf-8-sig", "utf-16"); fixes write the file back the same way.
    mask:     what a template hides in a YAML text (servelint.syntax.template_mask); None where there is none
    redactions: what of the text no report prints
    kept:     what is kept of its parts from one edit to the next, if it is one that is edited
    base:     that of a segment which is all of it
    """

    __slots__ = ("_held", "_lines", "encoding", "kept", "mask", "path", "redactions", "text")

    base = 0

    def __init__(self, path: str, text: str, encoding: str = "utf-8") -> None:
        self.path = path
        self.text = text
        self.encoding = encoding
        self.mask: Mask | None = None
        self.kept: Kept | None = None
        self.redactions = Redactions()
        self._lines: list[int] | None = None
        self._held: dict[str, bool] = {}

    def __repr__(self) -> str:
        return f"Source({self.path!r}, {len(self.text)} characters)"

    @property
    def source(self) -> Source:
        """That of a segment which is all of it."""
        return self

    def holds(self, part: str) -> bool:
        """Whether the text has something in it; a large one is searched once for all launches that ask."""
        held = self._held.get(part)
        if held is None:
            held = self._held[part] = part in self.text
        return held

    @property
    def line_starts(self) -> list[int]:
        """Offsets at which lines start; a line ends at LF, at CR LF, or at a lone CR."""
        if self._lines is None:
            self._lines = _line_starts(self.text)
        return self._lines

    def position(self, offset: int) -> tuple[int, int]:
        """1-based (line, column) of an offset, the column in code points."""
        starts = self.line_starts
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """The text of a 1-based line without its line end."""
        starts = self.line_starts
        if not 1 <= line <= len(starts):
            return ""
        end = starts[line] if line < len(starts) else len(self.text)
        return self.text[starts[line - 1] : end].rstrip("\r\n")


def _line_starts(text: str) -> list[int]:
    if "\r" not in text:
        lengths = map(len, text.split("\n")[:-1])
        return [0, *map(add, accumulate(lengths), count(1))]  # each line, and the sign at its end
    ends = [
        index + 1 for index, char in enumerate(text) if char == "\n" or (char == "\r" and text[index + 1 : index + 2] != "\n")
    ]
    return [0, *ends]


class Segment:
    """A part of a source that may be moved: it stays as it is while what stands before it is edited.

    source: the one that it stands in now;  base: the offset at which it starts there
    """

    __slots__ = ("base", "source")

    def __init__(self, source: Source, base: int) -> None:
        self.source = source
        self.base = base


class Span:
    """Characters start (inclusive) to end (exclusive) of one source.

    of: the source, or the segment of it with which they move;  low, high: offsets from its base
    """

    __slots__ = ("high", "low", "of")

    def __init__(self, of: Source | Segment, low: int, high: int) -> None:
        self.of = of
        self.low = low
        self.high = high

    @property
    def source(self) -> Source:
        return self.of.source

    @property
    def start(self) -> int:
        return self.of.base + self.low

    @property
    def end(self) -> int:
        return self.of.base + self.high

    def __repr__(self) -> str:
        line, column = self.source.position(self.start)
        return f"Span({self.source.path}:{line}:{column} {self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and self.source is other.source and (self.start, self.end) == (other.start, other.end)

    def __hash__(self) -> int:
        return hash((id(self.source), self.start, self.end))

    @property
    def fixed(self) -> Span:
        """The same characters, which nothing moves."""
        return Span(self.of.source, self.start, self.end)

    def to(self, last: Span) -> Span:
        """From the first of these characters to the last of others, in the same source."""
        if last.of is self.of and not isinstance(last, _Between):
            return Span(self.of, self.low, last.high)
        return _Between(self, last)

    def same(self, other: Span | None) -> bool:
        """Whether it is the same part of the same source or segment."""
        return other is not None and self.of is other.of and self.low == other.low and self.high == other.high

    @property
    def parts(self) -> list[tuple[Source | Segment, int, int]]:
        """What it stands in, with its offsets there."""
        return [(self.of, self.low, self.high)]

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def end_line(self) -> int:
        """The line of the last character."""
        return self.source.position(max(self.start, self.end - 1))[0]

    def sub(self, start: int, end: int) -> Span:
        """A part of this span, by offsets relative to its start."""
        return Span(self.of, self.low + start, self.low + end)


class _Between(Span):
    """From the first character of one span to the last of another one, each of which may be moved."""

    __slots__ = ("_last",)

    def __init__(self, first: Span, last: Span) -> None:
        super().__init__(first.of, first.low, first.low)
        self._last = last

    @property
    def end(self) -> int:
        return self._last.end

    def same(self, other: Span | None) -> bool:
        return isinstance(other, _Between) and super().same(other) and self._last.same(other._last)

    @property
    def parts(self) -> list[tuple[Source | Segment, int, int]]:
        return [*super().parts, *self._last.parts]


def same_place(one: Span | None, other: Span | None) -> bool:
    """Whether two spans are the same part of the same source or segment, or none both."""
    return one is other or (one is not None and one.same(other))
