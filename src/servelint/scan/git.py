"""A repository at a revision, read from git's object store: git checks out nothing, and runs no hook, filter or helper."""

from __future__ import annotations

import contextlib
import os
import posixpath
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice

from servelint.core import bounds
from servelint.core.problem import Problem
from servelint.readers.discover import SKIPPED, bound
from servelint.scan.trees import CHUNK, TreeError, inside, is_candidate, too_large

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.scan.trees import Excludes

_OPTIONS = ("-c", "core.fsmonitor=false", "-c", "core.bigFileThreshold=4m", "-c", "protocol.allow=never")
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",  # a clone without all blobs would ask its remote for them
    "GIT_ALLOW_PROTOCOL": "none",  # the same for a git before 2.44
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_AHEAD = 256
"""Objects that are requested before the first is read. Their ids fit into a pipe, so that git never blocks."""
_FOLDER, _LINK, _MODULE = 0o040000, 0o120000, 0o160000
_LINKS_AT_MOST = 32
_FOLDERS_AT_MOST = 1_000_000
_LISTING_AT_MOST = 64 << 20
_TARGET_AT_MOST = 4096


class _Objects:
    """A git process that returns objects in the order of the requests. Its methods raise TreeError."""

    __slots__ = ("_err", "_git", "_in", "_out")

    def __init__(self, folder: str) -> None:
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - a pipe would block git once it is full
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        try:
            git = subprocess.Popen(  # noqa: S603 - the words are ours
                ["git", f"--git-dir={folder}", *_OPTIONS, "cat-file", "--batch"],  # noqa: S607 - the user's git
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**kept, **_ENVIRONMENT},
            )
        except FileNotFoundError:
            errors.close()
            raise TreeError("git is not installed") from None
        if git.stdin is None or git.stdout is None:
            raise TreeError("git has no pipes")
        self._git, self._in, self._out, self._err = git, git.stdin, git.stdout, errors

    def close(self) -> None:
        """End git, which may still have output."""
        self._git.kill()
        for pipe in (self._in, self._out, self._err):
            with contextlib.suppress(OSError):
                pipe.close()
        self._git.wait()

    def ask(self, names: Iterable[str]) -> None:
        try:
            self._in.write("".join([name + "\n" for name in names]).encode("utf-8", "surrogateescape"))
            self._in.flush()
        except OSError:
            raise TreeError(self._why()) from None

    def answer(self) -> tuple[str, str, int]:
        """Return the id, the kind and the size of the next object; no kind and -1 if it does not exist."""
        line = self._out.readline()
        if not line.endswith(b"\n"):
            raise TreeError(self._why())
        parts = line.decode("utf-8", "surrogateescape").split()
        return (parts[0], parts[1], int(parts[2])) if len(parts) == 3 else ("", "", -1)

    def body(self, size: int) -> bytes:
        data = self._out.read(size + 1)
        if len(data) != size + 1:
            raise TreeError(self._why())
        return data[:-1]

    def chunks(self, size: int) -> Iterator[bytes]:
        """Yield the content of the object in parts; all of them must be taken."""
        left = size
        while left > 0:
            data = self._out.read(min(left, CHUNK))
            if not data:
                raise TreeError(self._why())
            left -= len(data)
            yield data
        self._out.read(1)

    def skip(self, size: int) -> None:
        if size >= 0:
            for _ in self.chunks(size):
                pass

    def one(self, name: str, kind: str, at_most: int) -> bytes | None:
        """Request an object and return its content; None if it does not exist, is of another kind, or is too large."""
        self.ask([name])
        _, found, size = self.answer()
        if found == kind and size <= at_most:
            return self.body(size)
        self.skip(size)
        return None

    def _why(self) -> str:
        """Return the error that git printed before it ended."""
        self._git.kill()
        self._git.wait()
        self._err.seek(0)
        printed = self._err.read(4096).decode("utf-8", "replace").splitlines()
        return f"git cannot read it: {printed[0]}" if printed else "git cannot read it"


