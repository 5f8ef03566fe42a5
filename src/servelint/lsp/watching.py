"""What changes outside of the open texts: files that they read, settings files, and the editor's own settings."""

from __future__ import annotations

import os

from lsprotocol import types

from servelint.core.trust import folder_path
from servelint.files.settings_finder import NAME, PYPROJECT
from servelint.lsp import facts
from servelint.lsp.documents import path_of
from servelint.lsp.options import SECTION
from servelint.rules import folder as rule_folders
from servelint.rules import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.lsp.server import Server

_PATTERNS = (
    f"**/{{{NAME},{PYPROJECT}}}",
    "**/{.env,.env.*,*.env}",
    "**/*.{yml,yaml,json,sh,bash,toml,conf,ini,mk,service,container}",
    "**/{Dockerfile,Containerfile,Dockerfile.*,*.Dockerfile,Makefile,Procfile,justfile}",
)
"""The files that others may read: settings, variables, extended and included files, scripts, Dockerfiles, rules."""


def register(server: Server) -> None:
    @server.feature(types.INITIALIZED)
    def initialized(_params: types.InitializedParams) -> None:
        wanted: list[types.Registration] = []
        if server.can("workspace.did_change_watched_files.dynamic_registration"):
            watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in _PATTERNS]
            options: Any = types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
            wanted.append(types.Registration("servelint-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
        if server.can("workspace.did_change_configuration.dynamic_registration"):
            options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
            wanted.append(types.Registration("servelint-settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options))
        if wanted:
            server.client_register_capability(types.RegistrationParams(wanted))
        server.configure()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(params: types.DidChangeConfigurationParams) -> None:
        if server.can("workspace.configuration"):
            server.configure()
        elif isinstance(params.settings, dict):
            server.folders.start(params.settings.get(SECTION, params.settings))
            server.everything()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: types.DidChangeWatchedFilesParams) -> None:
        paths = [path for change in params.changes if (path := path_of(change.uri)) is not None]
        _changed(server, paths)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        path = path_of(params.text_document.uri)
        if path is not None:
            _changed(server, [path])


def _changed(server: Server, paths: list[str]) -> None:
    """Take what changed on the disk: settings hold for every text, any other file for those that read it."""
    folders = [os.path.abspath(folder_path(path)) for one in server.folders.everywhere() for path in one.files.rule_folders()]
    of_rules = any(path.startswith(os.path.join(folder, "")) for path in paths for folder in folders)
    if of_rules:
        rule_folders.load.cache_clear()
        load.headings.cache_clear()
        facts.forget()
    if of_rules or any(os.path.basename(path) in (NAME, PYPROJECT) or _settings(server, path) for path in paths):
        for one in server.folders.everywhere():
            one.read_again()
        server.everything()
        return
    server.moved.set()
    changed = {path for path in paths if server.documents.at(path) is None}
    if changed:
        server.changed(changed.__contains__)


def _settings(server: Server, path: str) -> bool:
    """Whether a file is among those that say settings: one that is extended may have any name."""
    return any(one.options.file == path or path in one.files.read_paths() for one in server.folders.everywhere())
