"""A revision as it is in git's objects: nothing is checked out for it, and nothing that the repository brings along is run."""

from __future__ import annotations

import os

from servelint.changed import git
from servelint.changed.git import Changes
from servelint.finding import Finding
from servelint.source import Span

_LINK, _FILES = "120000", ("100644", "100755", "120000")
_LINKS_AT_MOST = 8


class Base:
    """A revision whose settings, rules, baselines and comments are believed.

    name: as the user calls it;  changes: what is not as it has it
    """

    __slots__ = ("_blobs", "_entries", "_folders", "_top", "changes", "name")

    def __init__(self, name: str, top: str, entries: dict[str, tuple[str, str]], changes: Changes) -> None:
        self.name = name
        self.changes = changes
        self._top = os.path.realpath(top)
        self._entries = entries
        self._blobs: dict[str, bytes] = {}
        self._folders = {""}
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

    def had(self, comment: Span, lines: tuple[int, ...], finding: Finding) -> bool:
        """Whether the revision has a comment where it is now, with the lines that it speaks for and those of a finding.

        A comment that is new or was moved does not count, and one that is old does not for what is new: neither for another
        line of its launch nor for a place elsewhere that makes the finding true.
        """
        first, last = min(comment.line, *lines), max(comment.end_line, *lines)
        if not self._is_old(comment.source.path, first, min(last, len(comment.source.line_starts))):
            return False
        spans = [finding.span, *[related.span for related in finding.related]]
        return all(self._is_old(span.source.path, span.line, span.end_line) for span in spans)

    def _is_old(self, path: str, first: int, last: int) -> bool:
        """Whether lines of a file are as the revision has them."""
        place = self._place(path)
        if place is None:
            return True  # no file of the repository
        for one in {place, self.changes.place(path) or place}:  # a link is a file of its own
            change = self.changes.files.get(one)
            if change is None and one not in self._entries:
                return False  # git does not follow it
            if change is not None and change.touches(first, last):
                return False
        return True

    def _place(self, path: str) -> str | None:
        """A path as git writes it, None for one outside the repository. No link below the top is followed: those are under test."""
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
    return Base(revision, top, git.tree(top, commit), git.against(top, commit))
