"""Which version of settings, rules, baselines and comments a check believes, and within which folders it reads at all.

A pull request could switch off the findings that it causes. With `--trusted-suppressions base`, whatever leaves findings out is
read as a trusted git revision has it, not as the change under test does. One `Trust` is made for a run and passed along.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from servelint.core import safe_open

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from servelint.core.finding import Finding
    from servelint.core.source import Span

    class Revision(Protocol):
        """A git revision whose files are believed (servelint.files.git.Base)."""

        name: str

        def covers(self, path: str) -> bool:
            """Whether a path is in the revision's repository."""

        def read(self, path: str) -> bytes | None:
            """The bytes of a file at the revision; None if it was not there."""

        def is_file(self, path: str) -> bool:
            """Whether there was a file at a path."""

        def is_folder(self, path: str) -> bool:
            """Whether there was a folder at a path."""

        def below(self, folder: str) -> list[str]:
            """The files at any depth of a folder, sorted."""

        def has_comment(self, comment: Span, lines: tuple[int, ...]) -> bool:
            """Whether the revision has a comment that applies to some lines now."""

        def had(self, comment: Span, lines: tuple[int, ...], finding: Finding) -> bool:
            """Whether it has that comment and the lines of a finding as they are now."""


class Trust:
    """What a check believes.

    Attributes:
        inline: Whether ignore comments count at all.
        base: The revision that comments, settings, rules and baselines are read from; None for the files as they are.
        within: Real paths of the folders outside of which nothing is read; empty: anything may be.
    """

    __slots__ = ("base", "inline", "within")

    def __init__(self, *, inline: bool = True, base: Revision | None = None, within: tuple[str, ...] = ()) -> None:
        self.inline = inline
        self.base = base
        self.within = within

    def holds(self, path: str) -> bool:
        """Whether a path, wherever links in it lead, is in the folders in which files may be read."""
        if not self.within:
            return True
        try:
            real = os.path.realpath(path)
        except (OSError, ValueError):
            return False
        return any(real == one or real.startswith(os.path.join(one, "")) for one in self.within)

    def believes_comment(self, comment: Span, lines: tuple[int, ...]) -> bool:
        """Whether a comment counts that applies to some lines."""
        return self.inline and (self.base is None or self.base.has_comment(comment, lines))

    def believes(self, comment: Span, lines: tuple[int, ...], finding: Finding) -> bool:
        """Whether a comment that applies to some lines may suppress a finding."""
        return self.inline and (self.base is None or self.base.had(comment, lines, finding))

    def read(self, path: str, at_most: int) -> bytes:
        """The first bytes of a file, at most `at_most` and one more.

        Raises:
            OSError: the file cannot be read, or is not in the trusted revision.
            ValueError: the path is not valid.
        """
        base = self._base_of(path)
        if not self.holds(path):
            raise PermissionError(13, "it is outside the folders that may be read")
        if base is None:
            return safe_open.read(path, at_most)
        data = base.read(path)
        if data is None:
            raise FileNotFoundError(2, f"it is not in {base.name}")
        return data[: at_most + 1]

    def is_file(self, path: str) -> bool:
        """Whether there is a file at a path."""
        base = self._base_of(path)
        return self.holds(path) and (os.path.isfile(path) if base is None else base.is_file(path))

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder at a path."""
        base = self._base_of(path)
        return self.holds(path) and (os.path.isdir(path) if base is None else base.is_folder(path))

    def below(self, folder: str) -> list[str]:
        """The files at any depth of a folder, sorted; links to folders are not followed."""
        if (base := self._base_of(folder)) is not None:
            return base.below(folder)
        return sorted([os.path.join(here, name) for here, _, names in os.walk(folder) for name in names])

    def _base_of(self, path: str) -> Revision | None:
        return self.base if self.base is not None and self.base.covers(path) else None


EVERYTHING = Trust()
"""Believes the files as they are."""


class RuleFolder(NamedTuple):
    """A folder of users' rules, and as whose version of it they are read."""

    path: str
    trust: Trust


def folder_path(folder: str | RuleFolder) -> str:
    """The path of a folder of users' rules."""
    return folder.path if isinstance(folder, RuleFolder) else folder
