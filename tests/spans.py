"""Whether the words of a launch stand where they say: each piece of a word is what its span shows, or what that stands for."""

from __future__ import annotations

import re

from servelint.core.launch import Launch, Word
from servelint.core.text import Piece, TracedText

_ESCAPED = re.compile(r"\\(?:\r?\n[ \t]*|.)|\^(?:\r?\n|.)|''|\"\"|%%|\$\$|\{\{|\}\}", re.DOTALL)
_VARIABLE = re.compile(r"[$%{!`]")


def faults(launch: Launch) -> list[str]:
    """What is wrong with the places of a launch's words and variables."""
    found = [fault for word in (*launch.verb, *launch.argv) for fault in _of_word(word)]
    for variable in launch.env.values():
        found += _of_text(variable.value) if variable.value is not None else []
        if variable.site is not None and not 0 <= variable.site.start <= variable.site.end <= len(variable.site.source.text):
            found.append(f"{variable.name}: a site outside of the text")
    site = launch.site
    if not (site.source is launch.source and 0 <= site.start <= site.end <= len(site.source.text)):
        found.append(f"{launch}: the launch stands nowhere in its file")
    return found


def _of_word(word: Word) -> list[str]:
    return _of_text(word.text)


def _of_text(text: TracedText) -> list[str]:
    return [
        f"{piece.text!r} at {piece.span!r}: {piece.span.text!r}" for piece in text.pieces if piece.span and not _stands(piece)
    ]


def _stands(piece: Piece) -> bool:
    """Whether a piece is what stands at its span."""
    span = piece.span
    assert span is not None
    if not 0 <= span.start <= span.end <= len(span.source.text):
        return False
    shown = span.text
    if piece.expression is not None:
        return bool(_VARIABLE.search(shown)) or (piece.shown or "") in shown
    if shown == piece.text:
        return True
    if piece.verbatim:
        return False
    if piece.origin is not None or piece.assumed or _VARIABLE.search(shown):
        return True  # a value that a variable has
    return not piece.text.strip() or not shown.strip() or _plain(shown) == _plain(piece.text)


def _plain(text: str) -> str:
    """A text without its escapes, quotes and white space."""
    return re.sub(r"[\s'\"\\^]+", "", _ESCAPED.sub(lambda match: match.group()[1:], text))
