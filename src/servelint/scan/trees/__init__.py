"""The files of a repository, however they are stored: on disk, in git's object store, in an archive.

Paths are relative to the repository, with slashes. Nothing outside it is ever read, whatever its links and files name.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from functools import lru_cache

from servelint.core.problem import Problem
from servelint.readers import discover, mentions_engine
from servelint.readers.registry import CANDIDATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Protocol, TypeAlias

    Excludes: TypeAlias = Callable[[str], bool]

    class Tree(Protocol):
        """One repository's files.

        seal:     the same for the same files: all that there are if `whole`, else those whose names are looked at
        by_id:    whether the stamps are ids of contents
        problems: what could not be read
        """

        seal: str
        whole: bool
        by_id: bool
        revision: str | None
        problems: list[Problem]

        def candidates(self) -> list[tuple[str, str]]:
            """The files whose names are looked at, each with its stamp: another one where it may have changed."""

        def contents(self, paths: Iterable[tuple[str, str]]) -> Iterator[tuple[str, bytes | Problem | None]]:
            """What some of them hold; None for one that cannot launch anything, a problem for one that cannot be read."""

        def read(self, path: str) -> bytes | None:
            """A small regular file of the repository; None if there is none."""

        def stamp(self, path: str) -> str:
            """The stamp of a file; "" if there is none, FRESH if it cannot be relied on."""

        def close(self) -> None: ...


FRESH = "?"
"""The stamp of a file that may change again and keep its times."""

SEARCHED_AT_MOST = 64 << 20
"""Bytes (64 MiB) of a file that is too large in which an engine is looked for."""

CHUNK = 1 << 20
_OVERLAP = 64
_LINKS_AT_MOST = 32


def is_candidate(name: str) -> bool:
    """Whether a file's name is looked at, as servelint.readers.discover does."""
    lowered = name.lower()
    _, dot, ending = lowered.rpartition(".")
    if dot and "file" not in lowered and ".env" not in lowered and not _may_end(ending):
        return False  # most names; the pattern would take ten times as long to say so
    return re.search(CANDIDATE, name) is not None


@lru_cache(maxsize=4096)
def _may_end(ending: str) -> bool:
    """Whether the name of a file that is looked at may end so behind its last dot: `x.yml`, `x.yml.j2`."""
    return any(re.search(CANDIDATE, f"{start}.{ending}") for start in ("x", "x.yml"))


def too_large(path: str, size: int, chunks: Iterable[bytes]) -> Problem | None:
    """A problem if a file that is too large mentions an engine."""
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


def reason(error: Exception) -> str:
    """Why a file could not be read, as reports say it."""
    return f"cannot be read: {error.strerror}" if isinstance(error, OSError) and error.strerror else f"cannot be read: {error}"


def blob_id(data: bytes) -> str:
    """Git's id of a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def inside(path: str) -> str | None:
    """A path in its shortest form; None for one that leads out of the repository."""
    if path.startswith("/") or "\0" in path:
        return None
    found = posixpath.normpath(path)
    return None if found == ".." or found.startswith("../") else found


def followed(path: str, links: dict[str, str]) -> str | None:
    """Where a path leads in a tree with links (path -> target as written); None if out of it, or in a circle."""
    for _ in range(_LINKS_AT_MOST):
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            link = "/".join(parts[:count])
            if link in links:
                target = inside(posixpath.join(posixpath.dirname(link), links[link]))
                found = inside("/".join([target, *parts[count:]])) if target is not None else None
                break
        else:
            return path
        if found is None:
            return None
        path = found
    return None
