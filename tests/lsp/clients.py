"""Editors, as pytest-lsp plays them: each starts a server of its own and leads a session with it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, LanguageClient, register_lsp_features

PATIENCE = 60.0
"""Seconds after which a test has failed: it waits for an answer, never for a time."""

COMMAND = (sys.executable, "-m", "servelint", "lsp")

PUSH = types.ClientCapabilities()
PULL = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities()),
    workspace=types.WorkspaceClientCapabilities(
        configuration=True, diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    ),
)
PULL_UTF8 = types.ClientCapabilities(
    general=types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind.Utf8]),
    text_document=PULL.text_document,
)


class Editor(LanguageClient):
    """told: the diagnostics that the server sent, in their order"""

    def __init__(self) -> None:
        super().__init__(converter_factory=default_converter)
        self.told: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        register_lsp_features(self, {**DEFAULT_CLIENT_FEATURES, types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: _told})


def _told(client: Editor, params: types.PublishDiagnosticsParams) -> None:
    client.told.put_nowait(params)


@asynccontextmanager
async def led(
    capabilities: types.ClientCapabilities = PUSH,
    *,
    folders: Sequence[Path] = (),
    options: Any = None,
    configuration: dict[str, Any] | None = None,
) -> AsyncIterator[Editor]:
    """A session. options: what the editor says at its beginning;  configuration: by the URI of a folder, "" for all"""
    client = Editor()
    for scope, settings in (configuration or {}).items():
        client.set_configuration({"servelint": settings}, scope_uri=scope)
    await client.start_io(*COMMAND, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    await client.initialize_session(
        types.InitializeParams(
            capabilities=capabilities,
            workspace_folders=[types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders],
            initialization_options=options,
        )
    )
    try:
        yield client
        await asyncio.wait_for(client.shutdown_session(), PATIENCE)
    finally:
        if client._server is not None and client._server.returncode is None:
            client._server.kill()
        await client.stop()  # type: ignore[no-untyped-call]


def opened(client: LanguageClient, path: Path, text: str, language: str = "yaml") -> str:
    """Open a text; gives its URI."""
    uri = path.as_uri()
    client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, language, 1, text)))
    return uri


def changed(client: LanguageClient, uri: str, version: int, text: str, place: types.Range | None = None) -> None:
    """Replace a range of an open text, or all of it."""
    change: types.TextDocumentContentChangeEvent
    if place is None:
        change = types.TextDocumentContentChangeWholeDocument(text)
    else:
        change = types.TextDocumentContentChangePartial(place, text)
    named = types.VersionedTextDocumentIdentifier(version, uri)
    client.text_document_did_change(types.DidChangeTextDocumentParams(named, [change]))


async def published(client: Editor, uri: str, version: int | None = None) -> list[types.Diagnostic]:
    """The next diagnostics of a text that the server tells, of a version if one is given."""
    while True:
        found = await asyncio.wait_for(client.told.get(), PATIENCE)
        if found.uri == uri and version in (None, found.version):
            return list(found.diagnostics)


async def pulled(client: LanguageClient, uri: str) -> list[types.Diagnostic]:
    """The diagnostics of a text, by asking."""
    asked = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
    report = await asyncio.wait_for(client.text_document_diagnostic_async(asked), PATIENCE)
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    return list(report.items)
