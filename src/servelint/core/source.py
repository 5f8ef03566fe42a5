"""Sources and spans: where every character that servelint reports stands.

Offsets count Unicode code points from the start of the text, without a byte order mark. Lines and columns come from a newline
table of our own: YAML's parser counts U+2028 and NEL as line breaks, editors do not.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, count
from operator import add

from servelint.core.secrets import Redactions


class Source:
    """One file's text with the path that reports show.

    Attributes:
        path: As reports show it.
        text: The decoded text, without a byte order mark.
        encoding: How the bytes were decoded ("utf-8", "utf-8-sig", "utf-16"); fixes write the file back the same way.
        redactions: Secrets in the text that no report prints.
    """

    __slots__ = ("__weakref__", "_lines", "encoding", "path", "redactions", "text")

    def __init__(self, path: str, text: str, encoding: str = "utf-8") -> None:
        self.path = path
        self.text = text
        self.encoding = encoding
        self.redactions = Redactions()
        self._lines: list[int] | None = None

    def __repr__(self) -> str:
        return f"Source({self.path!r}, {len(self.text)} characters)"

    @property
    def is_page(self) -> bool:
        """Whether it is documentation: what it shows is filled in, or written into another file, by its reader."""
        return self.path.lower().endswith((".md", ".mdx", ".markdown", ".rst", ".ipynb"))

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


class Span:
    """Characters start (inclusive) to end (exclusive) of one source. Never changed after it is made."""

    __slots__ = ("end", "source", "start")

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        line, column = self.source.position(self.start)
        return f"Span({self.source.path}:{line}:{column} {self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and self.source is other.source and (self.start, self.end) == (other.start, other.end)

    def __hash__(self) -> int:
        return hash((id(self.source), self.start, self.end))

    @property
    def text(self) -> str:
        """The characters."""
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        """The 1-based line of the first character."""
        return self.source.position(self.start)[0]

    @property
    def end_line(self) -> int:
        """The line of the last character."""
        return self.source.position(max(self.start, self.end - 1))[0]

    def to(self, last: Span) -> Span:
        """From the first of these characters to the last of others, in the same source."""
        return Span(self.source, self.start, last.end)

    def sub(self, start: int, end: int) -> Span:
        """A part of this span, by offsets relative to its start."""
        return Span(self.source, self.start + start, self.start + end)
