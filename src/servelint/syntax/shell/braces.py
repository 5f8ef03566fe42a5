"""Brace expansion: `{a,b}`, `{1..3}`, `{a..c}`, before anything else in a word is expanded."""

from __future__ import annotations

import re
from itertools import pairwise

from servelint.core.text import Piece, Text, unknown
from servelint.syntax.shell.lexer import step

_SEQUENCE = re.compile(r"(?:(-?\d{1,9})\.\.(-?\d{1,9})|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?\d{1,9}))?")
_WORDS_AT_MOST = 64


class _TooMany(Exception):
    """More words than are told apart."""


def expand(raw: Text) -> list[Text]:
    """The words that a raw word's braces make of it, quotes and variables still in it; one unknown if they are too many."""
    try:
        found = _expand(raw)
    except (_TooMany, RecursionError):
        return [Text((unknown(raw.shown, raw.span()),))]
    return found if len(found) <= _WORDS_AT_MOST else [Text((unknown(raw.shown, raw.span()),))]


def _expand(raw: Text) -> list[Text]:
    flat = raw.flat
    at = flat.find("{")
    if at == -1 or ("," not in flat and ".." not in flat):
        return [raw]
    if flat.count("{") > _WORDS_AT_MOST:
        raise _TooMany
    at = 0
    while at < len(flat):
        if flat[at] == "{":
            close, commas = _group(flat, at + 1)
            middles = _middles(raw, at, close, commas) if close != -1 else None
            if middles is not None:
                after = _expand(raw.cut(close + 1))
                if len(middles) * len(after) > _WORDS_AT_MOST:
                    raise _TooMany
                before = raw.cut(0, at)
                return [Text.join((before, middle, end)) for middle in middles for end in after]
        at = _step(flat, at)
    return [raw]


def _group(flat: str, at: int) -> tuple[int, list[int]]:
    """The offset of the brace that closes a group whose content starts at an offset, and of the commas between; or -1."""
    depth = 0
    commas: list[int] = []
    while at < len(flat):
        char = flat[at]
        if char == "{":
            depth += 1
        elif char == "}":
            if depth == 0:
                return at, commas
            depth -= 1
        elif char == "," and depth == 0:
            commas.append(at)
        at = _step(flat, at)
    return -1, []


def _step(flat: str, at: int) -> int:
    """Like the lexer's step; but braces in `${...}` are counted, and all of it is passed over."""
    if not flat.startswith("${", at):
        return step(flat, at)
    depth = 0
    at += 1
    while at < len(flat):
        depth += (flat[at] == "{") - (flat[at] == "}")
        if depth == 0:
            return at + 1
        at = step(flat, at) if flat[at] in "\\'\"`" or flat.startswith("$'", at) else at + 1
    return len(flat)


def _middles(raw: Text, start: int, close: int, commas: list[int]) -> list[Text] | None:
    """What a group stands for; None if it is no brace expansion."""
    if commas:
        bounds = [start, *commas, close]
        return [text for low, high in pairwise(bounds) for text in _expand(raw.cut(low + 1, high))]
    sequence = _SEQUENCE.fullmatch(raw.flat, start + 1, close)
    if sequence is None:
        return None
    span = raw.span(start, close + 1)
    first, last, from_letter, to_letter, by = sequence.groups()
    if from_letter:
        first, last = str(ord(from_letter)), str(ord(to_letter))
        if from_letter.islower() != to_letter.islower():
            raise _TooMany
    low, high = int(first), int(last)
    width = max(len(first), len(last)) if re.match("-?0\\d", first) or re.match("-?0\\d", last) else 0
    size = abs(int(by)) if by and int(by) else 1
    numbers = range(low, high + 1, size) if high >= low else range(low, high - 1, -size)
    if len(numbers) > _WORDS_AT_MOST:
        raise _TooMany
    return [Text((Piece(chr(number) if from_letter else f"{number:0{width}d}", span),)) for number in numbers]
