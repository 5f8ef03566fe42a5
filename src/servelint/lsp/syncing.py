"""The open texts and folders, kept as the editor has them."""

from __future__ import annotations

from lsprotocol import types

from servelint.lsp.documents import Document, path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.lsp.server import Server


def register(server: Server) -> None:
    first = {"text"}

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin(params)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        if first:
            first.clear()
            server.run(server.settle())
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
        server.drop(document)
        server.moved.set()
        if not server.pulls:
            server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, []))
        server.others(document)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.removed:
            path = path_of(folder.uri)
            if path is not None:
                server.folders.remove(path)
        for folder in params.event.added:
            path = path_of(folder.uri)
            if path is not None:
                server.folders.add(path)
        server.configure()
        server.everything()
