"""Where the data of servelint are: catalogs, rules, images, models and GPUs.

They come with the package, or from a newer bundle that `servelint engines update` has verified and installed. A process uses
one set of data from its start to its end, and so do the processes that it starts.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import sys
from collections.abc import Mapping
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

VERSION: str = sys.modules["servelint"].__version__  # the package itself imports higher layers
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CURRENT = "current.json"
"""The file of the folder of bundles that names the installed ones, the newest first."""
VARIABLE = "_SERVELINT_BUNDLE"
"""Names the bundle that a process uses, by its id; empty for the data of the package."""
RELEASES = "engines/data/releases.json"

_ID = r"[0-9a-f]{40}(?:\.\d+)?"
_FORMAT = "lines"
_VERSION = 3
_START = f'{{"{_FORMAT}":{_VERSION},'.encode()


class DataError(Exception):
    """The installed data cannot be used. The message is one sentence."""


class Bundle:
    """An installed bundle.

    Attributes:
        id: The digest of its manifest.
        folder: Where it is.
        date: When it was made, as "2026-11-23T15:10:00Z".
        code: The oldest version of servelint that can use it.
    """

    __slots__ = ("code", "date", "folder", "id")

    def __init__(self, id: str, folder: str, manifest: dict[str, Any]) -> None:
        self.id = id
        self.folder = folder
        self.date: str = manifest["date"]
        self.code: str = manifest["code"]

    @property
    def fault(self) -> str:
        """Why it is not used; "" if it is."""
        if numbers(self.code) > numbers(VERSION):
            return f"it needs servelint {self.code}, and this is {VERSION}"
        own = package_date()
        return f"its data of {self.date[:10]} are older than those of servelint {VERSION}, {own}" if self.date < own else ""


def numbers(version: str) -> list[int]:
    """Return the numbers of a version of servelint.

    >>> numbers("0.10.0") > numbers("0.9.1")
    True
    """
    return [int(part) for part in version.split(".")]


def bundle_folder() -> str:
    """Return the folder of the user's bundles by the conventions of the system."""
    return os.path.join(own_folder("~/Library/Application Support", "XDG_DATA_HOME", "~/.local/share"), "bundles")


def own_folder(mac: str, variable: str, other: str) -> str:
    """Return servelint's folder of the user: below `mac` on macOS, below what a variable says or `other` elsewhere."""
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~")
    else:
        base = os.path.expanduser(mac if sys.platform == "darwin" else os.environ.get(variable) or other)
    return os.path.join(base, "servelint")


def installed() -> list[str]:
    """Return the ids of the installed bundles, the newest first.

    Raises:
        DataError: The file that names them cannot be read.
    """
    path = os.path.join(bundle_folder(), CURRENT)
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)["bundles"]
        if all(re.fullmatch(_ID, one) for one in found):
            return list(found)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} cannot be read ({error}); delete it, and install the data again") from None
    raise DataError(f"{path} does not name bundles; delete it, and install the data again")


def read(id: str) -> Bundle:
    """Return an installed bundle by its id. Raises DataError."""
    folder = os.path.join(bundle_folder(), id)
    try:
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            return Bundle(id, folder, json.load(file))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"the installed data bundle {folder} cannot be read ({error}); run servelint engines update --rollback"
        ) from None


@lru_cache(maxsize=1)
def active() -> Bundle | None:
    """Return the bundle that this process uses; None for the data of the package. Raises DataError."""
    named = os.environ.get(VARIABLE)
    if named is not None and named and not re.fullmatch(_ID, named):
        raise DataError(f"{VARIABLE} is {named!r}, which is not the id of a bundle")
    ids = installed() if named is None else [named] if named else []
    found = read(ids[0]) if ids else None
    return None if found is None or found.fault else found


def environment() -> dict[str, str]:
    """Return the environment for a process that is to use the same data."""
    found = active()
    return {**os.environ, VARIABLE: found.id if found is not None else ""}


