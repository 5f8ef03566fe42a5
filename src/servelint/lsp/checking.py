"""What is known of the open texts, worked out when it is asked for and kept until something changes."""

from __future__ import annotations

import os

from lsprotocol import types

from servelint.lsp import diagnostics
from servelint.lsp.analysis import Analysis, analyse
from servelint.lsp.documents import Document, Documents
from servelint.lsp.folders import Folders
from servelint.lsp.positions import Positions
from servelint.readers.neighbours import Neighbours, from_disk


class Checking:
    """Analyses open texts, each with those that are open beside it in the place of their files."""

    __slots__ = ("_documents", "_folders")

    def __init__(self, documents: Documents, folders: Folders) -> None:
        self._documents = documents
        self._folders = folders

    def analysis(self, document: Document) -> Analysis:
        """The analysis of a text as it stands now."""
        if document.analysis is None:
            document.analysis = self._analyse(document)
        return document.analysis

    def diagnostics(self, document: Document, positions: Positions) -> list[types.Diagnostic]:
        """What is told of a text."""
        analysis = self.analysis(document)
        source, folders = analysis.source, analysis.settings.rules
        told = [diagnostics.of_finding(finding, source, positions, folders) for finding in analysis.findings]
        return [diagnostics.of_problem(problem, source, positions) for problem in analysis.problems] + told

    def _analyse(self, document: Document) -> Analysis:
        reads: set[str] = set()

        def fetch(path: str) -> bytes | None:
            path = os.path.normpath(path)
            reads.add(path)
            other = self._documents.at(path)
            return other.source.text.encode("utf-8", "replace") if other is not None else from_disk(path)

        folder = os.path.dirname(document.path) if document.is_file else None
        neighbours = Neighbours(folder, folder or "", fetch)
        settings = self._folders.settings(document.path, is_file=document.is_file)
        found = analyse(document.source, settings, neighbours)
        document.reads = frozenset(reads)
        return found
