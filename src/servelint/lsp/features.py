"""What the editor asks about a text."""

from __future__ import annotations

import asyncio

from lsprotocol import types

from servelint.core.source import Span
from servelint.lsp import actions, diagnostics
from servelint.lsp.documents import Document
from servelint.report.clean import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from servelint.lsp.server import Server

    Report: TypeAlias = types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport

FIX_ALL = "source.fixAll.servelint"


def register(server: Server) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier="servelint"),
    )
    async def diagnostic(params: types.DocumentDiagnosticParams) -> Report:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return types.RelatedFullDocumentDiagnosticReport(items=[])
        if server.checking.is_large(document):
            found = await server.found_later(document)
            return types.RelatedFullDocumentDiagnosticReport(items=found or [])
        found = server.found(document)
        server.told_of_settings()
        number = str(document.number)
        if number == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=number)
        return types.RelatedFullDocumentDiagnosticReport(items=found, result_id=number)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL]),
    )
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        document = server.documents.get(params.text_document.uri)
        if document is None or server.checking.is_large(document):
            return []
        return await _actions(server, document, params)


async def _actions(server: Server, document: Document, params: types.CodeActionParams) -> list[types.CodeAction]:
    analysis = server.checking.analysis(document)
    asked = [str(getattr(kind, "value", kind)) for kind in params.context.only or []]
    span = server.positions.span(document.source, params.range)
    findings = [one for one in analysis.findings if _touches(diagnostics.here(one, analysis.source), span)]
    quick = _wants(asked, types.CodeActionKind.QuickFix.value) and findings
    everything = _wants(asked, FIX_ALL) and analysis.findings
    if not quick and not everything:
        return []
    desk = actions.Desk(document.source, analysis.settings, server.checking.neighbours(document))
    found: list[types.CodeAction] = []
    for finding, action in actions.of_findings(desk, findings) if quick else ():
        if action is not None:
            told = diagnostics.of_finding(finding, analysis.source, server.positions, analysis.settings.rules, document.uri)
            found.append(_action(server, document, action, types.CodeActionKind.QuickFix, told))
        await asyncio.sleep(0)  # what the editor says meanwhile comes first
        if document.source is not desk.source:
            return []
    if everything:
        action = actions.all_safe(desk)
        if action is not None:
            found.append(_action(server, document, action, FIX_ALL, None))
    return found


def _wants(asked: list[str], kind: str) -> bool:
    """Whether a kind of action is asked for: by its name, by the start of its name, or by asking for nothing."""
    return not asked or any(kind == one or kind.startswith(one + ".") for one in asked)


def _touches(one: Span, other: Span) -> bool:
    return one.start <= other.end and other.start <= one.end


def _action(
    server: Server,
    document: Document,
    action: actions.Action,
    kind: types.CodeActionKind | str,
    told: types.Diagnostic | None,
) -> types.CodeAction:
    source = document.source
    edits = [types.TextEdit(server.positions.range(source, start, end), text) for start, end, text in action.edits]
    if server.can("workspace.workspace_edit.document_changes"):
        named = types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
        edit = types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(named, edits)])
    else:
        edit = types.WorkspaceEdit(changes={document.uri: edits})
    return types.CodeAction(
        title=clean(action.title),
        kind=kind,
        diagnostics=[told] if told is not None else None,
        is_preferred=action.preferred or None,
        edit=edit,
    )