def data_path(name: str) -> str:
    """Return the path of a file or folder of data by its name below the package, such as models/traits.json."""
    found = active()
    return os.path.join(found.folder if found is not None else PACKAGE, *name.split("/"))


def read_json(path: str) -> Any:
    """Return what a JSON file holds. Raises DataError if it is one of an installed bundle, and damaged."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        if (used := active()) is None or not path.startswith(used.folder + os.sep):
            raise
        raise DataError(f"{path} cannot be read ({error}); run servelint engines update --rollback") from None


def load_data(name: str) -> Any:
    """Return what a JSON file of data holds, by its name below the package."""
    return read_json(data_path(name))


def compiled_path(path: str) -> str:
    """Return the path of the compiled form of a file: its own, or one with servelint's version in it for a file of a bundle."""
    found = active()
    if found is None or not path.startswith(found.folder + os.sep):
        return path
    return os.path.join(found.folder, "compiled", VERSION, os.path.relpath(path, found.folder))


@lru_cache(maxsize=1)
def package_date() -> str:
    """Return the day of the data of the package, as "2026-11-21"."""
    return str(read_json(os.path.join(PACKAGE, *RELEASES.split("/")))["date"])


def date() -> str:
    """Return the day of the data that this process uses."""
    found = active()
    return found.date[:10] if found is not None else package_date()


# -- compiled data


class Lines:
    """Compiled data: a header, then lines of JSON, each found by its offset and decoded when it is asked for.

    Attributes:
        header: what the first line holds.
    """

    __slots__ = ("_begin", "_text", "header")

    def __init__(self, text: bytes | mmap.mmap) -> None:
        self._text = text
        self._begin = text.find(b"\n") + 1
        self.header: dict[str, Any] = json.loads(text[: self._begin])

    def load(self, offset: int) -> Any:
        """Return what the line at an offset holds."""
        return json.loads(self._line(offset))

    def load_next(self, offset: int) -> Any:
        """Return what the line after the one at an offset holds."""
        return self.load(self._text.find(b"\n", self._begin + offset) + 1 - self._begin)

    def table(self, offset: int) -> Table:
        """Return the table of which the line at an offset is."""
        parts = self._line(offset).decode().split("\t")
        return Table(dict(zip(parts[::2], parts[1::2], strict=False)))

    def _line(self, offset: int) -> bytes:
        begin = self._begin + offset
        return self._text[begin : self._text.find(b"\n", begin)]


class Table(Mapping[str, "Any"]):
    """Values by their names, each decoded when it is asked for: a check asks for few of many."""

    __slots__ = ("_values", "_written")

    def __init__(self, written: dict[str, str]) -> None:
        self._written = written
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = json.loads(self._written[name])
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._written

    def __iter__(self) -> Iterator[str]:
        return iter(self._written)

    def __len__(self) -> int:
        return len(self._written)


class LinesWriter:
    """Makes the text of `Lines`."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._end = 0

    def add(self, value: object) -> int:
        """Add a line, and return its offset."""
        return self._added(_line(value))

    def add_table(self, values: dict[str, Any]) -> int:
        """Add a line for `Lines.table`, and return its offset. No name has a tab or the end of a line in it."""
        parts = [part for name, value in values.items() for part in (name.encode(), _line(value)[:-1])]
        return self._added(b"\t".join(parts) + b"\n")

    def _added(self, line: bytes) -> int:
        offset = self._end
        self._lines.append(line)
        self._end += len(line)
        return offset

    def text(self, header: dict[str, Any]) -> bytes:
        """Return the whole text."""
        return b"".join([_line({_FORMAT: _VERSION, **header}), *self._lines])


def _line(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def mapped(path: str) -> bytes | mmap.mmap | None:
    """Return the compiled data of a file, mapped where that is possible; None for another format. Raises OSError."""
    with open(path, "rb") as file:
        if file.read(len(_START)) != _START:
            return None
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):
            return _START + file.read()  # a file system without mappings
