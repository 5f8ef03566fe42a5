"""The logical lines of a makefile: what a backslash continues is one line, its characters at their places."""

from __future__ import annotations

import re

from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, Piece, Text

_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*#")


class Lines:
    """Takes a source's lines one after the other."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.starts = source.line_starts
        self.at = 0

    @property
    def more(self) -> bool:
        return self.at < len(self.starts)

    def bounds(self, index: int) -> tuple[int, int]:
        """Where a line starts, and where it ends without its line end."""
        text = self.source.text
        low = self.starts[index]
        high = self.starts[index + 1] if index + 1 < len(self.starts) else len(text)
        while high > low and text[high - 1] in "\r\n":
            high -= 1
        return low, high

    def peek(self) -> str:
        low, high = self.bounds(self.at)
        return self.source.text[low:high]

    def logical(self) -> Text:
        """The next line of make's own language, its comment left out; the lines that continue it are joined with a space."""
        text = self.source.text
        parts: list[Text] = []
        while self.more:
            low, high = self.bounds(self.at)
            self.at += 1
            if parts:
                while low < high and text[low] in " \t":
                    low += 1
            if not _continues(text[low:high]):
                parts.append(_at(self.source, low, high))
                break
            stop = low + len(text[low : high - 1].rstrip(" \t"))
            parts += [_at(self.source, low, stop), Text((Piece(" ", Span(self.source, high - 1, high)),))]
        whole = Text.join(parts)
        comment = _COMMENT.search(whole.flat)
        return _unescaped(whole.cut(0, comment.end() - 1) if comment is not None else whole)

    def recipe(self, prefix: str) -> Text:
        """The next line of a recipe, as the shell gets it: continued lines stay as they are, without their prefix."""
        text = self.source.text
        parts: list[Text] = []
        while self.more:
            low, high = self.bounds(self.at)
            self.at += 1
            if low < high and text[low] == prefix:
                low += 1
            parts.append(_at(self.source, low, high))
            if not _continues(text[low:high]) or not self.more:
                break
            end = self.starts[self.at]
            parts.append(Text((Piece("\n", Span(self.source, high, end)),)))
        return Text.join(parts)

    def body(self) -> Text:
        """The lines of a `define` up to its `endef`."""
        start = end = self.starts[self.at] if self.more else len(self.source.text)
        depth = 1
        while self.more:
            words = self.peek().split()
            _, high = self.bounds(self.at)
            self.at += 1
            if words[:1] == ["define"]:
                depth += 1
            elif words[:1] == ["endef"]:
                depth -= 1
                if depth == 0:
                    break
            end = high
        return _at(self.source, start, max(start, end))


def _unescaped(text: Text) -> Text:
    """A line without the backslashes that keep a `#` from starting a comment."""
    if "\\#" not in text.flat:
        return text
    parts: list[Text] = []
    done = 0
    for match in re.finditer(r"\\#", text.flat):
        parts += [text.cut(done, match.start()), text.cut(match.start() + 1, match.end())]
        done = match.end()
    return Text.join([*parts, text.cut(done)])


def _continues(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _at(source: Source, start: int, end: int) -> Text:
    return Text.at(source, start, end) if end > start else EMPTY
