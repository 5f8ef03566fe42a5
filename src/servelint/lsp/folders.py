"""The folders that are open in the editor, each with the settings of its files."""

from __future__ import annotations

import os

from lsprotocol import types

from servelint.core.problem import Problem
from servelint.core.settings import DEFAULT, Settings
from servelint.lsp.documents import uri_of
from servelint.lsp.options import Options, read
from servelint.report.clean import clean
from servelint.settings import reading
from servelint.settings.files import SettingsFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Folder:
    """path: absolute; that of the process for files outside of every folder

    options: what the editor says for it;  files: the settings of each path in it
    """

    __slots__ = ("_checked", "_shown", "data", "files", "options", "path")

    def __init__(self, path: str, data: Any) -> None:
        self.path = path
        self.data: Any = None
        self._shown: dict[str, list[types.Diagnostic]] = {}
        self.set(data)

    def set(self, data: Any) -> None:
        """Take what the editor says."""
        self.data = data
        self.options: Options = read(data, self.path)
        self.read_again()

    def read_again(self) -> None:
        """Forget what the settings files said."""
        layers = [self.options.layer]
        faults: list[str] = []
        if any(name.startswith("SERVELINT_") for name in os.environ):
            layers.insert(0, reading.from_env(os.environ, faults))
        file = self.options.file
        isolated = self.options.switches["isolated"]
        self._checked = False
        self.files = SettingsFiles(isolated=isolated, file=None if isolated else file, overrides=layers)

    def of(self, path: str) -> Settings:
        """The settings of a file. What is wrong with settings files is left out of them."""
        return self.files.of(path)

    def news(self) -> list[tuple[str, list[types.Diagnostic]]]:
        """What is wrong with the settings files and the folders of rules that were asked for so far, by the file's URI.

        Each file once, and once more without anything when nothing is wrong with it any more.
        """
        found: dict[str, list[types.Diagnostic]] = {}
        for problem in [*self.files.problems, *self.files.rule_problems()]:
            found.setdefault(uri_of(problem.path), []).append(_diagnostic(problem))
        new = [(uri, told) for uri, told in found.items() if self._shown.get(uri) != told]
        new += [(uri, []) for uri in self._shown if uri not in found]
        self._shown = found
        return new

    def faults(self) -> list[str]:
        """What is wrong in the editor's settings."""
        if not self._checked:
            self._checked = True
            self.files.check_names()
        return [*self.options.faults, *self.files.faults]


def _diagnostic(problem: Problem) -> types.Diagnostic:
    start = types.Position(problem.line - 1, problem.column - 1)
    return types.Diagnostic(
        range=types.Range(start, types.Position(problem.line, 0)),
        message=clean(problem.message),
        severity=types.DiagnosticSeverity.Error,
        code="servelint/settings",
        source="servelint",
    )


class Folders:
    """The folders, and which of them a path is in."""

    __slots__ = ("_by_path", "_outside", "data")

    def __init__(self) -> None:
        self._by_path: dict[str, Folder] = {}
        self.data: Any = None
        self._outside = Folder(os.getcwd(), None)

    def __iter__(self) -> Iterator[Folder]:
        return iter(list(self._by_path.values()))

    def everywhere(self) -> list[Folder]:
        """The folders, and what stands for files outside of them."""
        return [*self._by_path.values(), self._outside]

    def start(self, data: Any) -> None:
        """What the editor says for every folder that it says nothing else for."""
        self.data = data
        for folder in self.everywhere():
            folder.set(data)

    def take(self, each: dict[str, Any], other: Any) -> bool:
        """What the editor says for some folders, and for all others; whether that is anything new. None says nothing."""
        new = False
        if other is not None and other != self.data:
            self.data = other
            self._outside.set(other)
            new = True
        for path, data in each.items():
            folder = self._by_path.get(path)
            if folder is not None and data is not None and data != folder.data:
                folder.set(data)
                new = True
        return new

    def add(self, path: str) -> Folder:
        if path not in self._by_path:
            self._by_path[path] = Folder(path, self.data)
        return self._by_path[path]

    def remove(self, path: str) -> None:
        self._by_path.pop(path, None)

    def of(self, path: str) -> Folder:
        """The innermost folder that a path is in."""
        found = [one for name, one in self._by_path.items() if path == name or path.startswith(os.path.join(name, ""))]
        return max(found, key=lambda one: len(one.path)) if found else self._outside

    def settings(self, path: str, *, is_file: bool = True) -> Settings:
        """The settings of a text. One without a file has those of the only folder, if there is one."""
        if is_file:
            return self.of(path).of(path)
        if len(self._by_path) == 1:
            only = next(iter(self._by_path.values()))
            return only.files.of_folder(only.path)
        return self._outside.files.of_folder("") if self._outside.options.layer.values else DEFAULT
