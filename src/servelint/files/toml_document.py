"""A TOML file as data, with the place of each of its keys and values.

The standard library parses it. Its parser gives no places but those of errors, so a second one looks for them: it reads a text
that is known to be valid, and decides nothing.
"""

from __future__ import annotations

import re
import sys

from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.core.trust import EVERYTHING, Trust

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from typing import Any

Path = tuple["str | int", ...]
"""Keys from the outermost in; the elements of an array are numbered from 0."""

_AT = r" \(at (?:line (\d+), column (\d+)|end of document)\)$"


class Document:
    """A TOML text as data.

    Attributes:
        path: The file's path as reports show it.
        data: What the text says.
        source: The text.
    """

    __slots__ = ("_places", "data", "path", "source")

    def __init__(self, source: Source, data: dict[str, Any]) -> None:
        self.path = source.path
        self.source = source
        self.data = data
        self._places: dict[Path, Place] | None = None

    def table(self, path: Path) -> dict[str, Any] | None:
        """The table at a path, None if there is none."""
        found: object = self.data
        for part in path:
            found = found.get(part) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else None

    def key(self, path: Path) -> tuple[int, int]:
        """1-based line and column of a key; of the deepest one above it that is written, else of the file's start."""
        return self._position(path, of_key=True)

    def value(self, path: Path) -> tuple[int, int]:
        """The same of a key's value, or of an element of an array."""
        return self._position(path, of_key=False)

    def _position(self, path: Path, *, of_key: bool) -> tuple[int, int]:
        if self._places is None:
            self._places = places(self.source.text)
        while path and path not in self._places:
            path, of_key = path[:-1], True
        place = self._places.get(path)
        if place is None:
            return 1, 1
        return self.source.position(place.key if of_key else place.start)


