"""`.env` files and `env_file` lists, as docker compose reads them (the godotenv dialect)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, TracedText
from servelint.syntax.interpolation import Lookup, interpolate, nothing

_ASSIGNMENT = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*[=:]")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_SINGLE = re.compile(r"'([^']*)'")
_COMMENT = re.compile(r"(?:^|[ \t]+)#.*")
_ESCAPE = re.compile(r'\\([nrt"\\$])')
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$$"}


def parse(source: Source, lookup: Lookup = nothing) -> dict[str, TracedText]:
    """The variables of a file, by name. Single quotes are literal, double quotes know escapes; ` #` starts a comment."""
    values: dict[str, TracedText] = {}

    def known(name: str) -> TracedText | None:
        return values[name] if name in values else lookup(name)

    text = source.text
    for name, start, line_end, quoted in _assignments(text):
        if quoted is not None and text[start] == "'":
            values[name] = TracedText.at(source, quoted.start(1), quoted.end(1))
        elif quoted is not None:
            values[name] = interpolate(_unescape(source, quoted.start(1), quoted.end(1)), known)
        else:
            raw = _COMMENT.sub("", text[start:line_end].rstrip("\r"), count=1).rstrip()
            value = TracedText.at(source, start, start + len(raw)) if raw else EMPTY
            values[name] = interpolate(value, known)
    return values


def unclosed(source: Source) -> Span | None:
    """The first value that begins with a quote which nothing closes: compose refuses the file."""
    text = source.text
    for _, start, line_end, quoted in _assignments(text):
        quote = text[start : start + 1]
        if quoted is None and quote and quote in "\"'" and quote not in text[start + 1 :]:
            return Span(source, start, start + len(text[start:line_end].rstrip()))
    return None


def _assignments(text: str) -> Iterator[tuple[str, int, int, re.Match[str] | None]]:
    """The names of a file's variables, where the value of each begins and its line ends, and the value in quotes."""
    at = 0
    while at < len(text):
        line_end = text.find("\n", at)
        line_end = len(text) if line_end == -1 else line_end
        if (match := _ASSIGNMENT.match(text, at, line_end)) is not None:
            start = match.end()
            while start < line_end and text[start] in " \t":
                start += 1
            quoted = (_SINGLE if text[start : start + 1] == "'" else _DOUBLE).match(text, start)
            yield match.group(1), start, line_end, quoted
            line_end = text.find("\n", quoted.end()) if quoted is not None else line_end
            line_end = len(text) if line_end == -1 else line_end
        at = line_end + 1


def _unescape(source: Source, start: int, end: int) -> TracedText:
    whole = TracedText.at(source, start, end) if end > start else EMPTY
    return whole.sub(_ESCAPE, lambda match: TracedText.of(_ESCAPES[match.group(1)], whole.span(*match.span())))


def raw(source: Source) -> dict[str, TracedText]:
    """The variables of a file in docker's own format (`format: raw`), by name: everything behind the sign, with quotes."""
    values: dict[str, TracedText] = {}
    at = 0
    for line in source.text.split("\n"):
        name, sign, value = line.removesuffix("\r").partition("=")
        if sign and name.strip() and not name.lstrip().startswith("#"):
            start = at + len(name) + 1
            values[name.strip()] = TracedText.at(source, start, start + len(value)) if value else EMPTY
        at += len(line) + 1
    return values
