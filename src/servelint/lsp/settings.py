"""Settings of the open texts: those of the project's settings files, and above them what the editor sets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from lsprotocol import types

from servelint.core.problem import Problem
from servelint.core.settings import DEFAULT, Settings
from servelint.lsp.documents import uri_of
from servelint.report.clean import clean
from servelint.settings import keys, reading
from servelint.settings.files import SettingsFiles
from servelint.settings.layers import EDITOR, Layer, Origin

SECTION = "servelint"
_KEYS = ("select", "extend-select", "ignore", "profile", "severity", "engine-versions", "gpu", "gpu-count", "rules", "exclude")
"""Keys of settings files that an editor may set as well; its values take precedence."""
SWITCHES = {
    "isolated": False,  # read no settings file
    "inlay-hints": True,
    "code-lens": True,
    "diagnostics": True,
    "unresolved-words": True,  # hints at words without a value
}
_SPELLINGS = {"engine-version": "engine-versions"}
_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])|_")


class Options:
    """The editor's own settings for a folder.

    Attributes:
        layer: Values that take precedence over those of settings files.
        file: The one settings file to read, instead of those above each path.
        switches: Values of SWITCHES.
        faults: What is wrong in them, each a sentence.
    """

    __slots__ = ("_words", "faults", "file", "layer", "switches")

    def __init__(self, folder: str) -> None:
        self.layer = Layer(Origin(EDITOR, "the editor's settings"), folder)
        self.file: str | None = None
        self.switches = dict(SWITCHES)
        self.faults: list[str] = []
        self._words: list[str] = []

    def add(self, key: str, given: Any, origin: Origin) -> None:
        """Set a key that settings files have as well."""
        texts = [str(one) for one in given] if isinstance(given, list) else [str(given)]
        before = len(self.faults)
        reading.add_texts(self.layer, key, texts, origin, self.faults)
        if len(self.faults) == before:
            self._words += [f"{keys.option(key)}={text}" for text in texts]

    def words(self) -> list[str]:
        """The options of `servelint check` that set the same."""
        file = [f"--settings={self.file}"] if self.file is not None and not self.switches["isolated"] else []
        return [*(["--isolated"] if self.switches["isolated"] else file), *self._words]


def read(data: Any, folder: str) -> Options:
    """Read an editor's settings as it sends them. A key may be spelled `gpuCount`, `gpu-count` or `gpu_count`.

    `folder` is the one that relative paths start from.
    """
    options = Options(folder)
    if isinstance(data, dict) and set(data) == {SECTION}:
        data = data[SECTION]
    if data is None:
        return options
    if not isinstance(data, dict):
        options.faults.append(f"the editor's settings are not an object but a {type(data).__name__}")
        return options
    for name, value in _flat(data).items():
        _take(options, name, value)
    return options


def _take(options: Options, name: str, value: Any) -> None:
    key = _CAPITAL.sub(lambda match: "-" + (match.group(1) or "").lower(), name)
    key = _SPELLINGS.get(key, key)
    origin = Origin(EDITOR, f"{SECTION}.{name}")
    if value is None or value in ("", [], {}):
        return
    if key in SWITCHES:
        if isinstance(value, bool):
            options.switches[key] = value
        else:
            options.faults.append(f"{origin}: {value!r} is neither true nor false")
    elif key == "settings":
        options.file = os.path.join(options.layer.folder, os.path.expanduser(str(value)))
    elif key in _KEYS:
        if isinstance(value, dict):
            value = [f"{engine}={release}" for engine, release in value.items()]
        options.add(key, value, origin)


def _flat(data: dict[str, Any]) -> dict[str, Any]:
    """The settings, with `inlayHints: {"enable": true}` as `inlayHints: true`."""
    found: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, dict) and set(value) <= {"enable", "enabled"} and value:
            value = next(iter(value.values()))
        found[name] = value
    return found


class Folder:
    """An open folder.

    Attributes:
        path: Absolute; the current folder of the process, for files outside of every folder.
        data: The editor's settings for it as it sends them;  options: the same, read.
        files: The settings of each path in it.
    """

    __slots__ = ("_checked", "_published", "data", "files", "options", "path")

    def __init__(self, path: str, data: Any) -> None:
        self.path = path
        self.data: Any = None
        self._published: dict[str, list[types.Diagnostic]] = {}
        self.set(data)

    def set(self, data: Any) -> None:
        """Take the editor's settings for the folder."""
        self.data = data
        self.options: Options = read(data, self.path)
        self.read_again()

    def read_again(self) -> None:
        """Read the settings files again, as they are needed."""
        layers = [self.options.layer]
        faults: list[str] = []
        if any(name.startswith("SERVELINT_") for name in os.environ):
            layers.insert(0, reading.from_env(os.environ, faults))
        file = self.options.file
        isolated = self.options.switches["isolated"]
        self._checked = False
        self.files = SettingsFiles(isolated=isolated, file=None if isolated else file, overrides=layers)

    def of(self, path: str) -> Settings:
        """The settings of a file, without the parts of settings files that are wrong."""
        return self.files.of(path)

    def news(self) -> list[tuple[str, list[types.Diagnostic]]]:
        """The diagnostics of settings files and rule folders that have changed since the last call, by the file's URI.

        A file that has become clean comes once with none.
        """
        found: dict[str, list[types.Diagnostic]] = {}
        for problem in [*self.files.problems, *self.files.rule_problems()]:
            found.setdefault(uri_of(problem.path), []).append(_diagnostic(problem))
        new = [(uri, items) for uri, items in found.items() if self._published.get(uri) != items]
        new += [(uri, []) for uri in self._published if uri not in found]
        self._published = found
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
    """The open folders."""

    __slots__ = ("_by_path", "_outside", "data")

    def __init__(self) -> None:
        self._by_path: dict[str, Folder] = {}
        self.data: Any = None
        self._outside = Folder(os.getcwd(), None)

    def __iter__(self) -> Iterator[Folder]:
        return iter(list(self._by_path.values()))

    def everywhere(self) -> list[Folder]:
        """The folders, and the one that stands for files outside of them."""
        return [*self._by_path.values(), self._outside]

    def start(self, data: Any) -> None:
        """Take the editor's settings for all folders."""
        self.data = data
        for folder in self.everywhere():
            folder.set(data)

    def take(self, each: dict[str, Any], other: Any) -> bool:
        """Take the editor's settings for some folders and for all others, None where it has none; whether any are new."""
        new = False
        if other is not None and other != self.data:
            self.data = other
            self._outside.set(other)
            new = True
        for path, data in each.items():
            if (folder := self._by_path.get(path)) is not None and data is not None and data != folder.data:
                folder.set(data)
                new = True
        return new

    def add(self, path: str) -> None:
        """Note a folder that was opened."""
        if path not in self._by_path:
            self._by_path[path] = Folder(path, self.data)

    def remove(self, path: str) -> None:
        """Forget a folder that was closed."""
        self._by_path.pop(path, None)

    def of(self, path: str) -> Folder:
        """The innermost folder that a path is in."""
        found = [one for name, one in self._by_path.items() if path == name or path.startswith(os.path.join(name, ""))]
        return max(found, key=lambda one: len(one.path)) if found else self._outside

    def settings(self, path: str, *, is_file: bool = True) -> Settings:
        """The settings of a text; those of the only open folder for a text without a file."""
        if is_file:
            return self.of(path).of(path)
        if len(self._by_path) == 1:
            only = next(iter(self._by_path.values()))
            return only.files.of_folder(only.path)
        return self._outside.files.of_folder("") if self._outside.options.layer.values else DEFAULT
