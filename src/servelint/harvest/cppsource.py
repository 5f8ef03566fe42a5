"""C++ text as far as reading declarations out of it needs: comments, string literals, brackets, calls. Nothing is compiled."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SKIPPED = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r"|R\"(?P<mark>[^()\\\s]{0,16})\((?:.*?)\)(?P=mark)\""
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
_LITERAL = re.compile(
    r"\s*(?:R\"(?P<mark>[^()\\\s]{0,16})\((?P<raw>.*?)\)(?P=mark)\"|\"(?P<text>(?:\\.|[^\"\\\n])*)\")", re.DOTALL
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_PAIRS = {"(": ")", "{": "}", "[": "]"}


def clean(text: str) -> str:
    """The text with comments and preprocessor lines blanked (both sides of an `#if` stay)."""

    def comment(match: re.Match[str]) -> str:
        return " " if match.group().startswith("/") else match.group()

    return _DIRECTIVE.sub("", _SKIPPED.sub(comment, text))


def closing(text: str, start: int) -> int:
    """The index of the bracket that closes the one at `start`; the text's length where none does."""
    stack: list[str] = []
    for at, sign in _signs(text, start):
        if sign in _PAIRS:
            stack.append(_PAIRS[sign])
        elif sign in ")}]":
            if not stack or stack.pop() != sign:
                return len(text)
            if not stack:
                return at
    return len(text)


def split(text: str) -> list[str]:
    """The parts between the commas that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for at, sign in _signs(text, 0):
        if sign in _PAIRS:
            depth += 1
        elif sign in ")}]":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def _signs(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Brackets and commas from an index on that are in no string literal."""
    at = start
    while at < len(text):
        sign = text[at]
        if sign in "\"'/R":
            match = _SKIPPED.match(text, at)
            if match is not None:
                at = match.end()
                continue
        if sign in "(){}[],":
            yield at, sign
        at += 1


def literal(text: str) -> str | None:
    """The value of one string literal, or of several that stand side by side; None for any other expression."""
    value, at = [], 0
    text = text.strip()
    while at < len(text):
        match = _LITERAL.match(text, at)
        if match is None:
            return None
        raw = match.group("raw")
        value.append(raw if raw is not None else _unescaped(match.group("text")))
        at = match.end()
    return "".join(value) if value else None


def literals(text: str) -> list[str]:
    """The values of all string literals of a text, in order."""
    return [value for match in _SKIPPED.finditer(text) if (value := literal(match.group())) is not None]


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match.group(1), match.group(1)), text, flags=re.DOTALL)


def calls(text: str, name: str) -> Iterator[tuple[str, str]]:
    """(arguments, what follows up to the statement's end) for each call `name(...)` of a text."""
    for match in re.finditer(rf"(?<![\w.:>]){re.escape(name)}\s*\(", text):
        end = closing(text, match.end() - 1)
        stop = _statement_end(text, end + 1)
        yield text[match.end() : end], text[end + 1 : stop]


def _statement_end(text: str, start: int) -> int:
    at = start
    while at < len(text) and text[at] not in ";)}":
        at = closing(text, at) + 1 if text[at] in "([{" else at + 1
    return min(at, len(text))


def function(text: str, name: str) -> str | None:
    """The body of the first function defined under a name, without its braces."""
    for match in re.finditer(rf"\b{re.escape(name)}\s*\(", text):
        end = closing(text, match.end() - 1)
        opened = re.compile(r"\s*(?:const\s*)?\{").match(text, end + 1)
        if opened is not None:
            return text[opened.end() : closing(text, opened.end() - 1)]
    return None


def initializer(text: str, name: str) -> str | None:
    """What stands between the braces of `name = { ... }`."""
    match = re.search(rf"\b{re.escape(name)}\s*=\s*\{{", text)
    return None if match is None else text[match.end() : closing(text, match.end() - 1)]
