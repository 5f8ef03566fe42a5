"""A repository in a folder: its working tree, with what git does not follow."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator

from servelint.core import bounds
from servelint.core.problem import Problem
from servelint.readers.discover import SKIPPED, bound
from servelint.scan.trees import CHUNK, FRESH, inside, is_candidate, reason, too_large

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.scan.trees import Excludes

_FRESH_FOR = 2_000_000_000
"""Nanoseconds for which a file may change without another time on it: the times of some file systems are as coarse as that."""
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class DiskTree:
    """The files of a folder. A link counts where it leads to a regular file inside the folder."""

    whole = False
    by_id = False
    revision: str | None = None

    def __init__(self, folder: str, excludes: Excludes | None) -> None:
        self.problems: list[Problem] = []
        self._folder = folder
        self._real = os.path.join(os.path.realpath(folder), "")
        self._excludes = excludes
        self._fresh = time.time_ns() - _FRESH_FOR
        self._found = self._walk()
        self.seal = "\0".join([f"{stamp} {path}" for path, stamp in self._found])

    def candidates(self) -> list[tuple[str, str]]:
        return self._found

    def _walk(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        folders = [""]
        excludes, fresh = self._excludes, self._fresh
        while folders:
            below = folders.pop()
            here = self._folder + os.sep + below if below else self._folder
            head = below + "/" if below else ""
            try:
                with os.scandir(here) as scan:
                    entries = list(scan)
            except OSError as error:
                self.problems.append(Problem(below, reason(error)))
                continue
            for entry in entries:
                name = entry.name
                if entry.is_dir(follow_symlinks=False):
                    if name not in SKIPPED and not (excludes is not None and excludes(head + name)):
                        folders.append(head + name)
                elif is_candidate(name) and not (excludes is not None and excludes(head + name)):
                    try:
                        if entry.is_symlink() and not os.path.realpath(entry.path).startswith(self._real):
                            continue
                        info = entry.stat()
                    except OSError:
                        continue  # a link that leads nowhere, or in a circle
                    if stat.S_ISREG(info.st_mode):
                        times = info.st_mtime_ns, info.st_ctime_ns
                        known = times[0] < fresh and times[1] < fresh
                        stamp = f"{info.st_size}.{times[0]}.{times[1]}.{info.st_ino}" if known else FRESH
                        found.append((head + name, stamp))
        return sorted(found)

    def contents(self, paths: Iterable[tuple[str, str]]) -> Iterator[tuple[str, bytes | Problem | None]]:
        for path, _ in paths:
            yield path, self._content(path)

    def _content(self, path: str) -> bytes | Problem | None:
        try:
            descriptor = os.open(self._folder + os.sep + path, _FLAGS)
            try:
                info = os.fstat(descriptor)
                if not stat.S_ISREG(info.st_mode):
                    return Problem(path, "not a regular file")
                if info.st_size > bound(path).most:
                    return too_large(path, info.st_size, iter(lambda: os.read(descriptor, CHUNK), b""))
                return os.read(descriptor, info.st_size + 1)  # room for all of it at most would take longer to get than to fill
            finally:
                os.close(descriptor)
        except (OSError, ValueError) as error:
            return Problem(path, reason(error))

    def read(self, path: str) -> bytes | None:
        info = self._info(path)
        if info is None or info.st_size > bounds.NEIGHBOUR.most:
            return None
        try:
            with open(os.path.join(self._folder, path), "rb") as file:
                return file.read(bounds.NEIGHBOUR.most)
        except OSError:
            return None

    def stamp(self, path: str) -> str:
        info = self._info(path)
        if info is None:
            return ""
        if max(info.st_mtime_ns, info.st_ctime_ns) >= self._fresh:
            return FRESH
        return f"{info.st_size}.{info.st_mtime_ns}.{info.st_ctime_ns}.{info.st_ino}"

    def _info(self, path: str) -> os.stat_result | None:
        place = inside(path)
        if place is None:
            return None
        full = os.path.join(self._folder, place)
        try:
            info = os.stat(full)
            if not stat.S_ISREG(info.st_mode) or not os.path.realpath(full).startswith(self._real):
                return None
        except (OSError, ValueError):
            return None
        return info

    def close(self) -> None:
        pass
