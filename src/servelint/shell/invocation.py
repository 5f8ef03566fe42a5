"""A command that a script runs, as the walk tells of it."""

from __future__ import annotations

from collections.abc import Callable

from servelint.launch import ReleaseClaim, Word
from servelint.shell.files import Opened
from servelint.source import Span
from servelint.text import Text


class Invocation:
    """One command that the script runs: its words, the variables it exports to it, its place, and what was installed before.

    open_env: a script that was sourced before may export more
    likely:   a run without arguments and without extra environment comes here
    sourced:  another file does it while it is sourced, which is told where that file is read
    lost:     what looks like the rest of it, behind a continuation that is missing
    stdin:    what it reads from its standard input, None if that is not known
    open:     the text of a file that it names, None if that is not known
    """

    __slots__ = ("env", "installed", "likely", "lost", "open", "open_env", "site", "sourced", "stdin", "words")

    def __init__(
        self,
        words: list[Word],
        env: dict[str, Text],
        site: Span,
        installed: dict[str, ReleaseClaim],
        open_env: bool,
        likely: bool,
        stdin: Text | None,
        open: Callable[[Text], Opened | None],
    ) -> None:
        self.words = words
        self.env = env
        self.site = site
        self.installed = installed
        self.open_env = open_env
        self.likely = likely
        self.stdin = stdin
        self.open = open
        self.lost: Span | None = None
        self.sourced = False


Found = Callable[[Invocation], "dict[str, ReleaseClaim] | None"]
"""Told of each command; may answer what the command installs, by engine."""
