"""A revision as it is in git's objects: nothing is checked out for it, and nothing that the repository brings along is run."""

from __future__ import annotations

import os

from servelint.core.finding import Finding
from servelint.core.source import Source, Span
from servelint.files import git
from servelint.files.git import Changes
from servelint.files.text import decode_text

_LINK, _FILES = "120000", ("100644", "100755", "120000")
_LINKS_AT_MOST = 8


class Base:
    """A revision whose settings, rules, baselines and comments are believed.

    name: as the user calls it
    """

    __slots__ = ("_blobs", "_changes", "_commit", "_entries", "_folders", "_lines", "_top", "name")

    def __init__(self, name: str, top: str, commit: str, entries: dict[str, tuple[str, str]]) -> None:
        self.name = name
        self._commit = commit
        self._changes: Changes | None = None
        self._top = os.path.realpath(top)
        self._entries = entries
        self._blobs: dict[str, bytes] = {}
        self._folders = {""}
        self._lines: dict[str, list[str]] = {}
        for path in entries:
            while path:
                path = path.rpartition("/")[0]
                self._folders.add(path)

    def covers(self, path: str) -> bool:
        """Whether a path is one of the repository: of others it says nothing, and they are what they are."""
        return self._place(path) is not None

    def read(self, path: str) -> bytes | None:
        """What a file held; None if it was not there."""
        place = self._resolved(self._place(path))
        if place is None:
            return None
        _, name = self._entries[place]
        if name not in self._blobs:
            self._blobs[name] = git.blob(self._top, name)
        return self._blobs[name]

    def is_file(self, path: str) -> bool:
        return self._resolved(self._place(path)) is not None

    def is_folder(self, path: str) -> bool:
        return self._place(path) in self._folders

    def below(self, folder: str) -> list[str]:
        """The files in a folder and in those within it."""
        place = self._place(folder)
        head = f"{place}/" if place else ""
        names = [one[len(head) :] for one, (mode, _) in self._entries.items() if one.startswith(head) and mode != _LINK]
        return sorted([os.path.join(folder, *name.split("/")) for name in names])

    @property
    def changes(self) -> Changes:
        """What is not as the revision has it. Raises git.GitError."""
        if self._changes is None:
            self._changes = git.against(self._top, self._commit)
        return self._changes

    def has_comment(self, comment: Span, lines: tuple[int, ...]) -> bool:
        """Whether the revision has a comment where it is now, with the lines that it speaks for."""
        first, last = min(comment.line, *lines), max(comment.end_line, *lines)
        return self._is_old(comment.source, first, min(last, len(comment.source.line_starts)))

    def had(self, comment: Span, lines: tuple[int, ...], finding: Finding) -> bool:
        """Whether the revision has a comment where it is now, with the lines that it speaks for and those of a finding.

        A comment that is new or was moved does not count, and one that is old does not for what is new: neither for another
        line of its launch nor for a place elsewhere that makes the finding true.
        """
        if not self.has_comment(comment, lines):
            return False
        spans = [finding.span, *[related.span for related in finding.related]]
        return all(self._is_old(span.source, span.line, span.end_line) for span in spans)

    def _is_old(self, source: Source, first: int, last: int) -> bool:
        """Whether lines of a file are as the revision has them."""
        path = source.path
        place = self._place(path)
        if place is None:
            return True  # no file of the repository
        for one in {place, self.changes.place(path) or place}:  # a link is a file of its own
            change = self.changes.files.get(one)
            if change is None and one not in self._entries:
                return False  # git does not follow it
            if change is not None and change.touches(first, last):
                return False
            old = change.old if change is not None else one
            if old is None or not self._has_lines(old, [source.line_text(line) for line in range(first, last + 1)]):
                return False
        return True

    def _has_lines(self, place: str, lines: list[str]) -> bool:
        """Whether a file had some lines one after the other, whatever git makes of the file by its attributes."""
        if place not in self._lines:
            data = self.read(os.path.join(self._top, *place.split("/")))
            found = decode_text(place, data) if data is not None else None
            self._lines[place] = (
                [found.line_text(number) for number in range(1, len(found.line_starts) + 1)]
                if isinstance(found, Source)
                else []
            )
        there = self._lines[place]
        return any(there[at : at + len(lines)] == lines for at in range(len(there) - len(lines) + 1))

    def _place(self, path: str) -> str | None:
        """A path as git writes it, None for one outside the repository. Links below the top are under test: not followed."""
        path = os.path.abspath(path)
        here, rest = path, ""
        below = os.path.relpath(path, self._top)
        if below != os.pardir and not below.startswith(os.pardir + os.sep):
            return "" if below == os.curdir else below.replace(os.sep, "/")
        while os.path.dirname(here) != here:
            if os.path.realpath(here) == self._top:
                return rest.replace(os.sep, "/")
            here, name = os.path.split(here)
            rest = os.path.join(name, rest) if rest else name
        return None

    def _resolved(self, place: str | None) -> str | None:
        """The file that a path is, links within the revision followed; None if there is none."""
        for _ in range(_LINKS_AT_MOST):
            if place is None or place not in self._entries:
                return None
            mode, name = self._entries[place]
            if mode != _LINK:
                return place if mode in _FILES else None
            target = os.fsdecode(git.blob(self._top, name))
            if target.startswith("/"):
                return None
            place = os.path.normpath(os.path.join(os.path.dirname(place), target)).replace(os.sep, "/")
        return None


def of(revision: str) -> Base:
    """A revision as the base. Raises git.GitError."""
    top, commit = git.commit(revision)
    return Base(revision, top, commit, git.tree(top, commit))
