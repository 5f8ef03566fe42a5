"""What a Windows program makes of its command line: the argument rules of the Microsoft C runtime."""

from __future__ import annotations

import re

from servelint.core.launch import Word
from servelint.core.text import HOLE, Piece, Text
from servelint.syntax.batch.values import Filled

_PLAIN = re.compile(r"[^\s\"\\]+")
_IN_QUOTES = re.compile(r"[^\"\\]+")
_SLASHES = re.compile(r"\\+")
_BLANKS = re.compile(r"\s+")
_SUFFIX = re.compile(r"\.(?:exe|cmd|bat|com)$", re.IGNORECASE)


def split(filled: Filled) -> list[Word]:
    """The words of a command line. Inside quotes `""` is a quote; `\\"` is one everywhere; other backslashes stay."""
    text, flat = filled.text, filled.text.flat
    found: list[Word] = []
    parts: list[Text] = []
    quoted = anything = False
    start = at = 0
    while at < len(flat):
        char = flat[at]
        if not quoted and char.isspace():
            _finish(filled, start, at, parts, anything, found)
            parts, anything = [], False
            match = _BLANKS.match(flat, at)
            at = start = match.end() if match is not None else at + 1
            continue
        if char == "\\":
            at = _slashes(text, at, parts)
        elif char == '"' and quoted and flat.startswith('"', at + 1):
            parts.append(Text((Piece('"', text.extent(at, at + 2)),)))
            at += 2
        elif char == '"':
            quoted = not quoted
            anything = True
            at += 1
        else:
            match = (_IN_QUOTES if quoted else _PLAIN).match(flat, at)
            end = match.end() if match is not None else at + 1
            parts.append(text.cut(at, end))
            at = end
    _finish(filled, start, at, parts, anything, found)
    return found


def _slashes(text: Text, at: int, parts: list[Text]) -> int:
    """Read the backslashes at an offset, which mean something in front of a quote only; gives the offset after them."""
    match = _SLASHES.match(text.flat, at)
    end = match.end() if match is not None else at + 1
    if not text.flat.startswith('"', end):
        parts.append(text.cut(at, end))
        return end
    half = (end - at) // 2
    if half:
        parts.append(Text((Piece("\\" * half, text.extent(at, at + 2 * half)),)))
    if (end - at) % 2:
        parts.append(Text((Piece('"', text.extent(end - 1, end + 1)),)))
        return end + 1
    return end


def _finish(filled: Filled, start: int, end: int, parts: list[Text], anything: bool, found: list[Word]) -> None:
    word = Text.join(parts)
    if anything or word.flat:
        found.append(Word(word, filled.site(start, end), many=not anything and word.flat == HOLE))


def program(word: Word) -> Word:
    """The word that names a program, without its folder (`C:\\tools\\`, `%~dp0`) and its suffix."""
    flat = word.text.flat
    start = max(flat.rfind("\\"), flat.rfind("/"), flat.rfind(HOLE)) + 1
    suffix = _SUFFIX.search(flat, start)
    end = suffix.start() if suffix is not None else len(flat)
    if end <= start:
        return word
    return Word(word.text.cut(start, end), word.site, word.many)
