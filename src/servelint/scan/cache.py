"""The cache of a scan: results of earlier scans, in files that are replaced by a rename, so that scans may share them.

    CONTEXT/files/ab/...    the result of a file, by its path and content, with the contents of the files read with it
    CONTEXT/folders/ab/...  the files of a folder, by size, times and inode, and the results of those that start engines
    CONTEXT/stores/ab/...   the results of a commit or of an archive

CONTEXT (servelint.scan.job) names servelint, its rules and the settings: results hold for the same context only. An entry that
cannot be read or written counts as missing. The folder may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections import OrderedDict
from dataclasses import dataclass

from servelint.cache.context import user_folder
from servelint.scan.trees import blob_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.scan.output import Row
    from servelint.scan.trees import Tree

_CONTEXT = re.compile("[0-9a-f]{32}")
_TAG = "CACHEDIR.TAG"
_SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55\n# Results of servelint scan; they may be deleted.\n"
_KEPT = 20_000
"""Results that a process keeps in memory."""
_SILENT_AT_MOST = 1_000_000
_VARIANTS_AT_MOST = 16
_UNUSED_FOR = 30 * 24 * 3600
"""Seconds after which an unused context is deleted."""


@dataclass(slots=True, eq=False)
class FileResult:
    """The result of one file.

    Attributes:
        rows: its rows, without the repository.
        launches: path, name and path of the owner of each launch.
        beside: other files that were read or looked for, to the ids of their contents; None for one that did not exist.
    """

    rows: list[Row]
    launches: list[list[str | None]]
    beside: dict[str, str | None]

    def data(self) -> list[Any]:
        """Return the result as JSON data."""
        return [self.rows, self.launches, self.beside]

    def holds(self, tree: Tree) -> bool:
        """Return whether the other files are the same in a tree."""
        for path, blob in self.beside.items():
            data = tree.read(path)
            if (blob_id(data) if data is not None else None) != blob:
                return False
        return True


@dataclass(slots=True, eq=False)
class Record:
    """The result of a repository.

    Attributes:
        seal: the seal of its tree.
        files: the number of its candidates.
        results: path to the result of each file that has one, and to the stamps of the other files read with it.
        revision: the commit, None where the files belong to none.
    """

    seal: str
    files: int
    results: dict[str, tuple[FileResult, dict[str, str]]]
    revision: str | None = None


class Cache:
    """Results of one context.

    Args:
        folder: where they are kept; None keeps them in memory only.
        context: the context.

    Attributes:
        silent: ids of contents that mention no engine.
    """

    def __init__(self, folder: str | None, context: str) -> None:
        self._folder = os.path.join(folder, context) if folder is not None else None
        self._known: OrderedDict[str, list[FileResult]] = OrderedDict()
        self.silent: set[str] = set()

    def add_silent(self, id: str) -> None:
        """Note a content that mentions no engine."""
        if len(self.silent) >= _SILENT_AT_MOST:
            self.silent.clear()
        self.silent.add(id)

    def find(self, path: str, blob: str, tree: Tree) -> FileResult | None:
        """Return the earlier result of a file in any repository, with the same other files; None if there is none."""
        key = _key(path, blob)
        variants = self._known.get(key) or self._stored(key)
        if variants:
            self._remember(key, variants)
        return next((one for one in variants if one.holds(tree)), None)

    def add(self, path: str, blob: str, result: FileResult) -> None:
        """Keep the result of a file."""
        key = _key(path, blob)
        variants = [result, *(self._known.get(key) or self._stored(key))][:_VARIANTS_AT_MOST]
        self._remember(key, variants)
        self._write("files", key, json.dumps([one.data() for one in variants]).encode())

    def record(self, kind: str, key: str) -> Record | None:
        """Return the record of a repository by its place, or by the id of its tree; None if there is none."""
        data = self._read(kind, _key(key))
        if data is None:
            return None
        try:
            head, _, seal = data.partition(b"\n")
            files, revision, results = json.loads(head)
            known = {path: (FileResult(*one), stamps) for path, (one, stamps) in results.items()}
            return Record(seal.decode("utf-8", "surrogateescape"), files, known, revision)
        except (ValueError, TypeError, AttributeError, RecursionError):
            return None

    def keep(self, kind: str, key: str, record: Record) -> None:
        """Keep the record of a repository."""
        results = {path: [one.data(), stamps] for path, (one, stamps) in record.results.items()}
        head = json.dumps([record.files, record.revision, results]).encode()
        self._write(kind, _key(key), head + b"\n" + record.seal.encode("utf-8", "surrogateescape"))

    def _remember(self, key: str, variants: list[FileResult]) -> None:
        self._known[key] = variants
        self._known.move_to_end(key)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)

    def _stored(self, key: str) -> list[FileResult]:
        data = self._read("files", key)
        try:
            return [FileResult(*one) for one in json.loads(data)] if data is not None else []
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
    """Return the folder of the cache by the conventions of the system."""
    return os.path.join(user_folder(), "scan")


def prepare(folder: str, context: str) -> None:
    """Prepare a cache for a scan, and delete contexts unused for long. Raises OSError if it cannot be written."""
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
            if _CONTEXT.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False) and entry.stat().st_mtime < before:
                shutil.rmtree(entry.path, ignore_errors=True)
