"""Traced text: a string that remembers where each of its characters was written.

A value passes through layers before an engine sees it: YAML unfolds a block scalar, `${V:-d}` is interpolated, a shell removes
quotes, JSON removes escapes. Each layer takes and gives traced text, so that a JSON value in a quoted shell word in a
folded scalar still has the place of each character that the user typed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable

from servelint.core.run import current
from servelint.core.source import Source, Span

HOLE = "\ufdd0"
"""Stands for one unknown value in TracedText.flat. A Unicode noncharacter: it is never in a real file's text."""


_MANY = 64
"""Pieces of a text whose characters are counted as well: a long value may stand in it again and again."""
_CHARACTERS_A_PIECE = 100


def spend(characters: int) -> None:
    """Count characters that are read one by one as work of the current run."""
    if (run := current()) is not None:
        run.spend(characters // _CHARACTERS_A_PIECE)


def _spend_on(pieces: tuple[Piece, ...]) -> None:
    """Count what is made of pieces as work of the current run."""
    if (run := current()) is not None:
        count = len(pieces)
        run.spend(count if count < _MANY else count + sum([len(piece.text) for piece in pieces]) // _CHARACTERS_A_PIECE)


class Piece:
    """A run of characters with one origin.

    Attributes:
        text: Its characters; HOLE for an unknown value.
        span: Where it is written; None for text that no file holds.
        verbatim: Whether the span holds exactly this text, so that a part of the text is a part of the span.
        expression: How the source writes an unknown (`${MODEL}`, `$(nproc)`); None for known text.
        shown: What a listing prints for an unknown: usually its expression, empty for `"$@"`.
        assumed: Whether it is a default that the environment may override (`${V:-d}`).
        origin: The place in another file that it came from (a `.env`), if any.
        perhaps: The only text that an unknown may be, beside nothing (`${V:+--flag}`); None if it may be anything.
        filled: Whether an unknown is sure not to be empty.
    """

    __slots__ = ("assumed", "expression", "filled", "origin", "perhaps", "shown", "span", "text", "verbatim")

    def __init__(
        self,
        text: str,
        span: Span | None,
        *,
        verbatim: bool = False,
        expression: str | None = None,
        shown: str | None = None,
        assumed: bool = False,
        origin: Span | None = None,
        perhaps: TracedText | None = None,
        filled: bool = False,
    ) -> None:
        self.text = text
        self.span = span
        self.verbatim = verbatim
        self.expression = expression
        self.shown = expression if shown is None else shown
        self.assumed = assumed
        self.origin = origin
        self.perhaps = perhaps
        self.filled = filled

    def cut(self, start: int, end: int) -> Piece:
        """The part of this piece between two offsets of its text; an unknown is never cut."""
        if self.expression is not None or (start == 0 and end == len(self.text)):
            return self
        span = self.span
        if self.verbatim and span is not None:
            span = Span(span.source, span.start + start, span.start + end)
        return Piece(self.text[start:end], span, verbatim=self.verbatim, assumed=self.assumed, origin=self.origin)

    def replaced(self, span: Span | None, *, assumed: bool | None = None) -> Piece:
        """The same text, placed at the span that uses it."""
        return self._copied(span, False, self.assumed if assumed is None else assumed, self.origin or self.span)

    def softened(self) -> Piece:
        """The same text as a default that the environment may override."""
        return self._copied(self.span, self.verbatim, True, self.origin)

    def _copied(self, span: Span | None, verbatim: bool, assumed: bool, origin: Span | None) -> Piece:
        return Piece(
            self.text,
            span,
            verbatim=verbatim,
            expression=self.expression,
            shown=self.shown,
            assumed=assumed,
            origin=origin,
            perhaps=self.perhaps,
            filled=self.filled,
        )


def unknown(expression: str, span: Span | None, shown: str | None = None, perhaps: TracedText | None = None) -> Piece:
    """A piece whose value is not known. `expression`: how the source writes it; `perhaps`: its only value beside nothing."""
    return Piece(HOLE, span, expression=expression, shown=shown, perhaps=perhaps)


class TracedText:
    """A sequence of pieces. `flat` is its text, with HOLE for each unknown."""

    __slots__ = ("_starts", "flat", "pieces")

    def __init__(self, pieces: Iterable[Piece], flat: str | None = None) -> None:
        """Join pieces. flat: their text where it is known already; none of them is empty then."""
        self._starts: list[int] | None = None
        if flat is not None:
            self.pieces, self.flat = tuple(pieces), flat
            return
        self.pieces = tuple([piece for piece in pieces if piece.text or piece.assumed])
        _spend_on(self.pieces)
        self.flat = "".join([piece.text for piece in self.pieces])

    @classmethod
    def at(cls, source: Source, start: int, end: int) -> TracedText:
        """The source's own characters between two offsets."""
        text = source.text[start:end]
        if not text:
            return cls(())
        return cls((Piece(text, Span(source, start, end), verbatim=True),), text)

    @classmethod
    def of(cls, text: str, span: Span | None = None) -> TracedText:
        """Known text for a span that does not hold it character for character."""
        return cls((Piece(text, span),))

    @classmethod
    def join(cls, texts: Iterable[TracedText]) -> TracedText:
        """One text of several, in order."""
        parts = list(texts)
        if len(parts) == 1 and parts[0].pieces:  # an empty one may stand for more than its characters
            return parts[0]
        pieces = tuple([piece for text in parts for piece in text.pieces])
        _spend_on(pieces)
        return cls(pieces, "".join([text.flat for text in parts]))

    def __repr__(self) -> str:
        return f"TracedText({self.shown!r})"

    def __len__(self) -> int:
        return len(self.flat)

    @property
    def starts(self) -> list[int]:
        """The offset in `flat` at which each piece starts."""
        if self._starts is None:
            self._starts = []
            at = 0
            for piece in self.pieces:
                self._starts.append(at)
                at += len(piece.text)
        return self._starts

    @property
    def known(self) -> bool:
        """Whether no part is unknown."""
        return HOLE not in self.flat

    @property
    def value(self) -> str | None:
        """The text when all of it is known, else None."""
        return None if HOLE in self.flat else self.flat

    @property
    def shown(self) -> str:
        """The text as a listing prints it: unknown values as the source writes them."""
        if HOLE not in self.flat:
            return self.flat
        shown = "".join([piece.text if piece.expression is None else piece.shown or "" for piece in self.pieces])
        return shown.replace(HOLE, "...")  # a program has printed what holds an unknown value

    @property
    def assumed(self) -> bool:
        """Whether a part is known only through a default that the environment may override."""
        return any(piece.assumed for piece in self.pieces)

    def cut(self, start: int, end: int | None = None) -> TracedText:
        """The part between two offsets of `flat`."""
        length = len(self.flat)
        if start < 0:
            start = 0
        if end is None or end > length:
            end = length
        if start == 0 and end == length:
            return self
        if start >= end:
            return EMPTY
        pieces = self.pieces
        piece, at = pieces[0], 0
        if len(pieces) > 1:
            starts = self._starts or self.starts
            first = bisect_right(starts, start) - 1
            piece, at = pieces[first], starts[first]
            if end - at > len(piece.text):
                parts = self._parts(start, end)
                _spend_on(parts)
                return TracedText(parts, self.flat[start:end])
        if piece.expression is not None or end - start == len(piece.text):
            return TracedText((piece,), piece.text)
        text, span = self.flat[start:end], piece.span  # as Piece.cut does, which most parts of a script come from
        if piece.verbatim and span is not None:
            begin = span.start - at
            span = Span(span.source, begin + start, begin + end)
        part = Piece(text, span, verbatim=piece.verbatim, assumed=piece.assumed, origin=piece.origin)
        return TracedText((part,), text)

    def _spans(self, start: int, end: int | None) -> list[Span]:
        """The places of what `cut` gives, in order."""
        length = len(self.flat)
        start, end = max(start, 0), length if end is None or end > length else end
        pieces = self.pieces
        if start == 0 and end == length:
            return [piece.span for piece in pieces if piece.span is not None]
        if start >= end:
            return []
        starts = self._starts or self.starts
        first = bisect_right(starts, start) - 1
        piece, at = pieces[first], starts[first]
        if end - at > len(piece.text):
            return [piece.span for piece in self._parts(start, end) if piece.span is not None]
        span = piece.span
        if span is None:
            return []
        return [span.sub(start - at, end - at) if piece.verbatim and piece.expression is None else span]

    def _parts(self, start: int, end: int) -> tuple[Piece, ...]:
        """The pieces between two different offsets of `flat`."""
        starts = self._starts or self.starts
        first, last = bisect_right(starts, start) - 1, bisect_left(starts, end) - 1
        piece = self.pieces[first]
        at = starts[first]
        if first == last:
            return (piece.cut(start - at, end - at),)
        tail = self.pieces[last]
        head = piece if start == at else piece.cut(start - at, len(piece.text))
        return (head, *self.pieces[first + 1 : last], tail.cut(0, end - starts[last]))

    def strip(self) -> TracedText:
        """The text without white space at its ends."""
        flat = self.flat
        return self.cut(len(flat) - len(flat.lstrip()), len(flat.rstrip()))

    def split(self) -> list[TracedText]:
        """The words between white space."""
        return [self.cut(*match.span()) for match in re.finditer(r"\S+", self.flat)]

    def span(self, start: int = 0, end: int | None = None) -> Span | None:
        """The characters in the file from the first to the last of a range of `flat`.

        None when nothing of it stands in a file, or when its parts stand in several files or out of order.
        """
        if end is None and start == 0 and len(self.pieces) == 1:
            return self.pieces[0].span
        spans = self._spans(start, end)
        if len(spans) < 2:
            return spans[0] if spans else None
        low = high = spans[0]
        for span in spans[1:]:
            if span.source is not low.source or span.start < high.start:
                return None
            high = span if span.end >= high.end else high
        return low.to(high)

    def extent(self, start: int = 0, end: int | None = None) -> Span | None:
        """Like span, but parts from elsewhere (a variable's value, set earlier) are left out."""
        if end is None and start == 0 and len(self.pieces) == 1:
            return self.pieces[0].span
        spans = self._spans(start, end)
        if len(spans) < 2:
            return spans[0] if spans else None
        low = high = spans[0]
        for span in spans[1:]:
            if span.source is low.source and span.start >= low.start and span.end > high.end:
                high = span
        return low.to(high)

    @property
    def written(self) -> Span | None:
        """Where the text stands character for character, so that an edit there changes just it; else None."""
        span = self.span()
        if span is None or not all(piece.verbatim for piece in self.pieces):
            return None
        return span if span.text == self.flat else None

    @property
    def origin(self) -> Span | None:
        """The place in another file that a part of the text was taken from, if any."""
        for piece in self.pieces:
            if piece.origin is not None:
                return piece.origin
        return None

    def sub(self, pattern: re.Pattern[str], make: Callable[[re.Match[str]], TracedText | None]) -> TracedText:
        """Replace the matches of a pattern, as re.sub does.

        Args:
            pattern: What is replaced. It is searched in `flat`.
            make: Gives what stands for a match, None to leave it as it is.
        """
        parts: list[TracedText] = []
        done = 0
        for match in pattern.finditer(self.flat):
            if (made := make(match)) is not None:
                parts += [self.cut(done, match.start()), made]
                done = match.end()
        return TracedText.join([*parts, self.cut(done)]) if parts else self

    def unknown(self, match: re.Match[str]) -> TracedText:
        """An unknown value instead of a match in `flat`, shown as it is written."""
        return TracedText((unknown(match.group(), self.span(*match.span())),))

    def placed(self, span: Span | None, *, assumed: bool | None = None) -> TracedText:
        """The same text, placed at the span that uses it; where it came from stays as its origin."""
        return TracedText([piece.replaced(span, assumed=assumed) for piece in self.pieces])

    def as_default(self) -> TracedText:
        """The same text, also an empty one, as a default that the environment may override."""
        return self.softened() if self.pieces else TracedText((Piece("", None, assumed=True),))

    def softened(self) -> TracedText:
        """The same text, marked as a default that the environment may override."""
        if all(piece.assumed for piece in self.pieces):
            return self
        return TracedText([piece.softened() for piece in self.pieces])


class Number(TracedText):
    """The digits of a number in a program, which adds it where it joins other texts."""

    __slots__ = ()

    def softened(self) -> Number:
        """The same number, marked as a default that the environment may override."""
        return Number(super().softened().pieces)


EMPTY = TracedText(())
