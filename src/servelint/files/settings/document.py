"""A TOML file as data, with the place of each of its keys and values."""

from __future__ import annotations

import re
import sys

from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.files import trust
from servelint.files.settings import places
from servelint.files.settings.find import SIZE_AT_MOST
from servelint.files.settings.places import Path, Place

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class Document:
    """path: as reports show it;  data: what the file says;  source: its text"""

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
            self._places = places.places(self.source.text)
        while path and path not in self._places:
            path, of_key = path[:-1], True
        place = self._places.get(path)
        if place is None:
            return 1, 1
        return self.source.position(place.key if of_key else place.start)


def read(path: str, shown: str) -> Document | Problem:
    """A file's content, or what is wrong with it as TOML. shown: the path as reports show it"""
    try:
        data = trust.read(path, SIZE_AT_MOST)
    except (OSError, ValueError) as error:
        return Problem(shown, f"cannot be read: {getattr(error, 'strerror', None) or error}")
    if len(data) > SIZE_AT_MOST:
        return Problem(shown, f"not read: settings files are read up to {SIZE_AT_MOST >> 20} MiB")
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
        at = _AT.search(message)
        line, column = source.position(len(source.text))
        if isinstance(error, RecursionError):
            line, column, message = 1, 1, "nested too deep"
        elif at is not None:
            line, column = (int(at[1]), int(at[2])) if at[1] else (line, column)
            message = message[: at.start()]
        return Problem(source.path, f"not valid TOML: {message[:1].lower()}{message[1:]}", line, column)
