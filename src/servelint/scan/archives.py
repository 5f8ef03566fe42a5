"""A repository in a tar or a zip archive, whose members are read one by one, within bounds, and never unpacked to disk by name.

A member whose name leads out of the archive is left out, and reported.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import posixpath
import stat
import tarfile
import tempfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import cast

from servelint.core import bounds
from servelint.core.problem import Problem
from servelint.readers.discover import SKIPPED, bound, reason
from servelint.scan.trees import CHUNK, TreeError, followed, inside, is_candidate, too_large

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

    from servelint.scan.trees import Excludes

MEMBERS_AT_MOST = 1_000_000
RATIO_AT_MOST = 200
"""How many times its own size an archive may hold beyond UNPACKED_FREELY. Source code is 4 to 10 times."""
UNPACKED_FREELY = 256 << 20
"""Bytes (256 MiB) that any archive may hold."""
_READ_AT_MOST = 16 << 20
"""Bytes of one read: a longer header is made to fill the memory."""
_KEPT_BEHIND = 1024
_TARGET_AT_MOST = 4096

_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, NotImplementedError)
"""What the standard library raises for an archive that is incomplete, or of another kind than its name says."""


class _Forward:
    """An unpacked stream that is read once, from start to end, up to a limit."""

    def __init__(self, stream: IO[bytes], at_most: int) -> None:
        self._stream = stream
        self._at_most = at_most
        self._position = 0
        self._behind = b""
        self._again = b""

    def tell(self) -> int:
        return self._position

    def read(self, size: int) -> bytes:
        if size > _READ_AT_MOST:
            raise TreeError(f"not read: a header says that it is {size:,} bytes long")
        again, self._again = self._again[:size], self._again[size:]
        data = again + (self._stream.read(size - len(again)) if len(again) < size else b"")
        self._position += len(data)
        if self._position > self._at_most:
            raise TreeError(f"not read: it holds more than {RATIO_AT_MOST} times its own size")
        self._behind = (self._behind + data)[-_KEPT_BEHIND:]
        return data

    def seek(self, position: int, _whence: int = 0) -> int:
        """Skip to a position; at most a few bytes back, as tarfile does."""
        if position < self._position:
            back = self._position - position
            if back > len(self._behind):
                raise TreeError("not read: its members overlap")
            self._again = self._behind[-back:] + self._again
            self._behind = self._behind[:-back]
            self._position = position
        while self._position < position and self.read(min(position - self._position, CHUNK)):
            pass
        return self._position


class Archive(ABC):
    """The members of an archive. A folder that holds all of them is left out of their paths.

    Raises TreeError where the archive cannot be read.
    """

    whole = True
    by_id = False
    revision: str | None = None

    def __init__(self, path: str, excludes: Excludes | None) -> None:
        self.problems: list[Problem] = []
        self._excludes = excludes
        self._sizes: dict[str, int] = {}
        self._links: dict[str, str] = {}
        self._large: dict[str, Problem | None] = {}
        self._unsafe: list[str] = []
        info = os.stat(path)
        self.seal = f"{info.st_size}.{info.st_mtime_ns}.{info.st_ctime_ns}.{info.st_ino}"
        self._at_most = max(UNPACKED_FREELY, RATIO_AT_MOST * info.st_size)
        self._head = ""

    def _ready(self) -> None:
        """Finish the index, once all names are known."""
        if self._unsafe:
            many = len(self._unsafe)
            leading = (
                f"{many} members lead out of the archive and are" if many > 1 else "1 member leads out of the archive and is"
            )
            self.problems.append(Problem("", f"{leading} left out: {self._unsafe[0][:200]!r}"))
        tops = {path.partition("/")[0] for path in (*self._sizes, *self._links)}
        if len(tops) == 1 and not tops & (self._sizes.keys() | self._links.keys()):
            self._head = tops.pop() + "/"

    def _name(self, written: str) -> str | None:
        """Return the name of a member as a path; None if it leads out of the archive."""
        found = inside(written)
        if found is None:
            self._unsafe.append(written)
        elif len(self._sizes) + len(self._links) >= MEMBERS_AT_MOST:
            raise TreeError(f"not read: it has more than {MEMBERS_AT_MOST:,} members")
        return found

    def candidates(self) -> list[tuple[str, str]]:
        """Return the members that may launch something by their names; they have no stamps."""
        found: list[tuple[str, str]] = []
        skipped: dict[str, bool] = {"": False}
        for whole in (*self._sizes, *self._links):
            path = whole[len(self._head) :]
            if is_candidate(posixpath.basename(path)) and not self._left_out(posixpath.dirname(path), skipped):
                if self._excludes is not None and self._excludes(path):
                    continue
                if whole in self._sizes or self._member(path) is not None:
                    found.append((path, ""))
        return sorted(found)

    def _left_out(self, folder: str, known: dict[str, bool]) -> bool:
        if folder not in known:
            above, name = posixpath.split(folder)
            known[folder] = (
                self._left_out(above, known) or name in SKIPPED or (self._excludes is not None and self._excludes(folder))
            )
        return known[folder]

    def contents(self, paths: Iterable[tuple[str, str]]) -> Iterator[tuple[str, bytes | Problem | None]]:
        """Read candidates."""
        for path, _ in paths:
            member = self._member(path)
            if member is None:
                continue
            if self._sizes[member] > bound(member).most:
                found = self._of_large(member)
                yield path, Problem(path, found.message) if found is not None else None
                continue
            try:
                yield path, self._data(member)
            except _BROKEN as error:
                yield path, Problem(path, _why(error))

    def read(self, path: str) -> bytes | None:
        """Read a small member."""
        member = self._member(path)
        if member is None or self._sizes[member] > bounds.NEIGHBOUR.most:
            return None
        try:
            return self._data(member)
        except (*_BROKEN, TreeError):
            return None

    def stamp(self, path: str) -> str:
        """Return the path of the member itself, behind links."""
        return self._member(path) or ""

    def _member(self, path: str) -> str | None:
        place = inside(path)
        whole = followed(self._head + place, self._links) if place is not None else None
        return whole if whole in self._sizes else None

    def _of_large(self, member: str) -> Problem | None:
        return self._large.get(member)

    @abstractmethod
    def _data(self, member: str) -> bytes:
        """Return the bytes of a member."""


class TarTree(Archive):
    """A tar archive. A compressed one is unpacked once: the useful members go to one temporary file without a name."""

    def __init__(self, path: str, excludes: Excludes | None) -> None:
        super().__init__(path, excludes)
        self._offsets: dict[str, int] = {}
        self._file: IO[bytes] = open(path, "rb")  # noqa: SIM115 - it is open as long as the tree
        unpack = _unpacker(self._file.read(6))
        self._file.seek(0)
        self._spool: IO[bytes] | None = tempfile.TemporaryFile() if unpack is not None else None  # noqa: SIM115 - likewise
        try:
            stream = _Forward(unpack(self._file) if unpack is not None else self._file, self._at_most)
            with tarfile.open(fileobj=stream, mode="r:", errorlevel=0, ignore_zeros=False) as archive:  # type: ignore[call-overload]
                hard = self._index(archive)
                self.revision = _commit(archive.pax_headers)
            if self._spool is not None:
                self._spool.flush()
        except TreeError:
            self.close()
            raise
        except _BROKEN as error:
            self.close()
            raise TreeError(_why(error)) from None
        for name, target in hard.items():
            if target in self._sizes:
                self._sizes[name], self._offsets[name] = self._sizes[target], self._offsets.get(target, 0)
        self._ready()

    def _index(self, archive: tarfile.TarFile) -> dict[str, str]:
        """Index all members. Returns the hard links: name to target."""
        hard: dict[str, str] = {}
        end = 0
        while (info := archive.next()) is not None:
            archive.members = []  # type: ignore[attr-defined] # tarfile would keep all of them
            if not (info.isreg() or info.issym() or info.islnk()):
                continue
            name = self._name(info.name)
            if name is None:
                continue
            if info.issym():
                self._links[name] = info.linkname
            elif info.islnk():
                if (target := inside(info.linkname)) is not None:
                    hard[name] = target
            elif not info.issparse():
                self._sizes[name] = info.size
                self._links.pop(name, None)
                self._offsets[name] = info.offset_data if self._spool is None else end
                end += self._keep(archive, name, info)
        return hard

    def _keep(self, archive: tarfile.TarFile, name: str, info: tarfile.TarInfo) -> int:
        """Store a member of a compressed archive. Returns how many bytes that takes."""
        candidate = is_candidate(posixpath.basename(name))
        if info.size > bound(name).most:
            if candidate:
                self._large[name] = too_large(name, info.size, _pieces(archive, info))
            return 0
        if self._spool is None:
            return 0
        if not candidate and info.size > bounds.NEIGHBOUR.most:
            del self._sizes[name]
            return 0
        count = 0
        for piece in _pieces(archive, info):
            count += self._spool.write(piece)
        if count != info.size:
            raise TreeError("cannot be read: it ends in the middle of a member")
        return count

    def _data(self, member: str) -> bytes:
        file = self._spool or self._file
        file.seek(self._offsets[member])
        data = file.read(self._sizes[member])
        if len(data) != self._sizes[member]:
            raise EOFError("it ends in the middle of a member")
        return data

    def close(self) -> None:
        """Close the archive and the temporary file."""
        self._file.close()
        if self._spool is not None:
            self._spool.close()


class ZipTree(Archive):
    """A zip archive."""

    def __init__(self, path: str, excludes: Excludes | None) -> None:
        super().__init__(path, excludes)
        self._infos: dict[str, zipfile.ZipInfo] = {}
        self._taken = 0
        try:
            self._zip = zipfile.ZipFile(path)
        except _BROKEN as error:
            raise TreeError(_why(error)) from None
        try:
            if len(self._zip.infolist()) > MEMBERS_AT_MOST:
                raise TreeError(f"not read: it has more than {MEMBERS_AT_MOST:,} members")
            self._index()
        except _BROKEN as error:
            self.close()
            raise TreeError(_why(error)) from None
        except TreeError:
            self.close()
            raise
        comment = self._zip.comment.decode("ascii", "replace")
        self.revision = comment if _is_commit(comment) else None
        self._ready()

    def _index(self) -> None:
        encrypted = 0
        for info in self._zip.infolist():
            if info.is_dir():
                continue
            name = self._name(info.filename)
            if name is None:
                continue
            if info.flag_bits & 1:
                encrypted += 1
                continue
            self._infos[name] = info
            if stat.S_ISLNK(info.external_attr >> 16):
                self._links[name] = os.fsdecode(self._bytes(info, _TARGET_AT_MOST))
                self._sizes.pop(name, None)
            else:
                self._sizes[name] = info.file_size
                self._links.pop(name, None)
        if encrypted:
            count = "1 member is" if encrypted == 1 else f"{encrypted} members are"
            self.problems.append(Problem("", f"{count} encrypted and not read"))

    def _of_large(self, member: str) -> Problem | None:
        info = self._infos[member]

        def pieces() -> Iterator[bytes]:
            with self._zip.open(info) as file:
                while piece := file.read(CHUNK):
                    self._spend(len(piece))
                    yield piece

        try:
            return too_large(member, info.file_size, pieces())
        except _BROKEN as error:
            return Problem(member, _why(error))

    def _data(self, member: str) -> bytes:
        return self._bytes(self._infos[member], bound(member).most)

    def _bytes(self, info: zipfile.ZipInfo, at_most: int) -> bytes:
        with self._zip.open(info) as file:
            data = file.read(at_most)
        self._spend(len(data))
        return data

    def _spend(self, count: int) -> None:
        self._taken += count
        if self._taken > self._at_most:
            raise TreeError(f"not read: it holds more than {RATIO_AT_MOST} times its own size")

    def close(self) -> None:
        """Close the archive."""
        self._zip.close()


def _unpacker(start: bytes) -> Callable[[IO[bytes]], IO[bytes]] | None:
    """Return what unpacks a stream with some first bytes; None if it is not compressed."""
    if start.startswith(b"\x1f\x8b"):
        return lambda file: cast("IO[bytes]", gzip.GzipFile(fileobj=file))
    if start.startswith(b"BZh"):
        return lambda file: bz2.BZ2File(file)
    if start.startswith(b"\xfd7zXZ"):
        return lambda file: lzma.LZMAFile(file)
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        raise TreeError("not read: it is compressed with zstd; unpack it, or compress it with gzip or xz")
    return None


def _pieces(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Iterator[bytes]:
    if (file := archive.extractfile(info)) is not None:
        while piece := file.read(CHUNK):
            yield piece


def _commit(headers: dict[str, str]) -> str | None:
    """Return the commit that `git archive` writes into a comment."""
    comment = headers.get("comment", "")
    return comment if _is_commit(comment) else None


def _is_commit(text: str) -> bool:
    return len(text) in (40, 64) and all(char in "0123456789abcdef" for char in text)


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return reason(error)
    return f"cannot be read: {error or type(error).__name__}"
