"""What the editor asks for: diagnostics of a text and of the workspace, actions, hovers, completions, notes, the outline.

A handler begins when the messages behind its own may have been read. So the text that its positions are meant for is noted when
its message is read. What takes time runs on the worker.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from contextvars import ContextVar

from lsprotocol import types
from pygls.capabilities import get_capability

from servelint.core.problem import Problem
from servelint.core.source import Source, Span
from servelint.lint import beside
from servelint.lsp import diagnostics, edits, worker
from servelint.lsp.analysis import Analysis, analyse
from servelint.lsp.documents import Document, path_of, uri_of
from servelint.lsp.settings import Folder
from servelint.readers.discover import files, read_file
from servelint.report.clean import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Any, TypeAlias

    from servelint.lsp.annotations import Symbol
    from servelint.lsp.completion import Item
    from servelint.lsp.server import Server

    Report: TypeAlias = types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport
    FileReport: TypeAlias = types.WorkspaceFullDocumentDiagnosticReport | types.WorkspaceUnchangedDocumentDiagnosticReport

FIX_ALL = "source.fixAll.servelint"
_OF_A_TEXT = frozenset((
    types.TEXT_DOCUMENT_CODE_ACTION, types.TEXT_DOCUMENT_CODE_LENS, types.TEXT_DOCUMENT_COMPLETION,
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, types.TEXT_DOCUMENT_HOVER, types.TEXT_DOCUMENT_INLAY_HINT,
))  # fmt: skip
_SLICE = 0.02
"""Seconds that the search of the workspace works before other messages are handled."""
_COMPLETION = "text_document.completion.completion_item"
_TRIGGERS = ["-", "=", " ", '"', "'", ":", ".", "_"]
_ITEM_KINDS = {
    "option": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.EnumMember,
    "key": types.CompletionItemKind.Field,
    "variable": types.CompletionItemKind.Variable,
    "tag": types.CompletionItemKind.Constant,
}
_SYMBOL_KINDS = {"launch": types.SymbolKind.Module, "option": types.SymbolKind.Property, "variable": types.SymbolKind.Variable}


def register(server: Server) -> None:
    """Register the handlers of all features."""
    server.protocol.reading = lambda method, params: _current.set(_read(server, params) if method in _OF_A_TEXT else None)
    search = Search(server)
    offered: list[Item] = []  # the last completions: the documentation of one is sent when the user looks at it

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier="servelint"),
    )
    async def diagnostic(params: types.DocumentDiagnosticParams) -> Report:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return types.RelatedFullDocumentDiagnosticReport(items=[])
        number = str(server.analyses.begin(document, requested=True).number)
        found = await server.diagnostics(document, requested=True)
        server.report_settings()
        if number == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=number)
        return types.RelatedFullDocumentDiagnosticReport(items=found or [], result_id=number)

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def workspace_diagnostic(params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
        if params.previous_result_ids and params.partial_result_token is not None:
            # such a client asks again as soon as it is answered: it is, when something has changed
            await server.moved.wait()
        server.moved.clear()
        return types.WorkspaceDiagnosticReport(await search.run(params))

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL])
    )
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        request = _current.get()
        return await _actions(server, request, params) if request is not None else []

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        from servelint.lsp.hover import hover

        request = _current.get()
        if request is None:
            return None
        offset = server.positions.offset(request.source, params.position)
        analysis = await request.analysis()
        before = request.sound if analysis.broken and request.sound is not None else analysis
        at = offset if before is analysis else request.standing.back(offset)
        found = await server.worker.run(hover, before, at) if at is not None else None
        if found is None:
            return None
        was = found.span.start, found.span.end
        place = was if before is analysis else request.standing.place(*was)
        span = server.positions.range(request.source, *place) if place is not None else None
        return types.Hover(_markup(server, "text_document.hover.content_format", found.markdown), span)

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=_TRIGGERS, resolve_provider=True)
    )
    async def completion(params: types.CompletionParams) -> types.CompletionList | None:
        from servelint.lsp.completion import complete

        request = _current.get()
        if request is None:
            return None
        offset = server.positions.offset(request.source, params.position)
        analysis = await request.analysis()
        launched = analysis if analysis.launches else request.launched
        neighbours = server.analyses.neighbours(request.document)
        offered[:] = await server.worker.run(complete, analysis, offset, launched, neighbours)
        spans = {(item.span.start, item.span.end): item.span for item in offered}  # nearly always one
        ranges = {place: server.positions.of_span(span) for place, span in spans.items()}
        items = [_item(item, ranges[item.span.start, item.span.end], number) for number, item in enumerate(offered)]
        return types.CompletionList(is_incomplete=False, items=items)

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    def resolve(item: types.CompletionItem) -> types.CompletionItem:
        number = item.data if isinstance(item.data, int) else -1
        if 0 <= number < len(offered) and offered[number].label == item.label and offered[number].entry.documentation:
            item.documentation = _markup(server, f"{_COMPLETION}.documentation_format", offered[number].entry.documentation)
        return item

    _register_annotations(server)


def _register_annotations(server: Server) -> None:
    """Register the handlers of inlay hints, code lenses and the outline."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        from servelint.lsp.annotations import hints

        request = _current.get()
        if request is None or not request.switches["inlay-hints"]:
            return []
        span = server.positions.span(request.source, params.range)
        analysis = await request.analysis()
        found = await server.worker.run(hints, analysis, span.start, span.end)
        return [
            types.InlayHint(place, clean(one.text), tooltip=clean(one.tooltip), padding_left=True)
            for one in found
            for place in [server.positions.position(request.source, one.offset)]
        ]

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def code_lenses(_params: types.CodeLensParams) -> list[types.CodeLens]:
        from servelint.lsp.annotations import lenses

        request = _current.get()
        if request is None or not request.switches["code-lens"]:
            return []
        analysis = await request.analysis()
        found = await server.worker.run(lenses, analysis)
        return [types.CodeLens(server.positions.of_span(one.span), types.Command(clean(one.title), "")) for one in found]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def document_symbols(_: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
        from servelint.lsp.annotations import symbols

        request = _current.get()
        if request is None:
            return []
        analysis = await request.analysis()
        found = await server.worker.run(symbols, analysis)
        if server.can("text_document.document_symbol.hierarchical_document_symbol_support"):
            return [_symbol(server, one) for one in found]
        flat: list[types.SymbolInformation] = []
        for top in found:
            for one in (top, *top.children):
                place = types.Location(request.document.uri, server.positions.of_span(one.span))
                around = clean(top.name) if one is not top else None
                flat.append(types.SymbolInformation(place, clean(one.name), _SYMBOL_KINDS[one.kind], container_name=around))
        return flat


def _read(server: Server, params: Any) -> TextRequest | None:
    document = server.documents.get(params.text_document.uri)
    return TextRequest(server, document) if document is not None and not worker.is_large(document.source) else None


class TextRequest:
    """An open text as it stands when a request is read, and what is known of it.

    Attributes:
        document: The text's document, which may change while the request is handled.
        source: The text.
        sound, standing, launched: As of the document.
        switches: The editor's switches for its folder.
    """

    __slots__ = ("_pending", "document", "launched", "sound", "source", "standing", "switches")

    def __init__(self, server: Server, document: Document) -> None:
        self.document = document
        self.source = document.source
        self.sound = document.sound
        self.standing = document.standing
        self.launched = document.launched
        self.switches = server.folders.of(document.path).options.switches
        self._pending = server.analyses.begin(document, requested=True)

    async def analysis(self) -> Analysis:
        """The analysis of the text."""
        found = await self._pending.analysis()
        if found is None:
            raise asyncio.CancelledError  # the server ends: none that a request waits for is given up before
        return found


_current: ContextVar[TextRequest | None] = ContextVar("text_request", default=None)
"""Of the request that is handled. None if its text is not open, or is so large that nothing but its findings is known."""


# -- code actions


async def _actions(server: Server, request: TextRequest, params: types.CodeActionParams) -> list[types.CodeAction]:
    document, source, run = request.document, request.source, server.worker.run
    analysis = await request.analysis()
    kinds = [str(getattr(kind, "value", kind)) for kind in params.context.only or []]
    span = server.positions.span(source, params.range)
    findings = [one for one in analysis.findings if _touches(diagnostics.here(one, source), span)]
    quick = _wants(kinds, types.CodeActionKind.QuickFix.value) and findings
    everything = _wants(kinds, FIX_ALL) and analysis.findings
    if not quick and not everything:
        return []
    desk = await run(edits.Desk, source, analysis.settings, server.analyses.neighbours(document))
    found: list[types.CodeAction] = []
    tried = edits.of_findings(desk, findings if quick else [])
    # one at a time: what the editor asks for meanwhile comes first
    while (pair := await run(next, tried, None)) is not None:
        finding, action = pair
        if action is not None:
            shown = diagnostics.of_finding(finding, source, server.positions, analysis.settings.rules, document.uri)
            found.append(_action(server, request, action, types.CodeActionKind.QuickFix, shown))
        if document.source is not source:
            return []
    if everything:
        action = await run(edits.all_safe, desk)
        if action is not None:
            found.append(_action(server, request, action, FIX_ALL))
    return found


def _wants(kinds: list[str], kind: str) -> bool:
    """Whether a kind of action is requested: by its name, by the start of its name, or by naming none."""
    return not kinds or any(kind == one or kind.startswith(one + ".") for one in kinds)


def _touches(one: Span, other: Span) -> bool:
    return one.start <= other.end and other.start <= one.end


def _action(
    server: Server,
    request: TextRequest,
    action: edits.Action,
    kind: types.CodeActionKind | str,
    shown: types.Diagnostic | None = None,
) -> types.CodeAction:
    uri = request.document.uri
    changes = [types.TextEdit(server.positions.range(request.source, start, end), text) for start, end, text in action.edits]
    if server.can("workspace.workspace_edit.document_changes"):
        named = types.OptionalVersionedTextDocumentIdentifier(uri, request.document.version)
        edit = types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(named, changes)])
    else:
        edit = types.WorkspaceEdit(changes={uri: changes})
    about = [shown] if shown is not None else None
    return types.CodeAction(clean(action.title), kind, about, action.preferred or None, edit=edit)


