"""The language server: its state, and when what is told to whom. The features are in modules of their own."""

from __future__ import annotations

import asyncio
import gc
import logging
import time

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from servelint import __version__
from servelint.lsp import apart, diagnostics, running
from servelint.lsp.checking import Checking
from servelint.lsp.documents import Document, Documents, path_of, uri_of
from servelint.lsp.folders import Folders
from servelint.lsp.options import SECTION
from servelint.lsp.positions import Positions
from servelint.lsp.protocol import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

log = logging.getLogger("servelint.lsp")

_SLOW = 0.15
"""Seconds. A text that takes longer is looked at when nothing has been typed for as long as it takes."""
_WAIT_AT_MOST = 0.5
_SETTLED = 3.0
"""Seconds after the first text, when what is needed for most has been imported."""


class Server(LanguageServer):
    """documents: the open texts;  folders: those that are open, with their settings;  checking: what is known of both

    editor: the client's process, where it can be seen
    pulls: whether the client asks for diagnostics, instead of being told;  moved: set when something has changed since a scan
    """

    protocol: Protocol

    def __init__(self) -> None:
        super().__init__("servelint", __version__, protocol_cls=Protocol, converter_factory=default_converter)
        self.documents = Documents()
        self.folders = Folders()
        self.positions = Positions("utf-16")
        self.checking = Checking(self.documents, self.folders)
        self.pulls = False
        self.editor: int | None = None
        self._due: dict[str, asyncio.Handle] = {}
        self._apart: dict[str, tuple[Document, int, asyncio.Task[list[types.Diagnostic]]]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._asking: set[str] = set()
        self._complained: set[str] = set()
        self.moved = asyncio.Event()
        from servelint.lsp import features, language, syncing, watching, workspace

        for module in (syncing, watching, features, language, workspace):
            module.register(self)

    def close(self) -> None:
        """End what still runs."""
        for handle in self._due.values():
            handle.cancel()
        for task in [*self._tasks, *[task for _, _, task in self._apart.values()]]:
            task.cancel()

    def report_server_error(self, error: Exception, _source: Any) -> None:
        """A bug of ours goes to the log: a window for each keystroke would help nobody."""
        log.error("%s: %s", type(error).__name__, error, exc_info=error)

    def begin(self, params: types.InitializeParams) -> None:
        encoding = types.PositionEncodingKind(self.workspace.position_encoding or "utf-16")
        self.positions = Positions(encoding.value)
        self.pulls = self.can("text_document.diagnostic")
        number = params.process_id
        # one that is not there now is of another machine or container
        self.editor = number if number is not None and running.lives(number) else None
        uris = [folder.uri for folder in params.workspace_folders or []] or ([params.root_uri] if params.root_uri else [])
        for path in [path_of(uri) for uri in uris]:
            if path is not None:
                self.folders.add(path)
        self.folders.start(params.initialization_options)

    def configure(self) -> None:
        """Ask the client what its settings are, for each folder."""
        if self.can("workspace.configuration"):
            self.run(self._configure())

    async def _configure(self) -> None:
        folders = list(self.folders)
        items = [types.ConfigurationItem(uri_of(folder.path), SECTION) for folder in folders]
        asked = [*items, types.ConfigurationItem(section=SECTION)]
        try:
            said = await self.workspace_configuration_async(types.ConfigurationParams(asked))
        except JsonRpcException as error:
            log.warning("the client tells no settings: %s", error)
            return
        if self.folders.take(dict(zip([one.path for one in folders], said, strict=False)), said[-1] if said else None):
            self.everything()

    def can(self, capability: str) -> bool:
        """Whether the client can do something: a path in its capabilities, `workspace.diagnostics.refresh_support`."""
        return get_capability(self.client_capabilities, capability) not in (None, False)

    def run(self, work: Coroutine[Any, Any, Any]) -> None:
        """Do something that takes a while beside everything else."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error("%s: %s", type(error).__name__, error, exc_info=error)

    async def settle(self) -> None:
        """Take what the first texts have loaded out of the sight of the garbage collector: it stays as it is."""
        await asyncio.sleep(_SETTLED)
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)

    # what is told

    def soon(self, document: Document) -> None:
        """Have a text looked at, and its findings told, when the messages that are here by now have been read.

        One that takes long waits until nobody types: what was begun for an older text is given up.
        """
        if self.pulls:
            return
        old = self._due.pop(document.uri, None)
        if old is not None:
            old.cancel()
        loop = asyncio.get_running_loop()
        if document.seconds < _SLOW and len(document.source.text) <= apart.LARGE:
            self._due[document.uri] = loop.call_soon(self._tell, document.uri)
        else:
            self._due[document.uri] = loop.call_later(min(document.seconds, _WAIT_AT_MOST), self._tell, document.uri)

    def _tell(self, uri: str) -> None:
        self._due.pop(uri, None)
        document = self.documents.get(uri)
        if document is None:
            return
        if self.checking.is_large(document):
            self.run(self._tell_later(document, document.version))
        else:
            self._publish(document, self.found(document))

    async def _tell_later(self, document: Document, version: int) -> None:
        found = await self.found_later(document)
        if found is not None and document.version == version and self.documents.get(document.uri) is document:
            self._publish(document, found)

    def _publish(self, document: Document, found: list[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, found, document.version))
        self.told_of_settings()

    def found(self, document: Document) -> list[types.Diagnostic]:
        """What is told of a text that is not large."""
        if not self.folders.of(document.path).options.switches["diagnostics"]:
            return []
        started = time.perf_counter()
        findings = self.checking.findings(document)
        document.seconds = time.perf_counter() - started
        return diagnostics.told(self.checking.analysis(document), findings, self.positions, document.uri)

    async def found_later(self, document: Document) -> list[types.Diagnostic] | None:
        """What is told of a large text; None if it was changed meanwhile."""
        options = self.folders.of(document.path).options
        if not options.switches["diagnostics"]:
            return []
        running = self._apart.get(document.uri)
        if running is None or running[:2] != (document, document.version):
            if running is not None:
                running[2].cancel()
            task = asyncio.ensure_future(self.checking.apart(document, options, self.positions))
            running = self._apart[document.uri] = (document, document.version, task)
        try:
            return await asyncio.shield(running[2])
        except asyncio.CancelledError:
            if running[2].cancelled():
                return None
            raise

    def drop(self, document: Document) -> None:
        """Forget a text that was closed."""
        handle = self._due.pop(document.uri, None)
        if handle is not None:
            handle.cancel()
        running = self._apart.pop(document.uri, None)
        if running is not None:
            running[2].cancel()

    # what has to be looked at again

    def others(self, document: Document) -> None:
        """Have the open texts looked at that read this one."""
        if document.is_file:
            self.changed(lambda path: path == document.path)

    def changed(self, is_one: Callable[[str], bool]) -> None:
        """Have the open texts looked at that read files that have changed."""
        stale = [one for one in self.documents if any(is_one(path) for path in one.reads)]
        for document in stale:
            self.checking.forget(document)
            self.soon(document)
        if stale:
            self.ask_to_pull()

    def everything(self) -> None:
        """Have every open text looked at: the settings have changed."""
        self.moved.set()
        for document in self.documents:
            self.checking.forget(document, settings=True)
            self._apart.pop(document.uri, None)
            self.soon(document)
        self.ask_to_pull()
        for method in ("inlay_hint", "code_lens"):
            if self.can(f"workspace.{method}.refresh_support"):
                self.ask(f"workspace/{'inlayHint' if method == 'inlay_hint' else 'codeLens'}/refresh")

    def ask_to_pull(self) -> None:
        if self.pulls and self.can("workspace.diagnostics.refresh_support"):
            self.ask(types.WORKSPACE_DIAGNOSTIC_REFRESH)

    def ask(self, method: str) -> None:
        """Ask the client to ask again, once at a time."""
        if method in self._asking:
            return
        self._asking.add(method)
        self.protocol.send_request(method).add_done_callback(lambda _: self._asking.discard(method))

    def told_of_settings(self) -> None:
        """Tell what is wrong with settings: in the files that say them, and in a window what the editor says."""
        for folder in self.folders.everywhere():
            for fault in folder.faults():
                if fault in self._complained:
                    continue
                self._complained.add(fault)
                self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"servelint: {fault}"))
            for uri, found in folder.news():
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))
