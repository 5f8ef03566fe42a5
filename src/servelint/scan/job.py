"""What a scan works on: a repository (`Unit`), the work for each (`Job`), and its result (`Done`, `Counts`).

All of them go to other processes and other machines. `context` is a name for a job that changes with whatever a finding
depends on.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from servelint import __version__
from servelint.core.settings import Settings
from servelint.core.trust import folder_path

FOLDER, GIT, TAR, ZIP = "folder", "git", "tar", "zip"
"""How the files of a repository are stored: `Unit.kind`."""


class Unit(NamedTuple):
    """One repository, which one process reads from its first file to its last.

    Attributes:
        name: its name in rows.
        kind: FOLDER, GIT, TAR or ZIP.
        place: its absolute path.
        revision: the revision to read of a git repository, "" for the others.
    """

    name: str
    kind: str
    place: str
    revision: str = ""


class Counts(NamedTuple):
    """Numbers of a repository, or of several.

    Attributes:
        files: files that may launch something, by their names.
        error: findings of that severity; likewise `warning` and `info`.
        problems: files and repositories that could not be read or parsed.
        own: those of them that are errors in servelint.
        reused: files whose results a cache had.
    """

    repositories: int = 0
    files: int = 0
    launches: int = 0
    error: int = 0
    warning: int = 0
    info: int = 0
    problems: int = 0
    own: int = 0
    reused: int = 0

    def plus(self, other: Counts) -> Counts:
        """Return the sum of two."""
        return Counts(*[mine + theirs for mine, theirs in zip(self, other, strict=True)])


class Done(NamedTuple):
    """The rows of a repository as sorted JSON Lines, and their numbers."""

    rows: bytes
    counts: Counts


_DERIVED = (".pyc", ".catalog", ".tmp")
_PARSERS = ("ruamel.yaml", "tree-sitter", "tree-sitter-bash")


class Job(NamedTuple):
    """The work for each repository.

    Attributes:
        settings: the settings of the scan; those inside repositories are not read.
        exclude: patterns of paths that are skipped, relative to each repository.
        cache: the folder of the cache, None for no cache.
        context: `context()` in the process that started the scan.
    """

    settings: Settings
    exclude: tuple[str, ...] = ()
    cache: str | None = None
    context: str = ""


def create(settings: Settings, exclude: tuple[str, ...] = (), cache: str | None = None) -> Job:
    """Return a job with the context of this process."""
    return Job(settings, exclude, cache, context(settings, exclude))


def excludes(patterns: tuple[str, ...]) -> Callable[[str], bool] | None:
    """Return a test of a path in a repository for being skipped; None if no path is."""
    if not patterns:
        return None
    from servelint.settings.layers import Glob

    globs = [Glob(pattern, os.sep) for pattern in patterns]
    return lambda path: any(glob.matches(os.sep + path.replace("/", os.sep), os.sep) for glob in globs)


def context(settings: Settings, exclude: tuple[str, ...]) -> str:
    """Return a digest of the settings and of the program: servelint, its rules and catalogs, Python and the parsers."""
    depends = {name: getattr(settings, name) for name in Settings.__slots__ if name not in ("selections", "rules", "trust")}
    depends["selections"] = [[layer.select, layer.extend_select, layer.ignore] for layer in settings.selections]
    depends["rules"] = [_of_folder(folder_path(folder)) for folder in settings.rules]
    depends["exclude"] = exclude
    whole = hashlib.sha256(_program().encode())
    whole.update(json.dumps(depends, sort_keys=True).encode())
    return whole.hexdigest()[:32]


@lru_cache(maxsize=1)
def _program() -> str:
    from importlib.metadata import version

    from servelint.cache.context import program_folders

    parsers = [version(name) for name in _PARSERS]
    return json.dumps([__version__, sys.version_info[:2], parsers, [_of_folder(folder) for folder in program_folders()]])


def _of_folder(folder: str) -> str:
    """Return a digest of the files of a folder, without files that are derived from others."""
    whole = hashlib.sha256()
    for base, folders, names in os.walk(folder):
        folders[:] = sorted([name for name in folders if name != "__pycache__"])
        for name in sorted(names):
            path = os.path.join(base, name)
            if name.endswith(_DERIVED) or (name.startswith("book.json") and os.path.basename(base) == "rules"):
                continue
            try:
                with open(path, "rb") as file:
                    data = file.read()
            except OSError:
                continue
            whole.update(f"{os.path.relpath(path, folder)}\0{len(data)}\0".encode("utf-8", "surrogateescape"))
            whole.update(data)
    return whole.hexdigest()
