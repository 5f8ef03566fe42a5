"""Which files a check reads, and reading them: a byte test drops what cannot launch an engine before anything is parsed."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterable, Iterator

from servelint.problem import Problem
from servelint.readers import mentions_engine
from servelint.readers.recognise import CANDIDATE
from servelint.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.settings_files.files import SettingsFiles

SIZE_AT_MOST = 4 << 20
"""Bytes (4 MiB). A larger script or YAML file that mentions an engine is an error; other large files are data."""

SKIPPED = frozenset(
    (".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache", ".ruff_cache")
)
"""Folders that are never searched."""
_CHUNK = 1 << 20
_OVERLAP = 64


def files(paths: list[str], problems: list[Problem], settings: SettingsFiles | None = None) -> Iterator[str]:
    """The files to look at: a file that is named is always taken, a folder is walked, links to folders are not followed.

    What cannot be read is added to problems. A file comes once, even if it is named twice.
    settings: those that say what is left out, if any do
    """
    seen: set[str] = set()
    for path in paths:
        try:
            info = os.stat(path)
        except (OSError, ValueError) as error:
            problems.append(Problem(path, _reason(error)))
            continue
        if stat.S_ISDIR(info.st_mode):
            found: Iterable[str] = _walk(path, problems, settings)
        else:
            found = [path] if settings is None or not settings.leaves_out(path) else []
        for file in found:
            key = os.path.normpath(file)
            if key not in seen:
                seen.add(key)
                yield file


def _walk(folder: str, problems: list[Problem], settings: SettingsFiles | None) -> Iterator[str]:
    folders = [folder]
    while folders:
        here = folders.pop()
        left_out = settings.excluder(here) if settings is not None else None
        try:
            with os.scandir(here) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            problems.append(Problem(here, _reason(error)))
            continue
        deeper: list[str] = []
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED and not (left_out is not None and left_out(entry.name)):
                    deeper.append(_shown(here, entry.name))
            elif CANDIDATE.search(entry.name) and _regular(entry) and not (left_out is not None and left_out(entry.name)):
                yield _shown(here, entry.name)
        folders += reversed(deeper)


def _shown(folder: str, name: str) -> str:
    return name if folder in (".", "") else os.path.join(folder, name)


def _regular(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False  # a link that leads nowhere, or in a circle


def read_file(path: str) -> Source | Problem | None:
    """A file's text; None if it is binary or mentions no engine, a problem if it does and cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        try:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                return Problem(path, "not a regular file")
            if info.st_size > SIZE_AT_MOST:
                return _too_large(path, descriptor, info.st_size)
            data = os.read(descriptor, SIZE_AT_MOST + 1)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        return Problem(path, _reason(error))
    return decode(path, data)


def decode(path: str, data: bytes) -> Source | Problem | None:
    """The text of a file's bytes (UTF-8, or UTF-16 with a byte order mark); None if it mentions no engine or is binary."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", errors="replace")
        if not mentions_engine(text.encode("utf-8", "replace")):
            return None
        try:
            return Source(path, data.decode("utf-16"), "utf-16")
        except UnicodeDecodeError as error:
            return _not_valid(path, "UTF-16", data[: error.start].decode("utf-16"), data[error.start])
    if not mentions_engine(data) or b"\0" in data:
        return None
    body = data.removeprefix(codecs.BOM_UTF8)
    try:
        return Source(path, body.decode(), "utf-8" if len(body) == len(data) else "utf-8-sig")
    except UnicodeDecodeError as error:
        return _not_valid(path, "UTF-8", body[: error.start].decode(), body[error.start])


def _not_valid(path: str, encoding: str, before: str, byte: int) -> Problem:
    line, column = Source(path, before).position(len(before))
    return Problem(path, f"not valid {encoding}: byte 0x{byte:02x}", line, column)


def _too_large(path: str, descriptor: int, size: int) -> Problem | None:
    tail = b""
    if path.lower().endswith(".json"):
        return None  # a data set, a benchmark's results
    while chunk := os.read(descriptor, _CHUNK):
        if b"\0" in chunk:
            return None
        if mentions_engine(tail + chunk):
            return Problem(
                path, f"not read: {size / (1 << 20):.1f} MiB, and servelint reads files up to {SIZE_AT_MOST >> 20} MiB"
            )
        tail = chunk[-_OVERLAP:]
    return None


def _reason(error: Exception) -> str:
    return f"cannot be read: {error.strerror}" if isinstance(error, OSError) and error.strerror else f"cannot be read: {error}"
