"""The language server: its state, what it keeps of the editor's, and when it publishes diagnostics."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
from collections.abc import Callable, Coroutine
from typing import Any

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from servelint import __version__
from servelint.core.trust import folder_path
from servelint.files.project import NAME, PYPROJECT
from servelint.lsp import diagnostics, features, launch_view, worker
from servelint.lsp.documents import Document, Documents, Positions, path_of, uri_of
from servelint.lsp.settings import SECTION, Folders
from servelint.lsp.transport import Protocol, lives
from servelint.lsp.worker import Analyses, Worker
from servelint.readers.registry import FILES, GLOBS
from servelint.rules import folder as rule_folders

log = logging.getLogger("servelint.lsp")

_SLOW = 0.15
"""Seconds. A text that takes longer is analysed only when nothing has been typed for as long as it takes."""
_WAIT_AT_MOST = 0.5
_SETTLED = 3.0
"""Seconds after the first text, when most of what is needed has been imported."""
_COLLECTED_AT = (50_000, 20, 50)
"""Thresholds of the garbage collector, which only a text with much garbage reaches between two answers."""
_LOOSE = 1_000
"""Objects that are new since the last collection; to look at them takes 1 ms."""
_PAUSE = 0.005
"""Seconds after which a text's diagnostics have been sent."""
_WATCHED = (
    f"**/{{{NAME},{PYPROJECT},*.toml}}",
    f"**/{{{','.join([*GLOBS, *[glob for globs in FILES.values() for glob in globs]])}}}",
)
"""Files that others may read: settings, variables, extended and included files, scripts, Dockerfiles, rules."""


