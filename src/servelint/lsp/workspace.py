"""The findings of every file in the open folders, on request: in slices, so that whoever types is answered meanwhile."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time

from lsprotocol import types

from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.lint import beside
from servelint.lsp import apart, diagnostics
from servelint.lsp.analysis import analyse
from servelint.lsp.documents import path_of, uri_of
from servelint.lsp.folders import Folder
from servelint.readers.discover import files, read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from typing import TypeAlias

    from servelint.lsp.server import Server

    Told: TypeAlias = types.WorkspaceFullDocumentDiagnosticReport | types.WorkspaceUnchangedDocumentDiagnosticReport

_SLICE = 0.02
"""Seconds that are worked before whatever has come meanwhile is looked at."""


def register(server: Server) -> None:
    scan = Scan(server)

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def workspace_diagnostic(params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
        if params.previous_result_ids and params.partial_result_token is not None:
            # such a client asks again as soon as it is answered: it is, when something has changed
            await server.moved.wait()
        server.moved.clear()
        items = await scan.run(params)
        return types.WorkspaceDiagnosticReport(items)


class Scan:
    """Goes through the files. A file without anything about an engine is not read again until it changes."""

    __slots__ = ("_dull", "_server")

    def __init__(self, server: Server) -> None:
        self._server = server
        self._dull: dict[str, tuple[int, int]] = {}  # path -> size and time of its last change

    async def run(self, params: types.WorkspaceDiagnosticParams) -> list[Told]:
        """What is told of each file that has findings, or had some; nothing if the client takes it in parts, which it got."""
        server = self._server
        before = {one.uri: one.value for one in params.previous_result_ids}
        progress = _Progress(server, params.work_done_token)
        found: list[Told] = []
        told: set[str] = set()
        try:
            async for path, items in self._each(progress):
                uri = uri_of(path)
                told.add(uri)
                number = _number(items)
                if before.get(uri) == number:
                    found.append(types.WorkspaceUnchangedDocumentDiagnosticReport(uri=uri, result_id=number))
                elif items or uri in before:
                    document = server.documents.get(uri)
                    version = document.version if document is not None else None
                    found.append(types.WorkspaceFullDocumentDiagnosticReport(uri, items, version, result_id=number))
                if params.partial_result_token is not None and found:
                    part = types.WorkspaceDiagnosticReportPartialResult(found)
                    server.progress(types.ProgressParams(params.partial_result_token, part))
                    found = []
        finally:
            progress.end()
        gone = [uri for uri in before if uri not in told and path_of(uri) is not None]
        return found + [types.WorkspaceFullDocumentDiagnosticReport(uri, []) for uri in gone]

    async def _each(self, progress: _Progress) -> AsyncIterator[tuple[str, list[types.Diagnostic]]]:
        count, ready = 0, time.perf_counter() + _SLICE
        for folder in self._server.folders:
            for path in _files(folder):
                count += 1
                items = await self._file(folder, os.path.normpath(path))
                if items is not None:
                    yield path, items
                if time.perf_counter() >= ready:
                    progress.step(count)
                    await asyncio.sleep(0)
                    ready = time.perf_counter() + _SLICE

    async def _file(self, folder: Folder, path: str) -> list[types.Diagnostic] | None:
        """What is told of a file; None of one that says nothing of an engine."""
        server = self._server
        document = server.documents.at(path)
        if document is not None:
            return (await server.found_later(document) or []) if server.checking.is_large(document) else server.found(document)
        try:
            info = os.stat(path)
        except OSError:
            return None
        stamp = info.st_size, info.st_mtime_ns
        if self._dull.get(path) == stamp:
            return None
        source = read_file(path)
        if source is None:
            self._dull[path] = stamp
            return None
        self._dull.pop(path, None)
        positions = server.positions
        if isinstance(source, Problem):
            return [diagnostics.of_problem(source, Source(path, ""), positions)]
        if len(source.text) > apart.LARGE:
            return await apart.check(source, folder.options, positions, uri_of(path))
        settings = folder.of(path)
        analysis = analyse(source, settings, beside(path, settings, (folder.path,)))
        return diagnostics.told(analysis, analysis.findings, positions, uri_of(path))


def _files(folder: Folder) -> Iterator[str]:
    problems: list[Problem] = []
    return files([folder.path], problems, folder.files)


def _number(items: list[types.Diagnostic]) -> str:
    """The same for the same diagnostics."""
    return hashlib.sha256(repr(items).encode("utf-8", "replace")).hexdigest()[:16]


class _Progress:
    """Tells how far it is, where the client wants to know."""

    def __init__(self, server: Server, token: types.ProgressToken | None) -> None:
        self._server = server
        self._token = token
        self._next = 0.0
        self._tell(types.WorkDoneProgressBegin("servelint", cancellable=True, message="looking for launches"))

    def step(self, count: int) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + 0.25
            self._tell(types.WorkDoneProgressReport(message=f"{count:,} files"))

    def end(self) -> None:
        self._tell(types.WorkDoneProgressEnd())

    def _tell(self, value: object) -> None:
        if self._token is not None:
            self._server.progress(types.ProgressParams(self._token, value))
