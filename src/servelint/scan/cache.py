"""What is known from earlier scans: files that are replaced whole by a rename, so that any number of scans may share them.

    CONTEXT/files/ab/...    what a file of some content at some path told, with the contents of all that was read beside it
    CONTEXT/folders/ab/...  the files of a folder, by size, times and inode, and what the few that start engines told
    CONTEXT/stores/ab/...   all that a commit or an archive told

CONTEXT (servelint.scan.job) names servelint, its rules and the settings: nothing is ever true under another one. An entry that
cannot be read or written is as if it were not there. The folder may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import time
from collections import OrderedDict

from servelint.scan.trees import blob_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.scan.rows import Row
    from servelint.scan.trees import Tree

_TAG = "CACHEDIR.TAG"
_SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55\n# Results of servelint scan; they may be deleted.\n"
_KEPT = 20_000
"""Results that a process remembers."""
_SILENT_AT_MOST = 1_000_000
_VARIANTS_AT_MOST = 16
_UNUSED_FOR = 30 * 24 * 3600
"""Seconds after which the results of another servelint, or of other settings, are deleted."""


class Told:
    """What one file told.

    rows:     without the repository;  launches: path, name and owner's path of each
    beside:   the files that were read or looked for beside it -> the id of their content, None for one that was not there
    """

    __slots__ = ("beside", "launches", "rows")

    def __init__(self, rows: list[Row], launches: list[list[str | None]], beside: dict[str, str | None]) -> None:
        self.rows = rows
        self.launches = launches
        self.beside = beside

    def data(self) -> list[Any]:
        return [self.rows, self.launches, self.beside]

    def holds(self, tree: Tree) -> bool:
        """Whether what was read beside the file is the same in a tree."""
        return all(content_id(tree, path) == blob for path, blob in self.beside.items())


def content_id(tree: Tree, path: str) -> str | None:
    data = tree.read(path)
    return blob_id(data) if data is not None else None


class Record:
    """What is known of a repository: its seal, and its files that told anything, each with the stamps of those beside it."""

    __slots__ = ("files", "revision", "seal", "told")

    def __init__(
        self, seal: str, files: int, told: dict[str, tuple[Told, dict[str, str]]], revision: str | None = None
    ) -> None:
        self.seal = seal
        self.files = files
        self.told = told
        self.revision = revision


class Cache:
    """Results of one context. folder: where they are kept, None for as long as the process lives

    silent: ids of contents that mention no engine
    """

    def __init__(self, folder: str | None, context: str) -> None:
        self._folder = os.path.join(folder, context) if folder is not None else None
        self._known: OrderedDict[str, list[Told]] = OrderedDict()
        self.silent: set[str] = set()

    def mute(self, id: str) -> None:
        """Remember a content that mentions no engine."""
        if len(self.silent) >= _SILENT_AT_MOST:
            self.silent.clear()
        self.silent.add(id)

    def told(self, path: str, blob: str, tree: Tree) -> Told | None:
        """What a file told before, in whatever repository, with the same contents beside it."""
        key = _key(path, blob)
        variants = self._known.get(key) or self._stored(key)
        if variants:
            self._remember(key, variants)
        return next((one for one in variants if one.holds(tree)), None)

    def tell(self, path: str, blob: str, told: Told) -> None:
        key = _key(path, blob)
        variants = [told, *(self._known.get(key) or self._stored(key))][:_VARIANTS_AT_MOST]
        self._remember(key, variants)
        self._write("files", key, json.dumps([one.data() for one in variants]).encode())

    def record(self, kind: str, key: str) -> Record | None:
        """What is known of a repository by its place, or by the id of its tree."""
        data = self._read(kind, _key(key))
        if data is None:
            return None
        try:
            head, _, seal = data.partition(b"\n")
            files, revision, told = json.loads(head)
            known = {path: (Told(*one), stamps) for path, (one, stamps) in told.items()}
            return Record(seal.decode("utf-8", "surrogateescape"), files, known, revision)
        except (ValueError, TypeError, AttributeError, RecursionError):
            return None

    def keep(self, kind: str, key: str, record: Record) -> None:
        told = {path: [one.data(), stamps] for path, (one, stamps) in record.told.items()}
        head = json.dumps([record.files, record.revision, told]).encode()
        self._write(kind, _key(key), head + b"\n" + record.seal.encode("utf-8", "surrogateescape"))

    def _remember(self, key: str, variants: list[Told]) -> None:
        self._known[key] = variants
        self._known.move_to_end(key)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)

    def _stored(self, key: str) -> list[Told]:
        data = self._read("files", key)
        try:
            return [Told(*one) for one in json.loads(data)] if data is not None else []
        except (ValueError, TypeError, RecursionError):
            return []

    def _read(self, kind: str, key: str) -> bytes | None:
        if self._folder is None:
            return None
        try:
            with open(os.path.join(self._folder, kind, key[:2], key[2:]), "rb") as file:
                return file.read()
        except OSError:
            return None

    def _write(self, kind: str, key: str, data: bytes) -> None:
        if self._folder is None:
            return
        folder = os.path.join(self._folder, kind, key[:2])
        temporary = os.path.join(folder, f"{key[2:]}.{os.getpid()}.{time.monotonic_ns()}.tmp")
        try:
            for _ in range(2):
                try:
                    with open(temporary, "xb") as file:
                        file.write(data)
                    break
                except FileNotFoundError:
                    os.makedirs(folder, exist_ok=True)
            os.replace(temporary, os.path.join(folder, key[2:]))
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def default_folder() -> str:
    """Where this system keeps what can be worked out again."""
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "servelint", "scan")


def opened(folder: str, context: str) -> None:
    """Make a cache ready for a scan, and delete what nobody has used for long. Raises OSError if it cannot be written."""
    import shutil

    own = os.path.join(folder, context)
    os.makedirs(own, exist_ok=True)
    tag = os.path.join(folder, _TAG)
    if not os.path.exists(tag):
        with open(tag, "w", encoding="ascii") as file:
            file.write(_SIGNATURE)
    os.utime(own)
    before = time.time() - _UNUSED_FOR
    with os.scandir(folder) as scan:
        for entry in scan:
            if _is_context(entry.name) and entry.is_dir(follow_symlinks=False) and entry.stat().st_mtime < before:
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_context(name: str) -> bool:
    return len(name) == 32 and all(char in "0123456789abcdef" for char in name)
