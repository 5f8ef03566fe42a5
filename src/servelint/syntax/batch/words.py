"""Batch variables and words: filling in `%V%`, `%V:a=b%`, `%V:~0,3%`, `%1`, `%%F`, `!V!`, and splitting command lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from servelint.core.launch import Word
from servelint.core.source import Span
from servelint.core.text import HOLE, TracedText, unknown
from servelint.syntax.batch.syntax import REFERENCE

Lookup = Callable[[str], "TracedText | None"]

_DELAYED = re.compile(r"!([^!:\r\n]+)(?::([^!\r\n]*))?!")
_PART = re.compile(r"~(-?\d+)(?:,(-?\d+))?$")


class Filled:
    """A text with its variables filled in. uses: where each value stands in it, and the reference that it replaced."""

    __slots__ = ("text", "uses")

    def __init__(self, text: TracedText, uses: list[tuple[int, int, Span | None]]) -> None:
        self.text = text
        self.uses = uses

    def site(self, start: int, end: int) -> Span | None:
        """The characters of the command that a part of the text stands for."""
        low, high = self.place(start), self.place(max(end - 1, start))
        if low is None or high is None or low.source is not high.source or high.end < low.start:
            return self.text.extent(start, end)
        return Span(low.source, low.start, high.end)

    def place(self, at: int) -> Span | None:
        """The reference whose value covers an offset, or else the character there."""
        if (index := bisect_right(self.uses, at, key=_start) - 1) >= 0 and at < self.uses[index][1]:
            return self.uses[index][2]
        return self.text.extent(at, at + 1)


def _start(use: tuple[int, int, Span | None]) -> int:
    return use[0]


def fill(text: TracedText, lookup: Lookup, delayed: Lookup | None, loops: dict[str, TracedText | None]) -> Filled:
    """A text with its variables filled in.

    Args:
        text: The text.
        lookup: Gives the value of `%V%`; None if the file does not set it.
        delayed: Gives that of `!V!`; None where delayed expansion is off.
        loops: The variables of `for`, by letter; a value of None is not known.
    """
    flat = text.flat
    if "%" not in flat and (delayed is None or "!" not in flat):
        return Filled(text, [])
    parts: list[TracedText] = []
    uses: list[tuple[int, int, Span | None]] = []
    length = done = 0
    at = 0
    while at < len(flat):
        match = REFERENCE.match(flat, at) if flat[at] == "%" else None
        if match is None and delayed is not None and flat[at] == "!":
            match = _DELAYED.match(flat, at)
        if match is None and flat[at] != "%":
            at = _next(flat, at + 1, delayed is not None)
            continue
        end, value = (at + 1, TracedText(())) if match is None else _value(text, match, lookup, delayed, loops)
        before = text.cut(done, at) if at > done else TracedText(())
        parts += [before, value]
        length += len(before.flat)
        if match is not None and value.flat:
            uses.append((length, length + len(value.flat), text.extent(at, end)))
        length += len(value.flat)
        done = at = end
    if done < len(flat):
        parts.append(text.cut(done))
    return Filled(TracedText.join(parts), uses)


def _next(flat: str, at: int, delayed: bool) -> int:
    found = [end for end in (flat.find("%", at), flat.find("!", at) if delayed else -1) if end != -1]
    return min(found) if found else len(flat)


def _value(
    text: TracedText, match: re.Match[str], lookup: Lookup, delayed: Lookup | None, loops: dict[str, TracedText | None]
) -> tuple[int, TracedText]:
    """The end and the value of a reference."""
    whole = text.cut(*match.span())
    unsure = TracedText((unknown(match.group(), whole.extent()),))
    if match.re is _DELAYED:
        known = delayed(match.group(1)) if delayed is not None else None
        return match.end(), unsure if known is None else _changed(known, match.group(2), unsure)
    modifiers, letter, argument, name, change = match.groups()
    if match.group().startswith("%%"):
        if letter is not None and letter in loops:
            value = loops[letter] if modifiers in (None, "~", "~f") else None
            return match.end(), unsure if value is None else value
        return match.start() + 2, TracedText.of("%", text.span(match.start(), match.start() + 2))
    if argument is not None:
        return match.end(), unsure
    known = lookup(name)
    return match.end(), unsure if known is None else _changed(known, change, unsure)


def _changed(value: TracedText, change: str | None, unsure: TracedText) -> TracedText:
    """A value after `:~start,length` or `:old=new`."""
    if change is None or not value.flat:
        return value
    if not value.known:
        return unsure
    if (part := _PART.match(change)) is not None:
        size = len(value.flat)
        start = int(part.group(1))
        start = max(size + start, 0) if start < 0 else min(start, size)
        count = int(part.group(2)) if part.group(2) else size
        end = size + count if count < 0 else start + count
        return value.cut(start, max(min(end, size), start)) if end > start else TracedText(())
    old, sign, new = change.partition("=")
    if not sign or not old or old[0] in "*~":
        return unsure
    parts: list[TracedText] = []
    done = 0
    for match in re.finditer(re.escape(old), value.flat, re.IGNORECASE):
        parts += [
            value.cut(done, match.start()) if match.start() > done else TracedText(()),
            TracedText.of(new, value.extent(*match.span())),
        ]
        done = match.end()
    return TracedText.join([*parts, value.cut(done)]) if done else value


_PLAIN = re.compile(r"[^\s\"\\]+")
_IN_QUOTES = re.compile(r"[^\"\\]+")
_SLASHES = re.compile(r"\\+")
_BLANKS = re.compile(r"\s+")
_SUFFIX = re.compile(r"\.(?:exe|cmd|bat|com)$", re.IGNORECASE)


def split(filled: Filled) -> list[Word]:
    r"""The words of a command line. Inside quotes `""` is a quote, `\"` is one everywhere, and other backslashes stay."""
    text, flat = filled.text, filled.text.flat
    found: list[Word] = []
    parts: list[TracedText] = []
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
            parts.append(TracedText.of('"', text.extent(at, at + 2)))
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


def _slashes(text: TracedText, at: int, parts: list[TracedText]) -> int:
    """Read the backslashes at an offset, which only matter in front of a quote; the offset after them."""
    match = _SLASHES.match(text.flat, at)
    end = match.end() if match is not None else at + 1
    if not text.flat.startswith('"', end):
        parts.append(text.cut(at, end))
        return end
    if half := (end - at) // 2:
        parts.append(TracedText.of("\\" * half, text.extent(at, at + 2 * half)))
    if (end - at) % 2:
        parts.append(TracedText.of('"', text.extent(end - 1, end + 1)))
        return end + 1
    return end


def _finish(filled: Filled, start: int, end: int, parts: list[TracedText], anything: bool, found: list[Word]) -> None:
    word = TracedText.join(parts)
    if anything or word.flat:
        found.append(Word(word, filled.site(start, end), many=not anything and word.flat == HOLE))


def program(word: Word) -> Word:
    r"""The program that a word names, without its folder (`C:\tools\`, `%~dp0`) and its suffix."""
    flat = word.text.flat
    start = max(flat.rfind("\\"), flat.rfind("/"), flat.rfind(HOLE)) + 1
    suffix = _SUFFIX.search(flat, start)
    end = suffix.start() if suffix is not None else len(flat)
    if end <= start:
        return word
    return Word(word.text.cut(start, end), word.site, word.many)
