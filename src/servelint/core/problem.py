"""A file that could not be read or parsed, as a value: one bad file never stops the others."""

from __future__ import annotations


class Problem:
    """Where and why a file, or a part of it, was not read.

    Attributes:
        path: The file.
        message: One sentence.
        line, column: 1-based; (1, 1) for the whole file.
        own: Whether it is a bug of servelint, not a fault of the file.
        limit: Whether a limit was reached (servelint.core.bounds).
        note: Where it is a note and not an error: "always"; "found" for a file that a folder holds and no argument names;
            "unjudged" for an image whose container is not judged.
    """

    __slots__ = ("column", "limit", "line", "message", "note", "own", "path")

    def __init__(
        self, path: str, message: str, line: int = 1, column: int = 1, *, own: bool = False, limit: bool = False, note: str = ""
    ) -> None:
        self.path = path
        self.message = message
        self.line = line
        self.column = column
        self.own = own
        self.limit = limit
        self.note = note

    def __repr__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"
