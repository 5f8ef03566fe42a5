"""The files of a repository, however they are stored: the protocol `Tree`, and the tree of a folder.

servelint.scan.git reads a revision from git's object store, servelint.scan.archives an archive. Paths are relative to the
repository, with slashes. No tree reads a file outside of the repository, whatever its links and files name.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import stat
import time
from collections.abc import Iterable, Iterator
from functools import lru_cache

from servelint.core import bounds
from servelint.core.problem import Problem
from servelint.readers import discover, mentions_engine
from servelint.readers.discover import SKIPPED, bound, reason
from servelint.readers.registry import CANDIDATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol, TypeAlias

    Excludes: TypeAlias = Callable[[str], bool]

    class Tree(Protocol):
        """The files of one repository.

        Attributes:
            seal: a text that is equal for equal files; for all of them if `whole`, else for the candidates.
            whole: whether the seal covers all files.
            by_id: whether stamps are ids of contents.
            revision: the commit, None where the files belong to none.
            problems: what could not be read.
        """

        seal: str
        whole: bool
        by_id: bool
        revision: str | None
        problems: list[Problem]

        def candidates(self) -> list[tuple[str, str]]:
            """Return the files that may launch something by their names, each with a stamp, which differs if the file may."""

        def contents(self, paths: Iterable[tuple[str, str]]) -> Iterator[tuple[str, bytes | Problem | None]]:
            """Yield the contents of candidates: None if a file cannot launch anything, a problem if it cannot be read."""

        def read(self, path: str) -> bytes | None:
            """Return a small regular file of the repository; None if there is none."""

        def stamp(self, path: str) -> str:
            """Return the stamp of a file; "" if there is no file, FRESH if a stamp proves nothing."""

        def close(self) -> None:
            """Free what the tree holds open."""


FRESH = "?"
"""The stamp of a file that may change again without a change of its times."""

SEARCHED_AT_MOST = 64 << 20
"""Bytes (64 MiB) of a file over the size limit that are searched for an engine."""

CHUNK = 1 << 20
_OVERLAP = 64
_LINKS_AT_MOST = 32


class TreeError(Exception):
    """A repository cannot be read. The message is one sentence."""


def is_candidate(name: str) -> bool:
    """Return whether a file may launch something by its name, as in servelint.readers.discover."""
    lowered = name.lower()
    _, dot, ending = lowered.rpartition(".")
    if dot and "file" not in lowered and ".env" not in lowered and not _may_end(ending):
        return False  # most names; the pattern alone takes ten times as long
    return re.search(CANDIDATE, name) is not None


@lru_cache(maxsize=4096)
def _may_end(ending: str) -> bool:
    """Return whether the name of a candidate may have an ending: `x.yml`, `x.yml.j2`."""
    return any(re.search(CANDIDATE, f"{start}.{ending}") for start in ("x", "x.yml"))


def too_large(path: str, size: int, chunks: Iterable[bytes]) -> Problem | None:
    """Return a problem if a file over the size limit mentions an engine."""
    if path.lower().endswith(".json"):
        return None  # a data set, a benchmark's results
    tail, searched = b"", 0
    for chunk in chunks:
        searched += len(chunk)
        if b"\0" in chunk or searched > SEARCHED_AT_MOST:
            return None
        if mentions_engine(tail + chunk):
            return discover.too_large(path, size)
        tail = chunk[-_OVERLAP:]
    return None


def blob_id(data: bytes) -> str:
    """Return git's id of a content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def inside(path: str) -> str | None:
    """Return a path in its shortest form; None if it leads out of the repository."""
    if path.startswith("/") or "\0" in path:
        return None
    found = posixpath.normpath(path)
    return None if found == ".." or found.startswith("../") else found


def followed(path: str, links: dict[str, str]) -> str | None:
    """Resolve the links in a path.

    Args:
        path: the path.
        links: path of a link to its target, as written.

    Returns:
        The path without links; None if it leads out of the repository or in a circle.
    """
    for _ in range(_LINKS_AT_MOST):
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            if (link := "/".join(parts[:count])) in links:
                target = inside(posixpath.join(posixpath.dirname(link), links[link]))
                found = inside("/".join([target, *parts[count:]])) if target is not None else None
                break
        else:
            return path
        if found is None:
            return None
        path = found
    return None


_FRESH_FOR = 2_000_000_000
"""Nanoseconds for which a changed file may keep its times: the resolution of some file systems is that coarse."""
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class DiskTree:
    """The files of a folder, tracked by git or not. A link counts if it leads to a regular file inside the folder."""

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
        """Return the files as found when the tree was made."""
        return self._found

    def _walk(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        folders = [""]
        excludes = self._excludes
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
                        found.append((head + name, self._stamp(info)))
        return sorted(found)

    def contents(self, paths: Iterable[tuple[str, str]]) -> Iterator[tuple[str, bytes | Problem | None]]:
        """Read candidates."""
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
                return os.read(
                    descriptor, info.st_size + 1
                )  # a buffer of the largest size takes longer to allocate than to fill
            finally:
                os.close(descriptor)
        except (OSError, ValueError) as error:
            return Problem(path, reason(error))

    def read(self, path: str) -> bytes | None:
        """Read a small regular file of the folder."""
        if (info := self._info(path)) is None or info.st_size > bounds.NEIGHBOUR.most:
            return None
        try:
            with open(os.path.join(self._folder, path), "rb") as file:
                return file.read(bounds.NEIGHBOUR.most)
        except OSError:
            return None

    def stamp(self, path: str) -> str:
        """Return size, times and inode of a file."""
        info = self._info(path)
        if info is None:
            return ""
        return self._stamp(info)

    def _stamp(self, info: os.stat_result) -> str:
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
        """Do nothing: no file stays open."""
