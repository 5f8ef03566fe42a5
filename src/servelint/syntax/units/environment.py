"""The environment of a unit: `Environment=` settings and the files that `EnvironmentFile=` names."""

from __future__ import annotations

import re

from servelint.core.launch import Variable
from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, Piece, Text
from servelint.syntax.units import words

_NAME = re.compile(r"([A-Za-z_]\w*)=", re.ASCII)
_KEY = re.compile(r"[^\S\n]*(?:([#;])|([^=\n]*)=)")
_PLAIN = re.compile(r"[^\s'\"\\]+")
_IN_DOUBLE = re.compile(r'[^"\\]+')


def assignments(value: Text) -> list[Variable]:
    """The variables of one `Environment=`: `A=b "C=d e"`. What is no assignment is ignored, as by systemd."""
    found: list[Variable] = []
    for word in words.split(value):
        word = words.specified(word)
        match = _NAME.match(word.text.flat)
        if match is not None:
            found.append(Variable(match.group(1), word.text.cut(match.end()), word.site))
    return found


def file(source: Source) -> list[Variable]:
    """The variables of an environment file, by the rules of systemd's env-file.c: nothing in it is expanded."""
    found: list[Variable] = []
    text = source.text
    at = 0
    while at < len(text):
        match = _KEY.match(text, at)
        if match is None or match.group(1):
            end = text.find("\n", at)
            at = len(text) if end == -1 else end + 1
            continue
        value, at = _value(source, match.end())
        name = match.group(2).strip()
        if name.isascii() and name.isidentifier():
            found.append(Variable(name, value, value.span() or Span(source, *match.span(2))))
    return found


def _value(source: Source, at: int) -> tuple[Text, int]:
    """The value that starts at an offset, and the offset after its line."""
    text = source.text
    parts: list[Text] = []
    quotable = True
    blanks = 0
    while at < len(text) and text[at] != "\n":
        char = text[at]
        if char == "\\":
            if text[at + 1 : at + 2] != "\n":
                parts.append(Text((Piece(text[at + 1 : at + 2], Span(source, at, min(at + 2, len(text)))),)))
            quotable, blanks = False, 0
            at += 2
        elif char in "'\"" and quotable:
            at = _quoted(source, at, parts)
            blanks = 0
        elif char.isspace():
            if not quotable:
                parts.append(Text.at(source, at, at + 1))
                blanks += 1
            at += 1
        else:
            match = _PLAIN.match(text, at)
            end = match.end() if match else at + 1
            parts.append(Text.at(source, at, end))
            quotable, blanks = False, 0
            at = end
    value = Text.join(parts[: len(parts) - blanks]) if parts else EMPTY
    return value, at + 1


def _quoted(source: Source, at: int, parts: list[Text]) -> int:
    """Read a quoted part that opens at an offset; gives the offset after it."""
    text = source.text
    quote = text[at]
    at += 1
    if quote == "'":
        close = text.find("'", at)
        close = len(text) if close == -1 else close
        parts.append(Text.at(source, at, close))
        return close + 1
    while at < len(text) and text[at] != '"':
        if text[at] == "\\":
            following = text[at + 1 : at + 2]
            if following and following in '"\\`$':
                parts.append(Text((Piece(following, Span(source, at, at + 2)),)))
            elif following != "\n":
                parts.append(Text.at(source, at, min(at + 2, len(text))))
            at += 2
            continue
        match = _IN_DOUBLE.match(text, at)
        end = match.end() if match else at + 1
        parts.append(Text.at(source, at, end))
        at = end
    return at + 1
