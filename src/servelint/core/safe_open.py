"""Opening regular files only: to read a pipe may wait forever, and to open a device may have an effect."""

from __future__ import annotations

import os
import stat

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_STEPWISE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


class NotRegular(OSError):
    """The path names a folder, a pipe, a socket or a device. It was not opened."""

    def __init__(self) -> None:
        super().__init__(0, "not a regular file")


def descriptor(path: str) -> int:
    """Open a regular file for reading.

    Raises:
        NotRegular: It is anything else.
        OSError: As `os.open` raises it.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise NotRegular
    return _regular(os.open(path, _FLAGS))


def descriptor_below(folder: str, path: str) -> int:
    """Open a regular file below a folder without following any link, not even one put there meanwhile.

    Args:
        folder: The folder's real path.
        path: The path from there, without links.
    """
    if not _STEPWISE:
        return descriptor(os.path.join(folder, path))
    *folders, name = path.split(os.sep)
    here = os.open(folder, _FOLDER)
    try:
        for one in folders:
            below = os.open(one, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
        if not stat.S_ISREG(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
            raise NotRegular
        return _regular(os.open(name, _FLAGS | os.O_NOFOLLOW, dir_fd=here))
    finally:
        os.close(here)


def _regular(opened: int) -> int:
    """What was opened, if it is still a regular file."""
    if stat.S_ISREG(os.fstat(opened).st_mode):
        return opened
    os.close(opened)
    raise NotRegular


def content(opened: int, most: int) -> bytes:
    """Read a descriptor and close it: the first `most` bytes and one more at most."""
    with os.fdopen(opened, "rb") as file:
        return file.read(most + 1)


def names(folder: str) -> bytes | None:
    """The names in a folder, a line each, in order; None where there are too many. Raises OSError for one that is not there."""
    found = sorted([name for name in os.listdir(folder) if name.isprintable()])
    return "\n".join(found).encode() if len(found) <= NAMES_AT_MOST else None


NAMES_AT_MOST = 200
"""Names in a folder that is listed."""


def read(path: str, most: int) -> bytes:
    """Read a regular file: the first `most` bytes and one more at most. Raises OSError or ValueError if it cannot be read."""
    return content(descriptor(path), most)
