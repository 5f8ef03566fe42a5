"""A file that could not be read or parsed, as a value: one bad file never stops the others."""

from __future__ import annotations


class Problem:
    """path, 1-based line and column (1, 1 when the whole file is meant), and one sentence.

    own: the trouble is servelint's, not the file's
    """

    __slots__ = ("column", "line", "message", "own", "path")

    def __init__(self, path: str, message: str, line: int = 1, column: int = 1, *, own: bool = False) -> None:
        self.path = path
        self.message = message
        self.line = line
        self.column = column
        self.own = own

    def __repr__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"