# -- answers


def _markup(server: Server, capability: str, text: str) -> types.MarkupContent | str:
    """Markdown; plain text for a client that knows no Markdown, and a string for one that names no formats."""
    formats = get_capability(server.client_capabilities, capability)
    if not formats:
        return text
    kind = types.MarkupKind.Markdown if types.MarkupKind.Markdown in formats else types.MarkupKind.PlainText
    return types.MarkupContent(kind, text)


def _item(item: Item, place: types.Range, number: int) -> types.CompletionItem:
    return types.CompletionItem(
        item.label,
        kind=_ITEM_KINDS[item.kind],
        detail=clean(item.entry.detail) if item.entry.detail else "",
        sort_text=item.entry.sort,
        filter_text=item.new_text,
        text_edit=types.TextEdit(place, item.new_text),
        tags=[types.CompletionItemTag.Deprecated] if item.entry.deprecated else None,
        data=number,
    )


def _symbol(server: Server, one: Symbol) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        clean(one.name) or one.kind,
        _SYMBOL_KINDS[one.kind],
        server.positions.of_span(one.span),
        server.positions.of_span(one.selection),
        detail=clean(one.detail),
        children=[_symbol(server, child) for child in one.children] or None,
    )


# -- the workspace


class Search:
    """Lints every file of the open folders. A file that mentions no engine is not read again until it changes."""

    __slots__ = ("_dull", "_server")

    def __init__(self, server: Server) -> None:
        self._server = server
        self._dull: dict[str, tuple[int, int]] = {}  # path -> size and time of its last change

    async def run(self, params: types.WorkspaceDiagnosticParams) -> list[FileReport]:
        """A report on each file that has findings or had some; none of those that the client got in parts."""
        server = self._server
        before = {one.uri: one.value for one in params.previous_result_ids}
        progress = _Progress(server, params.work_done_token)
        found: list[FileReport] = []
        seen: set[str] = set()
        try:
            async for path, items in self._each(progress):
                uri = uri_of(path)
                seen.add(uri)
                number = hashlib.sha256(repr(items).encode("utf-8", "replace")).hexdigest()[:16]
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
        gone = [uri for uri in before if uri not in seen and path_of(uri) is not None]
        return found + [types.WorkspaceFullDocumentDiagnosticReport(uri, []) for uri in gone]

    async def _each(self, progress: _Progress) -> AsyncIterator[tuple[str, list[types.Diagnostic]]]:
        count, ready = 0, time.perf_counter() + _SLICE
        for folder in self._server.folders:
            for path in files([folder.path], [], folder.files):
                count += 1
                items = await self._file(folder, os.path.normpath(path))
                if items is not None:
                    yield path, items
                if time.perf_counter() >= ready:
                    progress.step(count)
                    await asyncio.sleep(0)
                    ready = time.perf_counter() + _SLICE

    async def _file(self, folder: Folder, path: str) -> list[types.Diagnostic] | None:
        """The diagnostics of a file; None if it mentions no engine."""
        server = self._server
        if (document := server.documents.at(path)) is not None:
            return await server.diagnostics(document, requested=True) or []
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
        positions, uri = server.positions, uri_of(path)
        if isinstance(source, Problem):
            return [diagnostics.of_problem(source, Source(path, ""), positions)]
        settings = folder.of(path)
        if worker.is_large(source):
            analysis = await worker.check(source, folder.options, settings)
        else:
            analysis = await server.worker.run(analyse, source, settings, beside(path, settings, (folder.path,)))
        return diagnostics.of_text(analysis, analysis.findings, positions, uri)


class _Progress:
    """Reports how far the search is, if the client wants to know."""

    def __init__(self, server: Server, token: types.ProgressToken | None) -> None:
        self._server, self._token = server, token
        self._next = 0.0
        self._report(types.WorkDoneProgressBegin("servelint", cancellable=True, message="looking for launches"))

    def step(self, count: int) -> None:
        if (now := time.monotonic()) >= self._next:
            self._next = now + 0.25
            self._report(types.WorkDoneProgressReport(message=f"{count:,} files"))

    def end(self) -> None:
        self._report(types.WorkDoneProgressEnd())

    def _report(self, value: object) -> None:
        if self._token is not None:
            self._server.progress(types.ProgressParams(self._token, value))
