"""Entries in a folder, each sealed with the user's key, in a bounded number of bytes.

A pull request may bring a folder with the name of the cache, and links in it. So an entry counts only with a seal that is made
with a key from outside of the project, nothing is opened, written or deleted through a link, and a folder that another user
made, or that servelint did not make, is left alone. An entry is written to a temporary file and renamed, so that processes may
share a cache.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time

from servelint.cache.context import user_folder
from servelint.core.digest import SIZE, seal

TAG = "CACHEDIR.TAG"
_SIGNATURE = b"Signature: 8a477f597d28d172789f06886806bc55\n# servelint check\n"
_IGNORE = b"*\n"

AT_MOST = 256 << 20
"""Bytes (256 MiB) of all entries; the ones that were not used for longest are deleted."""
_BUCKETS = "0123456789abcdef"
_TOUCHED_EVERY = 60
"""Seconds after which a use is noted again."""
_ABANDONED_AFTER = 3600
"""Seconds after which a temporary file is no longer being written."""
_HEX = frozenset("0123456789abcdef")
_BELOW = os.open in os.supports_dir_fd and os.unlink in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class Unusable(Exception):
    """A folder cannot be the cache. The message is one sentence."""


def user_key() -> bytes | None:
    """Return the key of this user, and make it where there is none; None if it cannot be kept."""
    path = os.path.join(user_folder(), "cache.key")
    try:
        return _key(path)
    except FileNotFoundError:
        pass
    except OSError:
        return None
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        opened = os.open(temporary, _WRITE, 0o600)
        with os.fdopen(opened, "wb") as file:
            file.write(os.urandom(32))
        try:
            os.link(temporary, path)  # the first of two processes makes the key for both
        except FileExistsError:
            pass
        except (OSError, AttributeError):
            os.replace(temporary, path)
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        return _key(path)
    except OSError:
        return None


def _key(path: str) -> bytes | None:
    opened = os.open(path, _READ)
    with os.fdopen(opened, "rb") as file:
        info = os.fstat(opened)
        key = file.read(64)
    alone = os.name == "nt" or (info.st_uid == os.geteuid() and not info.st_mode & 0o077)
    return key if stat.S_ISREG(info.st_mode) and alone and len(key) == 32 else None


class Store:
    """The entries below a folder. It is made with the first entry.

    Args:
        folder: Its absolute path.
        key: The key of the user.
        at_most: Bytes of all entries.

    Raises:
        Unusable: There is something at the path that is not a cache of this user.
    """

    __slots__ = ("_at_most", "_buckets", "_key", "_root", "_written", "folder")

    def __init__(self, folder: str, key: bytes, at_most: int = AT_MOST) -> None:
        self.folder = folder
        self._key = key
        self._at_most = at_most
        self._root: int | None = None
        self._buckets: dict[str, int | None] = {}
        self._written: dict[str, int] = {}
        if os.path.lexists(folder):
            self._root = _opened(folder)

    def __del__(self) -> None:
        for one in [*self._buckets.values(), self._root]:
            if one is not None and one >= 0:
                with contextlib.suppress(OSError):
                    os.close(one)

    def read(self, name: str) -> bytes | None:
        """Return an entry by its name in hexadecimal digits; None if there is none that this user wrote."""
        bucket = self._bucket(name[0], make=False)
        if bucket is None:
            return None
        try:
            opened = os.open(self._path(name), _READ, **_at(bucket))
            with os.fdopen(opened, "rb") as file:
                info = os.fstat(opened)
                if not stat.S_ISREG(info.st_mode) or info.st_size > self._share:
                    return None
                data = file.read()
                if time.time() - info.st_mtime > _TOUCHED_EVERY and os.utime in os.supports_fd:
                    os.utime(opened)
        except (OSError, ValueError):
            return None
        body = data[SIZE:]
        return body if data[:SIZE] == seal(self._key, name.encode(), body) else None

    def write(self, name: str, body: bytes) -> None:
        """Keep an entry. One that cannot be written, or is too large, is left out."""
        size = len(body) + SIZE
        if size > self._share:
            return
        bucket = self._bucket(name[0], make=True)
        if bucket is None:
            return
        temporary = f"{os.getpid()}-{time.monotonic_ns()}.tmp"
        at = _at(bucket)
        try:
            opened = os.open(self._path(temporary, name[0]), _WRITE, 0o600, **at)
            try:
                with os.fdopen(opened, "wb") as file:
                    file.write(seal(self._key, name.encode(), body) + body)
                places = {"src_dir_fd": bucket, "dst_dir_fd": bucket} if at else {}
                os.replace(self._path(temporary, name[0]), self._path(name), **places)
            except OSError:
                os.unlink(self._path(temporary, name[0]), **at)
                return
        except OSError:
            return
        self._written[name[0]] = self._written.get(name[0], 0) + size
        if self._written[name[0]] > self._share // 4:
            self._prune(name[0])

    def prune(self, *, every: bool = False) -> None:
        """Delete the entries that were not used for longest where there are too many bytes.

        Args:
            every: Look at all of them, not only where this process wrote.
        """
        for letter in _BUCKETS if every else sorted(self._written):
            self._prune(letter)

    def size(self) -> tuple[int, int]:
        """Return the numbers of entries and of their bytes."""
        found = [one for letter in _BUCKETS for one in self._entries(letter)]
        return len(found), sum(size for _, size, _ in found)

    def clean(self) -> int:
        """Delete all entries, and the folder if nothing else is in it. Returns the number of entries."""
        count = 0
        for letter in _BUCKETS:
            for _, _, name in self._entries(letter, temporary=True):
                count += not name.endswith(".tmp")
                self._unlink(letter, name)
            with contextlib.suppress(OSError):
                os.rmdir(self._path("", letter) if not _BELOW else letter, **_at(self._root))
        with contextlib.suppress(OSError):
            for name in (TAG, ".gitignore"):
                os.unlink(name if _BELOW else os.path.join(self.folder, name), **_at(self._root))
            os.rmdir(self.folder)
        return count

    @property
    def _share(self) -> int:
        return self._at_most // len(_BUCKETS)

    def _path(self, name: str, letter: str = "") -> str:
        return name if _BELOW else os.path.join(self.folder, letter or name[0], name)

    def _bucket(self, letter: str, *, make: bool) -> int | None:
        """Return the descriptor of a part of the folder; None if there is none, or only a link. -1 where there are none."""
        found = self._buckets.get(letter)
        if found is None:
            if self._root is None and make:
                self._root = _made(self.folder)
            if self._root is None:
                return None
            if letter not in self._buckets or make:
                found = self._buckets[letter] = self._open_bucket(letter, make=make)
        return found

    def _open_bucket(self, letter: str, *, make: bool) -> int | None:
        path = letter if _BELOW else os.path.join(self.folder, letter)
        at = _at(self._root)
        try:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(path, 0o700, **at)
            if not _BELOW:
                return -1 if os.path.isdir(path) and not os.path.islink(path) else None
            return _checked(os.open(path, _FOLDER, **at))
        except (OSError, Unusable):
            return None

    def _entries(self, letter: str, *, temporary: bool = False) -> list[tuple[float, int, str]]:
        """Return time of use, bytes and name of each entry of a part."""
        bucket = self._bucket(letter, make=False)
        if bucket is None:
            return []
        found: list[tuple[float, int, str]] = []
        try:
            with os.scandir(bucket if _BELOW else os.path.join(self.folder, letter)) as scan:
                for entry in scan:
                    with contextlib.suppress(OSError):
                        info = entry.stat(follow_symlinks=False)
                        if entry.name.endswith(".tmp"):
                            if temporary or time.time() - info.st_mtime > _ABANDONED_AFTER:
                                found.append((0.0, info.st_size, entry.name))
                        elif len(entry.name) == 2 * SIZE and _HEX.issuperset(entry.name):
                            found.append((info.st_mtime, info.st_size, entry.name))
        except OSError:
            return []
        return found

    def _prune(self, letter: str) -> None:
        self._written[letter] = 0
        found = sorted(self._entries(letter))
        left = sum(size for _, size, _ in found)
        for used, size, name in found:
            if left <= self._share and used:
                return
            self._unlink(letter, name)
            left -= size

    def _unlink(self, letter: str, name: str) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self._path(name, letter), **_at(self._bucket(letter, make=False)))


def _at(descriptor: int | None) -> dict[str, int]:
    return {"dir_fd": descriptor} if _BELOW and descriptor is not None else {}


def _opened(folder: str) -> int | None:
    """Open the folder of a cache, without following a link; None where it is still empty. Raises Unusable."""
    if os.path.islink(folder):
        raise Unusable("it is a link")
    if not os.path.isdir(folder):
        raise Unusable("it is not a folder")
    try:
        if not _BELOW:
            found, tagged, empty = -1, _tagged(os.path.join(folder, TAG), None), not os.listdir(folder)
        else:
            found = _checked(os.open(folder, _FOLDER))
            tagged, empty = _tagged(TAG, found), not os.listdir(found)
    except OSError as error:
        raise Unusable(f"it cannot be read: {error.strerror}") from None
    if tagged:
        return found
    if found >= 0:
        os.close(found)
    if not empty:
        raise Unusable("it is not a cache of servelint")
    return None


def _checked(opened: int) -> int:
    info = os.fstat(opened)
    if info.st_uid == os.geteuid() and not info.st_mode & 0o022:
        return opened
    os.close(opened)
    raise Unusable("another user made it, or may write to it")


def _tagged(path: str, folder: int | None) -> bool:
    try:
        opened = os.open(path, _READ, **_at(folder))
        with os.fdopen(opened, "rb") as file:
            return file.read(len(_SIGNATURE) + 1) == _SIGNATURE
    except OSError:
        return False


def _made(folder: str) -> int | None:
    """Make the folder of a cache; None if that is not possible."""
    try:
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        if os.path.islink(folder):
            return None
        root = _checked(os.open(folder, _FOLDER)) if _BELOW else -1
        for name, data in ((TAG, _SIGNATURE), (".gitignore", _IGNORE)):
            with contextlib.suppress(FileExistsError):
                opened = os.open(name if _BELOW else os.path.join(folder, name), _WRITE, 0o600, **_at(root))
                with os.fdopen(opened, "wb") as file:
                    file.write(data)
    except (OSError, Unusable):
        return None
    return root
