"""What is scanned as one: a repository, which one process reads from its first file to its last."""

from __future__ import annotations

from typing import NamedTuple

FOLDER, GIT, TAR, ZIP = "folder", "git", "tar", "zip"
"""How the files of a repository are stored."""


class Unit(NamedTuple):
    """One repository. It goes to other processes and to other machines.

    name:     what rows call it;  kind: one of those above
    place:    its absolute path;  revision: the one that is asked for of a git repository, "" elsewhere
    """

    name: str
    kind: str
    place: str
    revision: str = ""


class Counts(NamedTuple):
    """What there was in a repository, or in several.

    files: those whose names are looked at;  own: errors that are servelint's;  reused: files that a cache knew whole
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
        return Counts(*[mine + theirs for mine, theirs in zip(self, other, strict=True)])


class Done(NamedTuple):
    """The rows of a repository as JSON Lines, sorted, and what they count."""

    rows: bytes
    counts: Counts
