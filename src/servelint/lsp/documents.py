"""The texts that are open in the editor, as they stand there."""

from __future__ import annotations

import os

from lsprotocol import types
from pygls import uris

from servelint.core.source import Source
from servelint.lsp.positions import Positions
from servelint.lsp.remembering import Memory
from servelint.lsp.shifting import Standing, differing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from servelint.lsp.analysis import Analysis

NAMES = {
    "bat": "untitled.bat",
    "dockercompose": "compose.yml",
    "dockerfile": "Dockerfile",
    "dotenv": ".env",
    "helm": "values.yaml",
    "json": "untitled.json",
    "jsonc": "untitled.json",
    "just": "justfile",
    "makefile": "Makefile",
    "markdown": "untitled.md",
    "shellscript": "untitled.sh",
    "systemd": "untitled.service",
    "yaml": "untitled.yml",
}
"""What a text without a file goes by, by the editor's word for its language."""


class Document:
    """An open text.

    path:    of its file, absolute; a name that tells the language where it has none;  is_file: whether it has one
    source:  its text as it stands now;  version: as the editor counts
    analysis: of `source`; None as long as it was not made;  number: of the analysis, among all that were made
    sound:   the last analysis of a text that could be parsed;  standing: what still stands of that one's text
    launched: the last one that had launches
    memory:  of the launches as they were;  seconds: that it takes to analyse
    reads:   the paths of the files beside it that its last analysis asked for
    """

    __slots__ = (
        "analysis",
        "is_file",
        "launched",
        "memory",
        "number",
        "path",
        "reads",
        "seconds",
        "sound",
        "source",
        "standing",
        "uri",
        "version",
    )

    def __init__(self, uri: str, language: str, version: int, text: str) -> None:
        self.uri = uri
        path = path_of(uri)
        self.is_file = path is not None
        self.path = path if path is not None else NAMES.get(language) or os.path.basename(uri) or "untitled"
        self.version = version
        self.source = Source(self.path, text)
        self.analysis: Analysis | None = None
        self.number = 0
        self.seconds = 0.0
        self.sound: Analysis | None = None
        self.launched: Analysis | None = None
        self.standing = Standing(len(text))
        self.memory = Memory()
        self.reads: frozenset[str] = frozenset()

    def change(self, changes: Sequence[types.TextDocumentContentChangeEvent], version: int, positions: Positions) -> None:
        """Take the editor's changes, each of the text as the one before left it."""
        for change in changes:
            before = self.source.text
            if isinstance(change, types.TextDocumentContentChangePartial):
                span = positions.span(self.source, change.range)
                start, end, text = span.start, span.end, before[: span.start] + change.text + before[span.end :]
            else:
                start, end, text = differing(before, change.text)
            if text != before:
                self.standing.edit(start, end, len(text) - len(before) + end - start)
            self.source = Source(self.path, text)
        self.version = version
        self.analysis = None


def path_of(uri: str) -> str | None:
    """The path of a file; None for what is no file."""
    if not uri.startswith("file:") or "[" in uri.removeprefix("file://").partition("/")[0]:
        return None  # no file has an address for its host; which of these are URIs at all depends on the Python
    try:
        path = uris.to_fs_path(uri)
    except ValueError:  # no URI at all: "file://["
        return None
    return os.path.normpath(path) if path else None


def uri_of(path: str) -> str:
    return uris.from_fs_path(os.path.abspath(path)) or path


class Documents:
    """Every open text, by its URI."""

    __slots__ = ("_by_path", "_by_uri")

    def __init__(self) -> None:
        self._by_uri: dict[str, Document] = {}
        self._by_path: dict[str, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(list(self._by_uri.values()))

    def get(self, uri: str) -> Document | None:
        return self._by_uri.get(uri)

    def at(self, path: str) -> Document | None:
        """The open text of a file."""
        return self._by_path.get(path)

    def add(self, document: Document) -> None:
        self._by_uri[document.uri] = document
        if document.is_file:
            self._by_path[document.path] = document

    def remove(self, uri: str) -> Document | None:
        document = self._by_uri.pop(uri, None)
        if document is not None:
            self._by_path.pop(document.path, None)
        return document