class GitTree:
    """The files of a commit."""

    whole = True
    by_id = True

    def __init__(self, folder: str, revision: str, excludes: Excludes | None) -> None:
        """Raises TreeError."""
        self.problems: list[Problem] = []
        self._excludes = excludes
        self._folder = folder
        self._folders: dict[str, dict[str, tuple[int, str]]] = {}
        self._objects: list[_Objects] = []
        self._aside: _Objects | None = None
        try:
            self.revision: str | None = self._named(revision, "commit")
            self.seal = self._named(revision, "tree")
        except TreeError:
            self.close()
            raise

    def close(self) -> None:
        """End the git processes."""
        for one in self._objects:
            one.close()

    def candidates(self) -> list[tuple[str, str]]:
        """Return the files that may launch something by their names, each with its object id."""
        found: list[tuple[str, str]] = []
        folders = [("", self.seal)]
        while folders:
            below, oid = folders.pop()
            if len(self._folders) >= _FOLDERS_AT_MOST:
                raise TreeError(f"not read: it has more than {_FOLDERS_AT_MOST:,} folders")
            head = below + "/" if below else ""
            for name, (mode, entry) in self._listed(below, oid).items():
                path = head + name
                if mode == _FOLDER:
                    if name not in SKIPPED and not (self._excludes is not None and self._excludes(path)):
                        folders.append((path, entry))
                elif is_candidate(name) and not (self._excludes is not None and self._excludes(path)):
                    target = self._file(path) if mode == _LINK else entry if mode != _MODULE else None
                    if target is not None:
                        found.append((path, target))
        return sorted(found)

    def contents(self, paths: Iterable[tuple[str, str]]) -> Iterator[tuple[str, bytes | Problem | None]]:
        """Read candidates."""
        objects = self._looking()
        self._aside = None  # a lookup meanwhile must not take these answers
        every = iter(paths)
        while some := list(islice(every, _AHEAD)):
            objects.ask([oid for _, oid in some])
            for path, _ in some:
                yield path, _content(objects, path)

    def read(self, path: str) -> bytes | None:
        """Read a small regular file."""
        oid = self._file(path)
        return self._looking().one(oid, "blob", bounds.NEIGHBOUR.most) if oid is not None else None

    def stamp(self, path: str) -> str:
        """Return the object id of a file."""
        return self._file(path) or ""

    def _looking(self) -> _Objects:
        if self._aside is None:
            self._aside = _Objects(self._folder)
            self._objects.append(self._aside)
        return self._aside

    def _file(self, path: str) -> str | None:
        """Return the object id of a regular file, behind links inside the tree."""
        place = inside(path)
        for _ in range(_LINKS_AT_MOST):
            if place is None:
                return None
            mode, oid, link = self._step(place)
            if link is None:
                return oid if mode not in (0, _FOLDER, _MODULE) else None
            place = self._behind(oid, *link)
        return None

    def _step(self, place: str) -> tuple[int, str, tuple[str, list[str]] | None]:
        """Return the mode and the object id at a path; if the path has a link, the id, the folder and the names after it."""
        here, oid = "", self.seal
        parts = place.split("/")
        for count, name in enumerate(parts, 1):
            mode, entry = self._listed(here, oid).get(name, (0, ""))
            if mode == _LINK:
                return mode, entry, (here, parts[count:])
            if count == len(parts):
                return mode, entry, None
            if mode != _FOLDER:
                break
            here, oid = posixpath.join(here, name), entry
        return 0, "", None

    def _behind(self, link: str, folder: str, rest: list[str]) -> str | None:
        target = self._looking().one(link, "blob", _TARGET_AT_MOST)
        if target is None or target.startswith(b"/"):
            return None
        found = inside(posixpath.join(folder, os.fsdecode(target)))
        return inside("/".join([found, *rest])) if found is not None else None

    def _listed(self, path: str, oid: str) -> dict[str, tuple[int, str]]:
        """Return the entries of a folder: name to kind (the mode without permissions) and object id."""
        found = self._folders.get(path)
        if found is None:
            found = self._folders[path] = {}
            data = self._looking().one(oid, "tree", _LISTING_AT_MOST)
            if data is None:
                self.problems.append(Problem(path, "cannot be read: git has no such folder here"))
                return found
            at, width = 0, len(oid) // 2
            while at < len(data):
                space = data.index(b" ", at)
                end = data.index(b"\0", space)
                mode = int(data[at:space], 8) & 0o170000
                at = end + 1 + width
                found[os.fsdecode(data[space + 1 : end])] = mode, data[end + 1 : at].hex()
        return found

    def _named(self, revision: str, kind: str) -> str:
        if not revision or not revision.isprintable() or revision.startswith("-"):
            raise TreeError(f"{revision!r} is not a revision")
        objects = self._looking()
        objects.ask([f"{revision}^{{{kind}}}"])
        oid, found, size = objects.answer()
        if found != kind:
            raise TreeError(f"git knows no revision {revision!r} here")
        objects.skip(size)
        return oid


def _content(objects: _Objects, path: str) -> bytes | Problem | None:
    _, kind, size = objects.answer()
    if kind != "blob":
        objects.skip(size)
        return Problem(path, "cannot be read: git has no such object here")
    if size <= bound(path).most:
        return objects.body(size)
    chunks = objects.chunks(size)
    found = too_large(path, size, chunks)
    for _ in chunks:
        pass
    return found
