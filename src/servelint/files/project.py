"""The project of a file: its settings file, and the files that it may name and have read.

Settings are in `servelint.toml`, or in `[tool.servelint]` of `pyproject.toml`; the nearest file above a path governs it.
"""

from __future__ import annotations

import os
import re
import stat

from servelint.core import bounds, safe_open
from servelint.core.trust import EVERYTHING, Trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.settings import Outside

NAME = "servelint.toml"
PYPROJECT = "pyproject.toml"
TABLE = ("tool", "servelint")
"""Where the settings stand in PYPROJECT."""

SIZE_AT_MOST = 1 << 20
"""Bytes (1 MiB)."""

_MAYBE = rb"""^[ \t]*\[*[ \t]*["']?tool\b.*servelint|^[ \t]*["']?servelint["']?[ \t]*[.=]"""
"""What may begin that table."""


class Finder:
    """Finds settings files; what it finds for a folder is kept."""

    __slots__ = ("_known", "_trust")

    def __init__(self, trust: Trust = EVERYTHING) -> None:
        self._trust = trust
        self._known: dict[str, str | None] = {}

    def nearest(self, folder: str) -> str | None:
        """The settings file that governs a folder, given by its absolute path; None if there is none up to the root."""
        below: list[str] = []
        here = folder
        while here not in self._known:
            below.append(here)
            found = _in(here, self._trust)
            parent = os.path.dirname(here)
            if found is not None or parent == here:
                self._known[here] = found
                break
            here = parent
        found = self._known[here]
        for one in below:
            self._known[one] = found
        return found


def _in(folder: str, trust: Trust) -> str | None:
    own = os.path.join(folder, NAME)
    if trust.is_file(own):
        return own
    shared = os.path.join(folder, PYPROJECT)
    return shared if trust.is_file(shared) and _has_table(shared, trust) else None


def _has_table(path: str, trust: Trust) -> bool:
    """Whether a pyproject.toml has the table; one that cannot be parsed may have it, and its reader reports what is wrong."""
    try:
        data = trust.read(path, SIZE_AT_MOST)
    except OSError:
        return False
    if b"servelint" not in data or re.search(_MAYBE, data, re.MULTILINE) is None:
        return False  # most of them: they are not parsed
    from servelint.files import toml_document

    found = toml_document.read(path, path, SIZE_AT_MOST, trust)
    return not isinstance(found, toml_document.Document) or found.table(TABLE) is not None


def shown(path: str) -> str:
    """A path as reports show it: relative where it is below the current folder."""
    path = os.path.normpath(path)
    here = os.getcwd()
    if path == here:
        return "."
    start = os.path.join(here, "")
    return path[len(start) :] if path.startswith(start) else path


class Refused(Exception):
    """Why an existing file is not read.

    Attributes:
        reason: One sentence.
        outside: Whether it stands outside of the project.
    """

    def __init__(self, reason: str, *, outside: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.outside = outside


class Project:
    """Reads the files of the project that a folder belongs to; a link that leads out of it is not followed.

    Args:
        folder: The folder.
        outside: Folders whose files may be read as well (`read-outside` of the settings); True: any file.
        named: Absolute paths of the folders that are checked; one of them may be the project.
        trust: Which version of the settings file counts that may name the project, and the folders in which files may be read.
    """

    __slots__ = ("_folder", "_named", "_outside", "_roots", "_trust")

    def __init__(self, folder: str, outside: Outside = (), named: tuple[str, ...] = (), trust: Trust = EVERYTHING) -> None:
        self._trust = trust
        self._folder = folder
        self._outside = outside
        self._named = named
        self._roots: list[str] | None = None

    def __call__(self, path: str) -> bytes | None:
        """The bytes of a small regular file; None if there is none. Raises Refused for one that is not read.

        Of a folder, whose path ends with a slash, they are the names in it, a line each.
        """
        try:
            if path.endswith("/"):
                return safe_open.names(path) if self.holds(os.path.join(path, "any")) else None
            info = os.stat(path)
            if not stat.S_ISREG(info.st_mode):
                return None
            if not self._trust.holds(path):
                raise Refused(f"not read: {_shown(path)} is outside the folders that may be read", outside=True)
            if info.st_size > bounds.NEIGHBOUR.most:
                raise Refused(bounds.NEIGHBOUR.says.format(name=_shown(path)))
            if self._outside is True:
                return safe_open.read(path, bounds.NEIGHBOUR.most)[: bounds.NEIGHBOUR.most]
            real = os.path.realpath(path)
            root = self._root_of(real)
            if root is None:
                raise Refused(_outside_of(self.root, path), outside=True)
            opened = safe_open.descriptor_below(root, os.path.relpath(real, root))
            return safe_open.content(opened, bounds.NEIGHBOUR.most)[: bounds.NEIGHBOUR.most]
        except (OSError, ValueError):
            return None

    def holds(self, path: str) -> bool:
        """Whether a file may be read, wherever links to it are."""
        if not self._trust.holds(path):
            return False
        return self._outside is True or self._root_of(os.path.realpath(path)) is not None

    @property
    def root(self) -> str:
        """The folder that the project is, without links."""
        return self._known()[0]

    def _known(self) -> list[str]:
        if self._roots is None:
            more = self._outside if self._outside is not True else ()
            self._roots = [root(self._folder, self._named, self._trust), *[os.path.realpath(one) for one in more]]
        return self._roots

    def _root_of(self, real: str) -> str | None:
        return next((one for one in self._known() if real.startswith(os.path.join(one, ""))), None)


def folders(paths: list[str]) -> tuple[str, ...]:
    """The absolute paths of the folders among some paths."""
    return tuple([os.path.abspath(path) for path in paths if os.path.isdir(path)])


def root(folder: str, named: tuple[str, ...] = (), trust: Trust = EVERYTHING) -> str:
    """The real path of a folder's project: the nearest git checkout above it.

    Without one, it is the outermost of the folder itself, the current one, that of the governing settings file, and `named`.
    """
    folder = os.path.abspath(folder)
    return os.path.realpath(repository(folder) or _without_git(folder, named, trust))


def repository(folder: str) -> str | None:
    """The nearest folder of a git checkout, from a folder upwards."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _without_git(folder: str, named: tuple[str, ...], trust: Trust) -> str:
    settings = Finder(trust).nearest(folder)
    found = [os.getcwd(), os.path.dirname(settings) if settings is not None else folder, *named]
    above = [one for one in found if os.path.join(folder, "").startswith(os.path.join(one, ""))]
    return min([folder, *above], key=len)


def _outside_of(root: str, path: str) -> str:
    return (
        f"not read: {_shown(path)} is not a file of the project ({_shown(root)}); what it says is taken as unknown, "
        "unless the settings have its folder in read-outside"
    )


def _shown(path: str) -> str:
    return shown(os.path.abspath(path))
