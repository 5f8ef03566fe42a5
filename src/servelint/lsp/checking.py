"""What is known of the open texts, worked out when it is asked for and kept until something changes."""

from __future__ import annotations

import os

from lsprotocol import types

from servelint.core.finding import Finding
from servelint.files.project import Project
from servelint.files.siblings import Neighbours
from servelint.lsp import apart, diagnostics, shifting
from servelint.lsp.analysis import Analysis, analyse
from servelint.lsp.documents import Document, Documents
from servelint.lsp.folders import Folders
from servelint.lsp.options import Options
from servelint.lsp.positions import Positions


class Checking:
    """Analyses open texts, each with those that are open beside it in the place of their files."""

    __slots__ = ("_documents", "_folders", "_made")

    def __init__(self, documents: Documents, folders: Folders) -> None:
        self._documents = documents
        self._folders = folders
        self._made = 0

    def analysis(self, document: Document) -> Analysis:
        """The analysis of a text as it stands now."""
        if document.analysis is None:
            found = document.analysis = self._analyse(document)
            self._made += 1
            document.number = self._made
            if found.launches:
                document.launched = found
            if not broken(found):
                document.sound = found
                document.standing = shifting.Standing(len(found.source.text))
        return document.analysis

    def is_large(self, document: Document) -> bool:
        """Whether a text takes so long that it is checked apart, and nothing else is known of it."""
        return len(document.source.text) > apart.LARGE

    async def apart(self, document: Document, options: Options, positions: Positions) -> list[types.Diagnostic]:
        """What is told of a large text."""
        source = document.source
        problems = apart.too_large(source)
        if problems is not None:
            return [diagnostics.of_problem(problem, source, positions) for problem in problems]
        return await apart.check(source, options, positions, document.uri)

    def findings(self, document: Document) -> list[Finding]:
        """The findings of a text; while it cannot be parsed, those of before, as far as what they speak of still stands."""
        found = self.analysis(document)
        sound = document.sound
        if sound is None or sound is found:
            return found.findings
        return shifting.moved(sound.findings, document.standing, sound.source, found.source)

    def neighbours(self, document: Document, reads: set[str] | None = None) -> Neighbours:
        """The files beside a text, as they stand in the editor if they are open. reads: gets the paths that are asked for"""

        folder = os.path.dirname(document.path) if document.is_file else None
        settings = self._folders.settings(document.path, is_file=document.is_file)
        project = Project(folder or ".", settings.read_outside, (self._folders.of(document.path).path,))

        def fetch(path: str) -> bytes | None:
            path = os.path.normpath(path)
            if reads is not None:
                reads.add(path)
            other = self._documents.at(path)
            return other.source.text.encode("utf-8", "replace") if other is not None else project(path)

        return Neighbours(folder, folder or "", fetch)

    def forget(self, document: Document, *, settings: bool = False) -> None:
        """Have a text analysed anew. settings: what was found before was found by others"""
        document.analysis = None
        document.memory.forget()
        if settings:
            document.sound = None

    def _analyse(self, document: Document) -> Analysis:
        reads: set[str] = set()
        settings = self._folders.settings(document.path, is_file=document.is_file)
        found = analyse(document.source, settings, self.neighbours(document, reads), document.memory)
        document.reads = frozenset(reads)
        return found


def broken(analysis: Analysis) -> bool:
    """Whether a text could not be parsed."""
    return any(problem.path == analysis.source.path and not problem.own for problem in analysis.problems)
