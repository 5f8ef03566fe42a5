"""The files of one project: what a file may name, and have read."""

from __future__ import annotations

import os
import stat

from servelint.core import bounds, safe_open
from servelint.core.trust import EVERYTHING, Trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.settings import Outside


class Refused(Exception):
    """Why a file that is there is not read. outside: it is no file of the project"""

    def __init__(self, reason: str, *, outside: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.outside = outside


class Project:
    """Reads the files of the project that a folder belongs to; a link out of it leads nowhere.

    outside: folders whose files may be read as well (`read-outside` of the settings); True: any file
    named:   folders that are looked through, absolute, which may be what the project is
    trust:   whose version of the settings file counts that may name the project
    """

    __slots__ = ("_folder", "_named", "_outside", "_roots", "_trust")

    def __init__(self, folder: str, outside: Outside = (), named: tuple[str, ...] = (), trust: Trust = EVERYTHING) -> None:
        self._trust = trust
        self._folder = folder
        self._outside = outside
        self._named = named
        self._roots: list[str] | None = None

    def __call__(self, path: str) -> bytes | None:
        """The bytes of a small regular file; None if there is none. Raises Refused for one that is not read."""
        try:
            info = os.stat(path)
            if not stat.S_ISREG(info.st_mode):
                return None
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
        """Whether a file may be read, wherever a link to it stands."""
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
    """The folders among files and folders that are named, absolute."""
    return tuple([os.path.abspath(path) for path in paths if os.path.isdir(path)])


def root(folder: str, named: tuple[str, ...] = (), trust: Trust = EVERYTHING) -> str:
    """The project of a folder: the nearest one above it that is a git checkout.

    Without one it is the outermost of the folder itself, the current one, that of the settings file that governs it, and those
    that are named.
    """
    folder = os.path.abspath(folder)
    here = folder
    while not os.path.lexists(os.path.join(here, ".git")):
        parent = os.path.dirname(here)
        if parent == here:
            return os.path.realpath(_without_git(folder, named, trust))
        here = parent
    return os.path.realpath(here)


def _without_git(folder: str, named: tuple[str, ...], trust: Trust) -> str:
    from servelint.files.settings_finder import Finder

    settings = Finder(trust).nearest(folder)
    found = [os.getcwd(), os.path.dirname(settings) if settings is not None else folder, *named]
    above = [one for one in found if os.path.join(folder, "").startswith(os.path.join(one, ""))]
    return min([folder, *above], key=len)


def _outside_of(root: str, path: str) -> str:
    return (
        f"not read: {_shown(path)} is no file of the project ({_shown(root)}); what it says is taken as unknown, "
        "unless the settings have its folder in read-outside"
    )


def _shown(path: str) -> str:
    from servelint.files.settings_finder import shown

    return shown(os.path.abspath(path))
