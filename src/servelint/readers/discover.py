"""Which files a check reads, and reading them: a byte test drops what cannot launch an engine before anything is parsed."""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from servelint.core import bounds, safe_open
from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.core.trust import EVERYTHING
from servelint.engines.registry import ENGINES, derived
from servelint.files.project import Project, folders
from servelint.files.siblings import decode_text
from servelint.readers import mentions_engine
from servelint.readers.registry import CANDIDATE, calls_script, is_worth_reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

    from servelint.core.settings import Outside
    from servelint.settings.files import SettingsFiles

SKIPPED = frozenset((
    ".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox", ".mypy_cache", ".ruff_cache",
    ".pytest_cache", ".hypothesis", ".servelint_cache",
))  # fmt: skip
"""Folders that are never searched."""
_LEADS_OUT = "not read: a link that leads out of the project; name the file itself, or allow its folder by read-outside"
_NO_FILE = "not a regular file; what a pipe or a device gives is read from standard input, as -"
HEAD = 4096
"""How many bytes of a file are enough to see how large it may be."""
_CHUNK = 1 << 20
_OVERLAP = 64
_SEARCHED = 64 << 20
"""Bytes (64 MiB) of a file that is too large in which an engine is looked for."""


def files(
    paths: list[str],
    problems: list[Problem],
    settings: SettingsFiles | None = None,
    *,
    notes: list[Problem] | None = None,
    outside: Callable[[str], Outside] | None = None,
) -> Iterator[str]:
    """The files to look at: a file that is named is always taken, a folder is walked, links to folders are not followed.

    A file comes once, even if it is named twice.

    Args:
        paths: Files and folders.
        problems: Takes what cannot be read.
        settings: The settings that exclude files, if any do.
        notes: Takes links in a folder that lead out of the project. They are not followed.
        outside: Gives the folders beside the project that the settings of a folder allow.
    """
    seen: set[str] = set()
    named = folders(paths)
    trust = settings.trust if settings is not None else EVERYTHING
    project = lambda folder: Project(folder, outside(folder) if outside is not None else (), named, trust)  # noqa: E731
    for path in paths:
        try:
            info = os.stat(path)
        except (OSError, ValueError) as error:
            problems.append(Problem(path, reason(error)))
            continue
        if stat.S_ISDIR(info.st_mode):
            found: Iterable[str] = _walk(path, problems, settings, [] if notes is None else notes, project)
        else:
            found = [path] if settings is None or not settings.leaves_out(path) else []
        for file in found:
            if (key := os.path.normpath(file)) not in seen:
                seen.add(key)
                yield file


def _walk(
    folder: str,
    problems: list[Problem],
    settings: SettingsFiles | None,
    notes: list[Problem],
    project: Callable[[str], Project],
) -> Iterator[str]:
    folders = [folder]
    candidate = re.compile(CANDIDATE)
    while folders:
        here = folders.pop()
        left_out = settings.excluder(here) if settings is not None else None
        try:
            with os.scandir(here) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            problems.append(Problem(here, reason(error)))
            continue
        deeper: list[str] = []
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED and not (left_out is not None and left_out(entry.name)):
                    deeper.append(_shown(here, entry.name))
            elif candidate.search(entry.name) and _regular(entry) and not (left_out is not None and left_out(entry.name)):
                path = _shown(here, entry.name)
                if entry.is_symlink() and not project(here).holds(path):
                    notes.append(Problem(path, _LEADS_OUT))
                else:
                    yield path
        folders += reversed(deeper)


def _shown(folder: str, name: str) -> str:
    return name if folder in (".", "") else os.path.join(folder, name)


def _regular(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False  # a link that leads nowhere, or in a circle


ZERO_BYTES = "not read: it contains zero bytes, as a binary file does, or UTF-16 without a byte order mark; save it as UTF-8"


def read_file(path: str) -> Source | Problem | None:
    """A file's text; None if it mentions no engine, a problem if it does and cannot be read."""
    try:
        most = bound(path).most
        with os.fdopen(safe_open.descriptor(path), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > most:
                most = bound(path, file.read(HEAD)).most
                file.seek(0)
            data = file.read(most + 1) if size <= most else b""
            if size > most or len(data) > most:
                return _too_large(path, file, max(size, most + 1))
    except safe_open.NotRegular:
        return Problem(path, _NO_FILE)
    except (OSError, ValueError) as error:
        return Problem(path, reason(error))
    return decode(path, data)


def decode(path: str, data: bytes) -> Source | Problem | None:
    """The text of a file's bytes (UTF-8, or UTF-16 with a byte order mark); None if it names no engine and no script."""
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    plain = (data.decode("utf-16", errors="replace").encode("utf-8", "replace") if wide else data).replace(b"\0", b"")
    named = mentions_engine(plain)
    if not (named or calls_script(path, plain)) or not is_worth_reading(path, plain):
        return None
    found = decode_text(path, data) or Problem(path, ZERO_BYTES, note="found")
    return found if named or not isinstance(found, Problem) else None


def bound(path: str, head: bytes = b"") -> bounds.Bound:
    """How large a file may be, by its name and the bytes that it begins with (HEAD of them are enough)."""
    if head:
        from servelint.readers import cluster_list  # few files are so large that it is asked for

        if cluster_list.is_list(head, path):
            return bounds.CLUSTER
    return bounds.FILE


def too_large(path: str, size: int, head: bytes = b"", note: str = "") -> Problem:
    """The problem of a text of so many bytes."""
    return Problem(path, bound(path, head).says.format(size=f"{size / (1 << 20):.1f} MiB"), limit=True, note=note)


def _too_large(path: str, file: IO[bytes], size: int) -> Problem | None:
    # a data set, a benchmark's results: no error, and not a word where nothing in it starts an engine
    data = path.lower().endswith(".json")
    file.seek(0)
    tail = b""
    for _ in range(_SEARCHED // _CHUNK):
        chunk = file.read(_CHUNK)
        if b"\0" in chunk:
            return None
        if data and _starting().search((tail + chunk).lower()):
            return too_large(path, size, note="always")
        if not data and mentions_engine(tail + chunk):
            return too_large(path, size)
        if not chunk:
            return None
        tail = chunk[-_OVERLAP:]
    if data:
        return None
    return Problem(
        path, f"not read: {size / (1 << 20):.1f} MiB, of which the first {_SEARCHED >> 20} name no engine", limit=True
    )


def may_start(path: str) -> bool:
    """Whether a file has the words of a command, a module or an image that starts an engine. It is read in pieces."""
    pattern = _starting()
    tail = b""
    try:
        with os.fdopen(safe_open.descriptor(path), "rb") as file:
            for chunk in iter(partial(file.read, _CHUNK), b""):
                if pattern.search((tail + chunk).lower()):
                    return True
                tail = chunk[-_OVERLAP:]
    except (OSError, safe_open.NotRegular):
        return True
    return False


@derived
def _starting() -> re.Pattern[bytes]:
    """What stands in every file that starts an engine as a person writes it."""
    words: list[str] = []
    for engine in ENGINES.values():
        words += [family.repository for family in engine.images if not family.registry]
        for start in engine.starts:
            words += [" ".join((name, *start.verbs)) for name in (*start.programs, *start.modules, *start.scripts)]
    patterns = [re.escape(word.lower()).replace("\\ ", r"[\s\"',\\\[\]-]{1,40}") for word in words]
    return re.compile("|".join(sorted(set(patterns))).encode())


def reason(error: Exception) -> str:
    """Return why a file could not be read, for a problem."""
    return f"cannot be read: {error.strerror}" if isinstance(error, OSError) and error.strerror else f"cannot be read: {error}"
