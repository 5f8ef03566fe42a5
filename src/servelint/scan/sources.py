"""The repositories that a user names: folders of them, git repositories at a revision, archives, and lists of all these."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext

from servelint.readers.discover import SKIPPED
from servelint.scan.job import FOLDER, GIT, TAR, ZIP, Unit

TAR_NAMES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
ZIP_NAMES = (".zip",)
DEPTH_AT_MOST = 4
"""Levels of folders below a source that are searched for repositories: host/owner/name, and one more."""


class SourceError(Exception):
    """A source cannot be used. The message is one sentence."""


def units(sources: Iterable[tuple[str, str]], revision: str | None, depth: int | None) -> Iterator[Unit]:
    """Yield the repositories of sources, each once.

    Args:
        sources: each with the name of its repository, "" for the name of its path.
        revision: the revision to read of git repositories whose source names none. None: HEAD of bare ones, and the files of
            working trees as they are.
        depth: the folders that many levels below a source are the repositories. None: git repositories are.

    Raises:
        SourceError: a source cannot be used.
    """
    seen: set[tuple[str, str, str]] = set()
    for source, name in sources:
        for unit in _of(source, name, revision, depth):
            key = unit.kind, os.path.realpath(unit.place), unit.revision
            if key not in seen:
                seen.add(key)
                yield unit


def named(paths: list[str], lists: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the sources of the command line, then those in lists, each with its name. Raises SourceError."""
    for path in paths:
        yield path, ""
    for path in lists:
        yield from listed(path)


def listed(path: str) -> Iterator[tuple[str, str]]:
    """Yield the sources in a file, one on each line, with a name after a tab; `-` is standard input.

    Empty lines and lines that start with # are skipped. Raises SourceError.
    """
    try:
        with open(path, "rb") if path != "-" else nullcontext(sys.stdin.buffer) as file:
            for line in iter(file.readline, b""):
                text = os.fsdecode(line.rstrip(b"\r\n"))
                source, _, name = text.partition("\t")
                if source.strip() and not source.startswith("#"):
                    yield source, name.strip()
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror}") from None


def _of(source: str, name: str, revision: str | None, depth: int | None) -> Iterator[Unit]:
    path, asked = _apart(source)
    absolute = os.path.abspath(path)
    shown = name or os.path.normpath(path).replace(os.sep, "/")
    own = asked or revision
    if os.path.isdir(path):
        git = _git_folder(absolute)
        if git is not None and (own is not None or git == absolute):
            yield Unit(shown, GIT, git, own or "HEAD")
        elif asked is not None:
            raise SourceError(f"{source}: no git repository is there that could have a revision {asked!r}")
        elif git is not None or name:
            yield Unit(shown, FOLDER, absolute)
        else:
            yield from _below(absolute, shown, own, depth)
    elif asked is not None:
        raise SourceError(f"{source}: only a git repository has a revision")
    elif path.lower().endswith(TAR_NAMES):
        yield Unit(shown, TAR, absolute)
    elif path.lower().endswith(ZIP_NAMES):
        yield Unit(shown, ZIP, absolute)
    else:
        what = "is neither a folder nor an archive" if os.path.exists(path) else "is not there"
        kinds = ", ".join([*TAR_NAMES, *ZIP_NAMES])
        raise SourceError(f"{source}: {what}; name a folder, a git repository, or an archive ({kinds})")


def _apart(source: str) -> tuple[str, str | None]:
    """Split PATH@REVISION, unless the whole is a path."""
    at = len(source)
    while not os.path.exists(source[:at]) and "@" in source[:at]:
        at = source.rindex("@", 0, at)
        if os.path.exists(source[:at]):
            return source[:at], source[at + 1 :]
    return source, None


def _git_folder(path: str) -> str | None:
    """Return the folder of git's data for a repository, the folder itself if it is bare; None if it is not a repository."""
    own = os.path.join(path, ".git")
    if os.path.exists(own):
        return own
    bare = os.path.isfile(os.path.join(path, "HEAD")) and all(
        os.path.isdir(os.path.join(path, name)) for name in ("objects", "refs")
    )
    return path if bare else None


def _below(folder: str, shown: str, revision: str | None, depth: int | None) -> Iterator[Unit]:
    """Yield the repositories in a folder that is not a repository itself; the folder as one if there are none."""
    if found := list(_found(folder, shown, revision, depth)):
        yield from found
    else:
        yield Unit(shown, FOLDER, folder)


def _found(folder: str, shown: str, revision: str | None, depth: int | None, level: int = 1) -> Iterator[Unit]:
    try:
        with os.scandir(folder) as scan:
            entries = sorted([entry for entry in scan if entry.is_dir(follow_symlinks=False)], key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name in SKIPPED:
            continue
        name = entry.name if shown == "." else f"{shown}/{entry.name}"
        git = _git_folder(entry.path)
        if git is not None and (revision is not None or git == entry.path):
            yield Unit(name, GIT, git, revision or "HEAD")
        elif git is not None or level == depth:
            yield Unit(name, FOLDER, entry.path)
        elif level < (depth or DEPTH_AT_MOST):
            yield from _found(entry.path, name, revision, depth, level + 1)
