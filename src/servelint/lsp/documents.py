"""The texts that are open in the editor, and positions in them as the protocol counts these."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lsprotocol import types
from pygls import uris

from servelint.core.source import Source, Span
from servelint.lsp.analysis import Analysis
from servelint.lsp.edits import Standing, differing
from servelint.lsp.launch_cache import LaunchCache
from servelint.report.places import utf8, utf16

NAMES = {
    "bat": "untitled.bat", "dockercompose": "compose.yml", "dockerfile": "Dockerfile", "dotenv": ".env",
    "fish": "untitled.fish", "hcl": "untitled.hcl", "helm": "values.yaml", "jenkinsfile": "Jenkinsfile",
    "json": "untitled.json", "jsonc": "untitled.json", "just": "justfile", "makefile": "Makefile", "markdown": "untitled.md",
    "nix": "untitled.nix", "powershell": "untitled.ps1", "restructuredtext": "untitled.rst",
    "shellscript": "untitled.sh", "systemd": "untitled.service", "terraform": "untitled.tf", "yaml": "untitled.yml",
}  # fmt: skip
"""File name for a text without a file, by the editor's name of its language."""
_LENGTHS: dict[str, Callable[[str], int]] = {"utf-8": utf8, "utf-16": utf16, "utf-32": len}


class Positions:
    r"""Converts between offsets of a text and the protocol's positions: lines from 0, columns in code units of an encoding.

    Attributes:
        encoding: "utf-8", "utf-16" or "utf-32", as agreed on with the client.

    >>> text = Source("a.sh", "x = \N{GRINNING FACE}y\n")
    >>> Positions("utf-16").position(text, 5).character, Positions("utf-8").position(text, 5).character
    (6, 8)
    """

    __slots__ = ("_length", "encoding")

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding
        self._length = _LENGTHS[encoding]

    def position(self, source: Source, offset: int) -> types.Position:
        """The position of an offset; between CR and LF, where no position is, the end of the line."""
        if source.text[max(offset - 1, 0) : offset + 1] == "\r\n":
            offset -= 1
        line, column = source.position(offset)
        return types.Position(line - 1, self._length(source.text[offset - column + 1 : offset]))

    def range(self, source: Source, start: int, end: int) -> types.Range:
        """The range between two offsets."""
        return types.Range(self.position(source, start), self.position(source, end))

    def of_span(self, span: Span) -> types.Range:
        """The range of a span."""
        return self.range(span.source, span.start, span.end)

    def offset(self, source: Source, position: types.Position) -> int:
        """The offset of a position; behind the end of a line that end, behind the last line the end of the text."""
        starts = source.line_starts
        if position.line >= len(starts):
            return len(source.text)
        start = starts[position.line]
        text = source.line_text(position.line + 1)
        if text.isascii() or self._length is len:
            return start + min(position.character, len(text))
        units = 0
        for index, char in enumerate(text):
            if units >= position.character:
                return start + index
            units += self._length(char)
        return start + len(text)

    def span(self, source: Source, range: types.Range) -> Span:
        """The span of a range."""
        start = self.offset(source, range.start)
        return Span(source, start, max(start, self.offset(source, range.end)))


@dataclass(slots=True, eq=False)
class Pending:
    """The analysis of one state of a text, which the worker makes or has made.

    Attributes:
        number: Different for each.
        source: The text.
        reads: Paths of the files beside the text that were read so far.
        task: Makes it.
        requested: Whether a request of the client waits for it: then it is made even if the text changes meanwhile.
    """

    number: int
    source: Source
    reads: set[str]
    task: asyncio.Task[Analysis]
    requested: bool = False

    async def analysis(self) -> Analysis | None:
        """The analysis; None if it was given up, which none is that a request waits for."""
        try:
            return await asyncio.shield(self.task)
        except asyncio.CancelledError:
            if self.task.cancelled():
                return None
            raise

    def give_up(self) -> None:
        """End it, unless a request waits for it."""
        if not self.requested:
            self.task.cancel()


class Document:
    """An open text.

    Attributes:
        path: Of its file, absolute; for a text without a file, a name that tells the language.
        is_file: Whether it has a file.
        source: The text as it stands now.
        version: Of the text, as the editor counts.
        pending: The analysis of `source`, once it is needed.
        sound: The last analysis of a text that could be parsed.
        standing: Where the characters of that text stand now.
        launched: The last analysis that had launches.
        cache: Findings of its launches.
        seconds: How long the last analysis took.
    """

    __slots__ = (
        "cache", "is_file", "launched", "path", "pending", "seconds", "sound", "source", "standing", "uri", "version",
    )  # fmt: skip

    def __init__(self, uri: str, language: str, version: int, text: str) -> None:
        self.uri = uri
        path = path_of(uri)
        self.is_file = path is not None
        self.path = path if path is not None else NAMES.get(language) or os.path.basename(uri) or "untitled"
        self.version = version
        self.source = Source(self.path, text)
        self.pending: Pending | None = None
        self.seconds = 0.0
        self.sound: Analysis | None = None
        self.launched: Analysis | None = None
        self.standing = Standing.whole(len(text))
        self.cache = LaunchCache()

    def change(self, changes: Sequence[types.TextDocumentContentChangeEvent], version: int, positions: Positions) -> None:
        """Apply the editor's changes, each to the text that the one before it left."""
        for change in changes:
            before = self.source.text
            if isinstance(change, types.TextDocumentContentChangePartial):
                span = positions.span(self.source, change.range)
                start, end, text = span.start, span.end, before[: span.start] + change.text + before[span.end :]
            else:
                text = change.text
                start, end = differing(before, text)
            if text != before:
                self.standing = self.standing.edited(start, end, len(text) - len(before) + end - start)
            self.source = Source(self.path, text)
        self.version = version


def path_of(uri: str) -> str | None:
    """The path of a file; None for a URI of anything else."""
    if not uri.startswith("file:") or "[" in uri.removeprefix("file://").partition("/")[0]:
        return None  # no file has an address for its host; which of these are URIs at all depends on the Python
    try:
        path = uris.to_fs_path(uri)
    except ValueError:  # no URI at all: "file://["
        return None
    return os.path.normpath(path) if path else None


def uri_of(path: str) -> str:
    """The URI of a file."""
    return uris.from_fs_path(os.path.abspath(path)) or path


class Documents(dict[str, Document]):
    """Every open text, by its URI."""

    def at(self, path: str) -> Document | None:
        """The open text of a file."""
        return next((one for one in list(self.values()) if one.is_file and one.path == path), None)
