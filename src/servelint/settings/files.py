"""The settings of each path: those of the nearest file above it, with the environment and the command line above them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from servelint.core.problem import Problem
from servelint.core.settings import Settings
from servelint.core.trust import EVERYTHING, RuleFolder, Trust
from servelint.files.project import Finder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from servelint.settings.layers import Glob, Layer

    SettingsSource: TypeAlias = "Settings | SettingsFiles"
    """Settings for every file, or those of each file from the settings files above it."""


class Governing:
    """A settings file with all that it extends, and what stands above it.

    Attributes:
        path: The file; None where there is none.
        folder: The file's folder, else the current one.
        layers: The layers for every path, the strongest last.
        per_path: The layers for some paths.
        overrides: The layers above every file: the environment, the command line, an editor.
        exclude: The patterns of what is left out when a folder is searched.
    """

    __slots__ = ("_made", "_trust", "exclude", "folder", "layers", "overrides", "path", "per_path")

    def __init__(self, path: str | None, layers: list[Layer], overrides: list[Layer], trust: Trust) -> None:
        self._trust = trust
        self.path = path
        self.folder = os.path.dirname(path) if path is not None else os.getcwd()
        self.layers = layers
        self.per_path = [table for layer in layers for table in layer.per_path]
        self.overrides = overrides
        self.exclude: list[Glob] = []
        self._made: dict[tuple[int, ...], Settings] = {}
        if layers or overrides:
            from servelint.settings.layers import excluded

            self.exclude = excluded([*layers, *overrides])

    def layers_of(self, path: str | None) -> list[Layer]:
        """The layers that hold for an absolute path; None: for a folder as a whole, without those of some paths."""
        return [*self.layers, *[self.per_path[index] for index in self._tables(path)], *self.overrides]

    def settings(self, path: str | None) -> Settings:
        """The settings of an absolute path; the same object for all paths that share them."""
        tables = self._tables(path)
        if tables not in self._made:
            layers = self.layers_of(path)
            self._made[tables] = Settings(trust=self._trust)
            if layers:
                from servelint.settings.layers import to_settings

                self._made[tables] = to_settings(layers, self._trust)
        return self._made[tables]

    def _tables(self, path: str | None) -> tuple[int, ...]:
        if not self.per_path or path is None:
            return ()
        tables = enumerate(self.per_path)
        return tuple([index for index, table in tables if any(glob.covers(path, self.folder) for glob in table.paths)])

    def value(self, key: str) -> Any:
        """The value of a key for the folder as a whole; None where nothing is set at all."""
        if not self.layers and not self.overrides:
            return None
        from servelint.settings.layers import last_value

        return last_value([*self.layers, *self.overrides], key)


class SettingsFiles:
    """The settings of every path, read from the files above it.

    Args:
        isolated: Read no file.
        file: Read this file instead of those above the paths.
        overrides: Layers above every file.
        trust: Whose version of settings files and rules is read.

    Attributes:
        problems: What is wrong with the files, each with its place. A check with a problem is not a check: look here first.
        faults: What is wrong with the rules that the overrides name, a sentence each.

    >>> SettingsFiles(isolated=True).of("compose.yml").profile
    'default'
    """

    __slots__ = ("_by_folder", "_by_path", "_finder", "_fixed", "_overrides", "_read_layers", "faults", "problems", "trust")

    def __init__(
        self,
        *,
        isolated: bool = False,
        file: str | None = None,
        overrides: list[Layer] | None = None,
        trust: Trust = EVERYTHING,
    ) -> None:
        self.trust = trust
        self.problems: list[Problem] = []
        self.faults: list[str] = []
        self._overrides = overrides or []
        self._finder = Finder(trust)
        self._by_folder: dict[str, tuple[Governing, str]] = {}
        self._by_path: dict[str | None, Governing] = {}
        self._read_layers: dict[str, Layer | None] = {}
        self._fixed: Governing | None = None
        if isolated:
            self._fixed = self._governing(None)
        elif file is not None:
            self._fixed = self._governing(_absolute(file))

    def of(self, path: str) -> Settings:
        """The settings of a file, whether it is there or not."""
        folder, name = os.path.split(path)
        governing, absolute = self._of_folder(folder)
        return governing.settings(os.path.join(absolute, name) if governing.per_path else None)

    def of_folder(self, folder: str) -> Settings:
        """The settings of a folder, without those of some paths in it."""
        return self._of_folder(folder)[0].settings(None)

    def value(self, key: str, folder: str = "") -> Any:
        """The value of a key in a folder, such as the format of the report in the current one; None where nothing is set."""
        return self._of_folder(folder)[0].value(key)

    def governing(self, path: str) -> tuple[Governing, str]:
        """What governs a path, and its absolute path."""
        folder, name = os.path.split(path)
        governing, absolute = self._of_folder(folder)
        return governing, os.path.join(absolute, name)

    def excluder(self, folder: str) -> Callable[[str], bool] | None:
        """Tells of a name in a folder that is searched whether it is left out; None if nothing is."""
        governing, absolute = self._of_folder(folder)
        globs = governing.exclude
        if not globs:
            return None
        head = governing.folder
        return lambda name: any(glob.matches(os.path.join(absolute, name), head) for glob in globs)

    def leaves_out(self, path: str) -> bool:
        """Whether a file that is named is left out all the same (`force-exclude`)."""
        governing, absolute = self.governing(path)
        if not governing.exclude or not governing.value("force-exclude"):
            return False
        return any(glob.covers(absolute, governing.folder) for glob in governing.exclude)

    def rule_folders(self) -> tuple[str | RuleFolder, ...]:
        """The folders of rules that the settings files read so far name."""
        return tuple(dict.fromkeys([folder for one in self._by_path.values() for folder in one.settings(None).rules]))

    def rule_problems(self) -> list[Problem]:
        """What is wrong with the folders of rules that any of the files that were read so far names."""
        folders = self.rule_folders()
        if not folders:
            return []
        from servelint.rules import folder

        return [problem for path in folders for problem in folder.load(path).problems]

    def every_layer(self) -> list[Layer]:
        """The layers of all files read so far, those for some paths among them, and the overrides."""
        read = [layer for one in self._by_path.values() for layer in (*one.layers, *one.per_path)]
        return [*read, *self._overrides]

    def read_paths(self) -> list[str]:
        """The settings files that were read so far, those that others extend among them."""
        return list(self._read_layers)

    def check_names(self) -> None:
        """Add to `faults` what the overrides name and no rule is, own rules of the files read so far included."""
        if any(layer.values for layer in self._overrides):
            from servelint.settings.reading import unknown_rules

            self.faults += [f"{origin}: {wrong}" for origin, wrong in unknown_rules(self._overrides, self.rule_folders())]

    def _of_folder(self, folder: str) -> tuple[Governing, str]:
        found = self._by_folder.get(folder)
        if found is None:
            absolute = _absolute(folder)
            governing = self._fixed or self._governing(self._finder.nearest(absolute))
            found = self._by_folder[folder] = (governing, absolute)
        return found

    def _governing(self, path: str | None) -> Governing:
        if path not in self._by_path:
            layers = self._read(path) if path is not None else []
            self._by_path[path] = Governing(path, layers, self._overrides, self.trust)
        return self._by_path[path]

    def _read(self, path: str) -> list[Layer]:
        from servelint.settings.layers import models_of, rule_folders, trusted
        from servelint.settings.reading import read_layers, unknown_rules

        known = {repr(problem) for problem in self.problems}
        problems: list[Problem] = []
        layers = read_layers(path, problems, self._read_layers, self.trust)
        for origin, wrong in unknown_rules(layers, trusted(rule_folders([*layers, *self._overrides]), self.trust)):
            problems.append(Problem(origin.name, wrong, origin.line, origin.column))
        for layer in layers:
            models_of(layer.get("models"), self.trust, problems)
        problems.sort(key=lambda problem: (problem.path, problem.line, problem.column))
        # a file that several extend is reported once
        self.problems += [problem for problem in problems if repr(problem) not in known]
        return layers


def _absolute(path: str) -> str:
    """An absolute path without following links, but for those before a `..`, which leads elsewhere behind a link."""
    if ".." in path.replace(os.sep, "/").split("/"):
        return os.path.realpath(path)
    return os.path.abspath(path)


def paths(governing: Governing) -> Iterator[str]:
    """The settings files that govern, the nearest first, as reports show them."""
    if governing.path is not None:
        for layer in reversed(governing.layers):
            yield layer.origin.name
