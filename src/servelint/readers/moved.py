"""Launches read from a text that was taken out of a file, with every span back in that file."""

from __future__ import annotations

from servelint.core.launch import Container, Launch, ReleaseClaim, Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import Piece, Text


def launches(found: list[Launch], shown: Source, text: Text, source: Source) -> list[Launch]:
    """The launches of a source that holds a text's characters, as launches of the file that the text was taken from.

    shown: what was read, as long as `text.flat`; a character that differs is there what it is in the text;  source: the file
    """
    if not found:
        return found
    move = _Move(shown, text, source)
    return [move.launch(launch) for launch in found]


class _Move:
    def __init__(self, shown: Source, text: Text, source: Source) -> None:
        self.shown = shown
        self.original = text
        self.source = source

    def launch(self, launch: Launch) -> Launch:
        launch.source = self.source if launch.source is self.shown else launch.source
        launch.argv = [self.word(word) for word in launch.argv]
        launch.verb = tuple([self.word(word) for word in launch.verb])
        launch.env = {name: self.variable(variable) for name, variable in launch.env.items()}
        launch.site = self.span(launch.site) or Span(self.source, 0, 0)
        launch.cut = self.span(launch.cut)
        claim = launch.release
        launch.release = ReleaseClaim(claim.release, claim.how, self.span(claim.span), claim.rolling)
        box = launch.container
        if box is not None:
            settings = {name: self.text(value) for name, value in box.settings.items()}
            image = self.text(box.image) if box.image is not None else None
            hosting = box.hosting.moved(self.text) if box.hosting is not None else None
            launch.container = Container(image, settings, box.gpus, box.reserved, box.open, hosting)
        return launch

    def word(self, word: Word) -> Word:
        return Word(self.text(word.text), self.span(word.site), word.many)

    def variable(self, variable: Variable) -> Variable:
        value = self.text(variable.value) if variable.value is not None else None
        return Variable(variable.name, value, self.span(variable.site))

    def span(self, span: Span | None) -> Span | None:
        if span is None or span.source is not self.shown:
            return span
        if span.start < span.end:
            return self.original.extent(span.start, span.end)
        at = self.original.extent(span.start, span.start + 1)
        return Span(at.source, at.start, at.start) if at is not None else None

    def text(self, text: Text) -> Text:
        if all(piece.span is None or piece.span.source is not self.shown for piece in text.pieces):
            return text
        return Text([piece for old in text.pieces for piece in self.pieces(old)])

    def pieces(self, piece: Piece) -> list[Piece]:
        span = piece.span
        if piece.verbatim and piece.expression is None and span is not None and span.source is self.shown:
            part = self.original.cut(span.start, span.end)
            if piece.origin is None:
                return list((part.softened() if piece.assumed else part).pieces)
        return [
            Piece(
                piece.text,
                self.span(span),
                verbatim=False,
                expression=piece.expression,
                shown=piece.shown,
                assumed=piece.assumed,
                origin=self.span(piece.origin),
                perhaps=self.text(piece.perhaps) if piece.perhaps is not None else None,
            )
        ]