class Server(LanguageServer):
    """A server of one client.

    Attributes:
        documents: The open texts.
        folders: The open folders, with their settings.
        worker: Runs what takes time. What is read of documents and settings files is read before, on the server's loop.
        analyses: Of the open texts.
        positions: As the client counts them.
        pulls: Whether the client asks for diagnostics; if not, they are published.
        moved: Set when something has changed since the last search of the workspace.
        editor: Number of the client's process, None if it cannot be seen.
    """

    protocol: Protocol

    def __init__(self) -> None:
        super().__init__("servelint", __version__, protocol_cls=Protocol, converter_factory=default_converter)
        self.documents = Documents()
        self.folders = Folders()
        self.worker = Worker()
        self.analyses = Analyses(self.documents, self.folders, self.worker)
        self.positions = Positions("utf-16")
        self.pulls = False
        self.moved = asyncio.Event()
        self.editor: int | None = None
        self._due: dict[str, asyncio.Handle] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._asking: set[str] = set()
        self._complained: set[str] = set()
        _register(self)
        features.register(self)

    def close(self) -> None:
        """End what still runs."""
        for handle in self._due.values():
            handle.cancel()
        for task in list(self._tasks):
            task.cancel()
        for document in self.documents.values():
            self.analyses.forget(document)
        self.worker.close()

    def report_server_error(self, error: Exception, _source: Any) -> None:
        """Log a bug of ours: a window for each keystroke would be of no use."""
        log.error("%s: %s", type(error).__name__, error, exc_info=error)

    def can(self, capability: str) -> bool:
        """Whether the client has a capability, by its path: `workspace.diagnostics.refresh_support`."""
        return get_capability(self.client_capabilities, capability) not in (None, False)

    def run(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run something beside everything else."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error("%s: %s", type(error).__name__, error, exc_info=error)

    # -- the session

    def begin(self, params: types.InitializeParams) -> None:
        """Take over what the client can do, and its folders."""
        encoding = types.PositionEncodingKind(self.workspace.position_encoding or "utf-16")
        self.positions = Positions(encoding.value)
        self.pulls = self.can("text_document.diagnostic")
        number = params.process_id
        # one that is not there now is of another machine or container
        self.editor = number if number is not None and lives(number) else None
        uris = [folder.uri for folder in params.workspace_folders or []] or ([params.root_uri] if params.root_uri else [])
        for path in filter(None, map(path_of, uris)):
            self.folders.add(path)
        self.folders.start(params.initialization_options)

    def watch(self) -> None:
        """Ask the client to report changes of files and of its settings."""
        wanted: list[types.Registration] = []
        if self.can("workspace.did_change_watched_files.dynamic_registration"):
            watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in _WATCHED]
            options: Any = types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
            wanted.append(types.Registration("servelint-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
        if self.can("workspace.did_change_configuration.dynamic_registration"):
            options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
            wanted.append(types.Registration("servelint-settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options))
        if wanted:
            self.client_register_capability(types.RegistrationParams(wanted))

    def configure(self) -> None:
        """Ask the client for its settings of each folder."""
        if self.can("workspace.configuration"):
            self.run(self._configure())

    async def _configure(self) -> None:
        folders = list(self.folders)
        items = [types.ConfigurationItem(uri_of(folder.path), SECTION) for folder in folders]
        items.append(types.ConfigurationItem(section=SECTION))
        try:
            given = await self.workspace_configuration_async(types.ConfigurationParams(items))
        except JsonRpcException as error:
            log.warning("the client gives no settings: %s", error)
            return
        if self.folders.take(dict(zip([one.path for one in folders], given, strict=False)), given[-1] if given else None):
            self.everything()

    async def settle(self) -> None:
        """Hide what the first texts have loaded from the garbage collector: it stays.

        A collection before would take as long as ten keystrokes, for a few hundred objects.
        """
        await asyncio.sleep(_SETTLED)
        gc.freeze()
        gc.set_threshold(*_COLLECTED_AT)

    def _tidy(self) -> None:
        """Collect garbage after an answer, a little at a time, so that a keystroke does not wait for much of it at once."""
        young, middle, old = gc.get_count()
        if young >= _LOOSE:
            gc.collect(2 if old >= _COLLECTED_AT[2] else 1 if middle >= _COLLECTED_AT[1] else 0)

    # -- diagnostics

    def soon(self, document: Document) -> None:
        """Publish the diagnostics of a text, once the messages that are here by now have been read.

        A text that takes long waits until nothing is typed. What was begun for an older state of the text is given up.
        """
        if self.pulls:
            return
        self._cancel(document)
        slow = document.seconds >= _SLOW or worker.is_large(document.source)
        delay = min(document.seconds, _WAIT_AT_MOST) if slow else 0
        self._due[document.uri] = asyncio.get_running_loop().call_later(delay, self._publish, document)

    def _cancel(self, document: Document) -> None:
        handle = self._due.pop(document.uri, None)
        if handle is not None:
            handle.cancel()

    def _publish(self, document: Document) -> None:
        self._due.pop(document.uri, None)
        if self.documents.get(document.uri) is document:
            self.run(self._published(document, document.version))

    async def _published(self, document: Document, version: int) -> None:
        found = await self.diagnostics(document)
        if found is not None and document.version == version and self.documents.get(document.uri) is document:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, found, version))
            self.report_settings()

    async def diagnostics(self, document: Document, *, requested: bool = False) -> list[types.Diagnostic] | None:
        """The diagnostics of a text as it stands now; None if it was changed meanwhile and they were not requested."""
        options = self.folders.of(document.path).options
        if not options.switches["diagnostics"]:
            return []
        found = await self.analyses.begin(document, requested=requested).analysis()
        if found is None:
            return None
        asyncio.get_running_loop().call_later(_PAUSE, self._tidy)
        hints = diagnostics.of_unresolved(found, self.positions) if options.switches["unresolved-words"] else []
        return [*diagnostics.of_text(found, self.analyses.findings(document, found), self.positions, document.uri), *hints]

    def report_settings(self) -> None:
        """Report what is wrong with settings: in settings files as diagnostics, in the editor's own in a window."""
        for folder in self.folders.everywhere():
            for fault in folder.faults():
                if fault not in self._complained:
                    self._complained.add(fault)
                    self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"servelint: {fault}"))
            for uri, found in folder.news():
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))

    # -- changes

    def open(self, document: Document) -> None:
        """Note a text that was opened."""
        self.documents[document.uri] = document
        self.soon(document)
        self._readers_of(document)

    def edit(self, document: Document, params: types.DidChangeTextDocumentParams) -> None:
        """Apply changes to a text."""
        document.change(params.content_changes, params.text_document.version, self.positions)
        self.analyses.forget(document)
        self.soon(document)
        self._readers_of(document)

    def shut(self, document: Document) -> None:
        """Forget a text that was closed."""
        self._cancel(document)
        self.analyses.forget(document)
        self.moved.set()
        if not self.pulls:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, []))
        self._readers_of(document)

    def _readers_of(self, document: Document) -> None:
        """Analyse again the open texts that read this one."""
        if document.is_file:
            self._changed(lambda path: path == document.path)

    def _changed(self, is_changed: Callable[[str], bool]) -> None:
        """Analyse again the open texts that read files which have changed."""
        begun = [(one, one.pending.reads.copy()) for one in self.documents.values() if one.pending is not None]
        stale = [one for one, reads in begun if any(map(is_changed, reads))]
        for document in stale:
            self.analyses.forget(document)
            self.soon(document)
        if stale:
            self._ask_to_pull()

    def files_changed(self, paths: list[str]) -> None:
        """Note changes on the disk: of settings, which count for every text, or of files that texts read."""
        folders = [os.path.abspath(folder_path(path)) for one in self.folders.everywhere() for path in one.files.rule_folders()]
        of_rules = any(path.startswith(os.path.join(folder, "")) for path in paths for folder in folders)
        if of_rules:
            rule_folders.forget()
            launch_view.forget()
        if of_rules or any(os.path.basename(path) in (NAME, PYPROJECT) or self._is_settings(path) for path in paths):
            for one in self.folders.everywhere():
                one.read_again()
            self.everything()
            return
        self.moved.set()
        if changed := {path for path in paths if self.documents.at(path) is None}:
            self._changed(changed.__contains__)

    def _is_settings(self, path: str) -> bool:
        """Whether a file is a settings file: one that another extends may have any name."""
        return any(one.options.file == path or path in one.files.read_paths() for one in self.folders.everywhere())

    def everything(self) -> None:
        """Analyse every open text again: the settings have changed."""
        self.moved.set()
        for document in self.documents.values():
            self.analyses.forget(document, settings=True)
            self.soon(document)
        self._ask_to_pull()
        refreshes = {"inlay_hint": types.WORKSPACE_INLAY_HINT_REFRESH, "code_lens": types.WORKSPACE_CODE_LENS_REFRESH}
        for name, method in refreshes.items():
            if self.can(f"workspace.{name}.refresh_support"):
                self._ask(method)

    def _ask_to_pull(self) -> None:
        if self.pulls and self.can("workspace.diagnostics.refresh_support"):
            self._ask(types.WORKSPACE_DIAGNOSTIC_REFRESH)

    def _ask(self, method: str) -> None:
        """Ask the client to ask again, once at a time."""
        if method in self._asking:
            return
        self._asking.add(method)
        self.protocol.send_request(method).add_done_callback(lambda _: self._asking.discard(method))


def _register(server: Server) -> None:
    """Register what keeps the server's state as the editor has it."""
    first = {"text"}

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin(params)

    @server.feature(types.INITIALIZED)
    def initialized(_params: types.InitializedParams) -> None:
        server.watch()
        server.configure()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        if first:
            first.clear()
            server.run(server.settle())
        server.open(Document(item.uri, item.language_id, item.version, item.text))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        if (document := server.documents.get(params.text_document.uri)) is not None:
            server.edit(document, params)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        document = server.documents.pop(params.text_document.uri, None)
        if document is not None:
            server.shut(document)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        if (path := path_of(params.text_document.uri)) is not None:
            server.files_changed([path])

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        for change, several in ((server.folders.remove, params.event.removed), (server.folders.add, params.event.added)):
            for path in filter(None, [path_of(folder.uri) for folder in several]):
                change(path)
        server.configure()
        server.everything()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(params: types.DidChangeConfigurationParams) -> None:
        if server.can("workspace.configuration"):
            server.configure()
        elif isinstance(params.settings, dict):
            server.folders.start(params.settings.get(SECTION, params.settings))
            server.everything()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: types.DidChangeWatchedFilesParams) -> None:
        server.files_changed([path for change in params.changes if (path := path_of(change.uri)) is not None])
