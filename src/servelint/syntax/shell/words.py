"""Splitting a command string into words, as docker compose does with `command:` and `entrypoint:` strings.

Quotes and backslashes as in POSIX; nothing is expanded. An unquoted `;`, `&`, `|`, `<` or `>` ends the command, as in the
splitter that compose uses (go-shellwords): what follows never reaches the container.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from servelint.core.launch import Word
from servelint.core.text import EMPTY, HOLE, TracedText
from servelint.syntax.placeholders import in_command

_PLAIN = re.compile(r"[^\s'\"\\;&|<>]+")
_OPERATOR = re.compile(r"[;&|<>]")
_IN_DOUBLE = re.compile(r'[^"\\]+')
_SPACE = re.compile(r"\s+")

Escape = Callable[[TracedText, int, bool], "TracedText | None"]
"""What a backslash at an offset and the character behind it give; the flag is for double quotes. None for no text."""


def split(text: TracedText) -> list[Word]:
    """The words of a command string. A quote that is never closed ends with the text."""
    return split_quoted(in_command(text), _PLAIN, _escaped)[0]


def dropped(text: TracedText) -> TracedText | None:
    """What the splitter leaves out: an operator that is not quoted, and all behind it. None if that is nothing."""
    text = in_command(text)
    if _OPERATOR.search(text.flat) is None:
        return None
    end = split_quoted(text, _PLAIN, _escaped)[1]
    return text.cut(end).strip() if end < len(text.flat.rstrip()) else None


def _escaped(text: TracedText, at: int, _double: bool) -> TracedText | None:
    following = text.flat[at + 1 : at + 2]
    return TracedText.of(following, text.span(at, at + 2)) if following != "\n" else None


def split_quoted(text: TracedText, plain: re.Pattern[str], escaped: Escape) -> tuple[list[Word], int]:
    """Split a text at white space outside of quotes.

    Args:
        text: what is split.
        plain: what a word has outside of quotes. Any other character but a quote or a backslash ends the words.
        escaped: reads a backslash.

    Returns:
        The words, and the offset at which they end.
    """
    flat = text.flat
    words: list[Word] = []
    parts: list[TracedText] = []
    start = at = 0
    quoted = False

    def finish(end: int) -> None:
        if parts or quoted:
            word = TracedText.join(parts)
            many = not quoted and word.flat == HOLE
            words.append(Word(word, text.span(start, end), many))

    empty = gaps(text)
    while at < len(flat):
        char = flat[at]
        if (match := _SPACE.match(flat, at)) is not None:
            finish(at)
            parts, quoted = [], False
            start = match.end()
            words += [nothing() for gap in empty if at < gap < start or gap == at == 0 or gap == start == len(flat)]
            at = start
        elif char == "'":
            close = flat.find("'", at + 1)
            close = len(flat) if close == -1 else close
            parts.append(text.cut(at + 1, close))
            quoted = True
            at = close + 1
        elif char == '"':
            at = _double(text, at + 1, parts, escaped)
            quoted = True
        elif char == "\\":
            piece = escaped(text, at, False)
            parts += [piece] if piece is not None else []
            at += 2
        elif (match := plain.match(flat, at)) is not None:
            parts.append(text.cut(at, match.end()))
            at = match.end()
        elif char == ">" and not quoted and flat[start:at].isdigit():
            return words, start  # `2>`: the number goes with it
        else:
            break
    finish(at)
    return words, at


def nothing() -> Word:
    """A default that is empty: no word, unless the environment gives one."""
    return Word(EMPTY.as_default(), None, many=True)


def gaps(text: TracedText) -> list[int]:
    """The offsets of empty defaults: they make no word unless the environment gives them a value."""
    return [start for start, piece in zip(text.starts, text.pieces, strict=True) if not piece.text and piece.assumed]


def _double(text: TracedText, at: int, parts: list[TracedText], escaped: Escape) -> int:
    """Read a double-quoted part that opened just before an offset; gives the offset after its end."""
    flat = text.flat
    while at < len(flat):
        if flat[at] == '"':
            return at + 1
        if flat[at] == "\\":
            piece = escaped(text, at, True)
            parts += [piece] if piece is not None else []
            at += 2
            continue
        match = _IN_DOUBLE.match(flat, at)
        end = match.end() if match else at + 1
        parts.append(text.cut(at, end))
        at = end
    return at
