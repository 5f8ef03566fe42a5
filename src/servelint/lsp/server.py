"""The language server: what of the protocol it speaks, and who answers."""

from __future__ import annotations

import asyncio
import logging

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from servelint import __version__
from servelint.lsp.checking import Checking
from servelint.lsp.documents import Document, Documents, path_of
from servelint.lsp.folders import Folders
from servelint.lsp.positions import Positions
from servelint.lsp.protocol import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

log = logging.getLogger("servelint.lsp")


class Server(LanguageServer):
    """documents: the open texts;  folders: those that are open, with their settings;  checking: what is known of both

    pulls: whether the client asks for diagnostics, instead of being told
    """

    protocol: Protocol

    def __init__(self) -> None:
        super().__init__("servelint", __version__, protocol_cls=Protocol, converter_factory=default_converter)
        self.documents = Documents()
        self.folders = Folders()
        self.positions = Positions("utf-16")
        self.checking = Checking(self.documents, self.folders)
        self.pulls = False
        self._due: set[str] = set()
        _register(self)

    def close(self) -> None:
        """End what still runs."""
        self._due.clear()

    def report_server_error(self, error: Exception, _source: Any) -> None:
        """A bug of ours goes to the log: a window for each keystroke would help nobody."""
        log.error("%s: %s", type(error).__name__, error, exc_info=error)

    def begin(self, params: types.InitializeParams) -> None:
        capabilities = params.capabilities
        encoding = types.PositionEncodingKind(self.workspace.position_encoding or "utf-16")
        self.positions = Positions(encoding.value)
        document = capabilities.text_document
        self.pulls = document is not None and document.diagnostic is not None
        self.folders.data = params.initialization_options
        uris = [folder.uri for folder in params.workspace_folders or []] or ([params.root_uri] if params.root_uri else [])
        for path in [path_of(uri) for uri in uris]:
            if path is not None:
                self.folders.add(path)
        self.folders.start(params.initialization_options)

    def soon(self, document: Document) -> None:
        """Have a text looked at when the messages that are there by now have been read, and its findings told."""
        if self.pulls or document.uri in self._due:
            return
        self._due.add(document.uri)
        asyncio.get_running_loop().call_soon(self._tell, document.uri)

    def _tell(self, uri: str) -> None:
        document = self.documents.get(uri)
        if uri not in self._due or document is None:
            return
        self._due.discard(uri)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, self.checking.diagnostics(document, self.positions), document.version)
        )

    def others(self, document: Document) -> None:
        """Have the open texts looked at that read this one."""
        for other in self.documents:
            if other is not document and document.path in other.reads:
                other.analysis = None
                self.soon(other)


def _register(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin(params)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        document = Document(item.uri, item.language_id, item.version, item.text)
        server.documents.add(document)
        server.soon(document)
        server.others(document)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return
        document.change(params.content_changes, params.text_document.version, server.positions)
        server.soon(document)
        server.others(document)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        document = server.documents.remove(params.text_document.uri)
        if document is None:
            return
        if not server.pulls:
            server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, []))
        server.others(document)

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False, identifier="servelint"),
    )
    def diagnostic(params: types.DocumentDiagnosticParams) -> types.RelatedFullDocumentDiagnosticReport:
        document = server.documents.get(params.text_document.uri)
        items = server.checking.diagnostics(document, server.positions) if document is not None else []
        return types.RelatedFullDocumentDiagnosticReport(items=items)