def read(path: str, shown: str, most: int, trust: Trust = EVERYTHING) -> Document | Problem:
    """A file's content, or what is wrong with it as TOML.

    Args:
        path: The file.
        shown: Its path as reports show it.
        most: How many bytes of it are read at most.
        trust: Whose version of it is read.
    """
    try:
        data = trust.read(path, most)
    except (OSError, ValueError) as error:
        return Problem(shown, f"cannot be read: {getattr(error, 'strerror', None) or error}")
    if len(data) > most:
        return Problem(shown, f"not read: settings files are read up to {most >> 20} MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = Source(shown, data[: error.start].decode("utf-8-sig")).position(error.start)
        return Problem(shown, f"not valid UTF-8: byte 0x{data[error.start]:02x}", line, column)
    return parse(Source(shown, text))


def parse(source: Source) -> Document | Problem:
    """A text as data, or what is wrong with it as TOML."""
    try:
        return Document(source, tomllib.loads(source.text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        message = str(error)
        at = re.search(_AT, message)
        line, column = source.position(len(source.text))
        if isinstance(error, RecursionError):
            line, column, message = 1, 1, "nested too deep"
        elif at is not None:
            line, column = (int(at[1]), int(at[2])) if at[1] else (line, column)
            message = message[: at.start()]
        return Problem(source.path, f"not valid TOML: {message[:1].lower()}{message[1:]}", line, column)


# -- where keys and values stand

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE = re.compile(r"[^\s.=\]\[{}\"',#]+")
_SCALAR = re.compile(r"[^,\]}#\n]*")
_STRINGS = (
    re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL),
    re.compile(r"'''(?:[^']|'(?!''))*'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)


class Place:
    """Offsets: where the key starts (of an element of an array: the element), and where its value starts and ends.

    The value of a table with a header is its header.
    """

    __slots__ = ("end", "key", "start")

    def __init__(self, key: int, start: int, end: int) -> None:
        self.key = key
        self.start = start
        self.end = end


def places(text: str) -> dict[Path, Place]:
    """The place of each key, value, and element of a valid TOML text. A table that is written in parts is at its first."""
    return _Scan(text).found


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.found: dict[Path, Place] = {}
        self._counts: dict[Path, int] = {}
        table: Path = ()
        at = self._after(_BLANK, 0)
        while at < len(text):
            if text[at] == "[":
                table, at = self._header(at)
            else:
                at = self._pair(table, at)
            at = self._after(_BLANK, at)

    def _after(self, pattern: re.Pattern[str], at: int) -> int:
        match = pattern.match(self.text, at)
        return match.end() if match is not None and match.end() > at else at

    def _header(self, start: int) -> tuple[Path, int]:
        """The path of the table that a header opens, and where the header ends."""
        double = self.text.startswith("[[", start)
        keys, at = self._keys(start + 1 + double)
        end = at + 1 + double
        path: Path = ()
        for number, (name, key) in enumerate(keys):
            path = (*path, name)
            last = number == len(keys) - 1
            if last and double:
                index = self._counts[path] = self._counts.get(path, -1) + 1
                self._note(path, key, start, end)
                path = (*path, index)
                self._note(path, key, start, end)
            elif path in self._counts:
                path = (*path, self._counts[path])
            else:
                self._note(path, key, start, end)
        return path, end

    def _pair(self, table: Path, at: int) -> int:
        """A key and its value; gives where the value ends."""
        keys, at = self._keys(at)
        start = self._after(_SPACE, at + 1)
        path = (*table, *[name for name, _ in keys])
        end = self._value(path, start)
        for count in range(1, len(keys) + 1):
            self._note((*table, *path[len(table) : len(table) + count]), keys[count - 1][1], start, end)
        return end

    def _keys(self, at: int) -> tuple[list[tuple[str, int]], int]:
        """The parts of a dotted key, each with its start, and where `=` or `]` stands."""
        found: list[tuple[str, int]] = []
        while True:
            at = self._after(_SPACE, at)
            quoted = self.text[at] in "\"'"
            end = self._string(at) if quoted else self._after(_BARE, at)
            written = self.text[at:end]
            found.append((_unquoted(written) if quoted else written, at))
            at = self._after(_SPACE, end)
            if self.text[at : at + 1] != ".":
                return found, at
            at += 1

    def _value(self, path: Path, start: int) -> int:
        first = self.text[start]
        if first in "\"'":
            return self._string(start)
        if first == "[":
            return self._array(path, start)
        if first == "{":
            at = self._after(_BLANK, start + 1)
            while self.text[at] != "}":
                at = self._after(_BLANK, self._pair(path, at))
                at = self._after(_BLANK, at + 1) if self.text[at] == "," else at
            return at + 1
        scalar = _SCALAR.match(self.text, start)
        return start + len(scalar.group().rstrip()) if scalar is not None else start

    def _array(self, path: Path, start: int) -> int:
        index = 0
        at = self._after(_BLANK, start + 1)
        while self.text[at] != "]":
            element = (*path, index)
            end = self._value(element, at)
            self._note(element, at, at, end)
            index += 1
            at = self._after(_BLANK, end)
            at = self._after(_BLANK, at + 1) if self.text[at] == "," else at
        return at + 1

    def _string(self, start: int) -> int:
        for pattern in _STRINGS:
            if (match := pattern.match(self.text, start)) is not None:
                return match.end()
        raise ValueError(f"no string at {start}")

    def _note(self, path: Path, key: int, start: int, end: int) -> None:
        self.found.setdefault(path, Place(key, start, end))


_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b", '"': '"', "\\": "\\"}
_ESCAPE = r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(.))"


def _unquoted(written: str) -> str:
    """The key that a quoted one means."""
    if written[0] == "'" or "\\" not in written:
        return written[1:-1]

    def value(match: re.Match[str]) -> str:
        digits: Any = match[1] or match[2] or match[3]
        return chr(int(digits, 16)) if digits else _ESCAPES.get(match[4], match[4])

    return re.sub(_ESCAPE, value, written[1:-1])
