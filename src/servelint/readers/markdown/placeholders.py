"""What a page means its reader to fill in or to add: `<model>`, `{port}`, `[options]`, `...`. All of it is unknown."""

from __future__ import annotations

import re

from servelint.core.launch import Word
from servelint.core.text import HOLE, Piece, Text, unknown

_ANGLE = r"(?<![<&\d])<(?=[^\W\d_]|/\w|-{1,2}[^\W\d_])[^<>\n\"'`$;&]{0,80}?(?<![ \t-])>(?!\()"
_CURLY = r"\{\{[^{}\n\"']{1,80}\}\}|(?<![${\w\\])\{[^\W\d][\w .-]{0,60}\}(?!\})"
_SQUARE = r"(?<!\S)\[(?:[A-Za-z-][^\[\]\n\"'`$]{0,80}|\.\.\.|…)\](?!\S)"
_DOTS = r"(?:(?<![^\s\"'{,(=:\[])(?:\.{3,}|…+)(?![^\s\"'}),\]\\]))"
_ANY = re.compile(f"{_ANGLE}|{_CURLY}|{_DOTS}")
_IN_SCRIPT = re.compile(f"{_ANGLE}|{_CURLY}|{_SQUARE}|{_DOTS}")
_SEVERAL = re.compile(r"\.{3}|…|^\[|(?:\b|_)(?:args|arguments|flags|options)\b", re.IGNORECASE)
_MARKS = "<{[.…"


def replaced(text: Text, *, script: bool = False) -> Text:
    """The text with an unknown for each placeholder. script: of commands, in which `[options]` is one too."""
    flat = text.flat
    if not any(mark in flat for mark in ("<", "{", "[", "...", "…")):
        return text
    parts: list[Text] = []
    done = 0
    for match in (_IN_SCRIPT if script else _ANY).finditer(flat):
        if HOLE in match.group():
            continue
        parts += [text.cut(done, match.start()), Text((unknown(match.group(), text.span(*match.span())),))]
        done = match.end()
    return Text.join([*parts, text.cut(done)]) if parts else text


def disguised(flat: str) -> str:
    """A text of the same length whose `<model>` is no redirection to who splits it."""
    return re.sub(_ANGLE, lambda match: f"\u27ea{match.group()[1:-1]}\u27eb", flat) if "<" in flat else flat


def counted(word: Word) -> Word:
    """The word, told how many it stands for: `<model>` for one, `...` and `<options>` for any number."""
    expression = _alone(word.text.pieces)
    if expression is None:
        return word
    many = _SEVERAL.search(expression) is not None and not (expression[0] in ".…" and word.site != word.text.span())
    return word if many == word.many else Word(word.text, word.site, many)


def filled(word: Word) -> Word:
    """A word of a file that a page shows, with its placeholders unknown."""
    text = replaced(word.text)
    return word if text is word.text else counted(Word(text, word.site, word.many))


def _alone(pieces: tuple[Piece, ...]) -> str | None:
    """The expression of the placeholder that is all of a word."""
    if len(pieces) != 1 or not pieces[0].expression or pieces[0].expression[0] not in _MARKS:
        return None
    return pieces[0].expression
