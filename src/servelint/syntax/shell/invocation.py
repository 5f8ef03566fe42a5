"""A command that a script runs, as the walk tells of it."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

from servelint.core.launch import ReleaseClaim, Word
from servelint.core.source import Span
from servelint.core.text import Text
from servelint.syntax.shell.files import Files, Opened, file_key


class Invocation:
    """One command that the script runs: its words, the variables it exports to it, its place, and what was installed before.

    open_env: a script that was sourced before may export more
    likely:   a run without arguments and without extra environment comes here
    sourced:  another file does it while it is sourced, which is told where that file is read
    lost:     what looks like the rest of it, behind a continuation that is missing
    stdin:    what it reads from its standard input, None if that is not known
    files:    those that are known;  folder: where relative paths start, None if that is not known
    """

    __slots__ = ("env", "files", "folder", "installed", "likely", "lost", "open_env", "site", "sourced", "stdin", "words")

    def __init__(
        self,
        words: list[Word],
        env: dict[str, Text],
        site: Span,
        installed: dict[str, ReleaseClaim],
        open_env: bool,
        likely: bool,
        stdin: Text | None,
        files: Files,
        folder: Text | None,
    ) -> None:
        self.words = words
        self.env = env
        self.site = site
        self.installed = installed
        self.open_env = open_env
        self.likely = likely
        self.stdin = stdin
        self.files = files
        self.folder = folder
        self.lost: Span | None = None
        self.sourced = False

    def open(self, path: Text) -> Opened | None:
        """The text of a file that it names, None if that is not known."""
        return self.files.opened(file_key(path, self.folder))

    def beside(self, files: Files) -> Invocation:
        """The same command beside other files."""
        new = copy(self)
        new.files = files
        return new


Found = Callable[[Invocation], "dict[str, ReleaseClaim] | None"]
"""Told of each command; may answer what the command installs, by engine."""
