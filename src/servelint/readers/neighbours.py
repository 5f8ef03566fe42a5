"""The files beside a file that its format names itself: `.env`, `env_file`, a Dockerfile. Nothing else is ever read."""

from __future__ import annotations

import os
import stat

from servelint.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_SIZE_AT_MOST = 1 << 20


def from_disk(path: str) -> bytes | None:
    """The bytes of a small regular file, None if there is none."""
    try:
        info = os.stat(path)
        if not stat.S_ISREG(info.st_mode) or info.st_size > _SIZE_AT_MOST:
            return None
        with open(path, "rb") as file:
            return file.read(_SIZE_AT_MOST)
    except (OSError, ValueError):
        return None


class Neighbours:
    """Reads small regular text files relative to a folder; a text without a file has no neighbours (folder None).

    fetch: gives the bytes of a path, None where there is none
    """

    __slots__ = ("_fetch", "_read", "folder", "shown")

    def __init__(self, folder: str | None, shown: str = "", fetch: Callable[[str], bytes | None] = from_disk) -> None:
        self.folder = folder
        self.shown = shown
        self._fetch = fetch
        self._read: dict[str, Source | None] = {}

    def read(self, path: str) -> Source | None:
        """The file's text; None if it is not there, is no regular file, is too large, or is not UTF-8."""
        if self.folder is None or "\0" in path:
            return None
        if path not in self._read:
            self._read[path] = self._open(path)
        return self._read[path]

    def below(self, path: str) -> Neighbours:
        """The neighbours of a file in another folder."""
        if self.folder is None:
            return self
        return Neighbours(os.path.join(self.folder, os.path.expanduser(path)), os.path.join(self.shown, path), self._fetch)

    def _open(self, path: str) -> Source | None:
        full = os.path.join(self.folder or "", os.path.expanduser(path))
        data = self._fetch(full)
        if data is None:
            return None
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None
        return Source(os.path.normpath(os.path.join(self.shown, path)), text)
