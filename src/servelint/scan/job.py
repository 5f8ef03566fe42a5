"""What a scan works on: a repository (`Unit`), the work for each (`Job`), and its result (`Done`, `Counts`).

All of them go to other processes and other machines. `context` is a name for a job that changes with whatever a finding
depends on.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import NamedTuple

from servelint.core.data import VERSION
from servelint.core.digest import content_digest
from servelint.core.settings import Settings

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


def create(settings: Settings, exclude: tuple[str, ...] = ()) -> Job:
    """Return a job with the context of this process."""
    return Job(settings, exclude, None, context(settings, exclude))


def excludes(patterns: tuple[str, ...]) -> Callable[[str], bool] | None:
    """Return a test of a path in a repository for being skipped; None if no path is."""
    if not patterns:
        return None
    from servelint.settings.layers import Glob

    globs = [Glob(pattern, os.sep) for pattern in patterns]
    return lambda path: any(glob.matches(os.sep + path.replace("/", os.sep), os.sep) for glob in globs)


def context(settings: Settings, exclude: tuple[str, ...]) -> str:
    """Return a digest of the settings and of the program: servelint, its rules and catalogs, Python and the parsers."""
    from importlib.metadata import version

    from servelint.cache.context import program_contents, settings_data

    program = [VERSION, sys.version_info[:2], [version(name) for name in _PARSERS], program_contents()]
    depends = [program, settings_data(settings), exclude]
    return content_digest(json.dumps(depends, sort_keys=True, default=repr).encode())[:32]
