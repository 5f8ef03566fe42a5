"""A layer of settings: what a file, a table of paths, the environment or the command line says, each value with its place."""

from __future__ import annotations

from servelint.files.settings.globs import Glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

IN_FILE, ENVIRONMENT, COMMAND_LINE, EDITOR = "file", "environment", "command line", "editor"


class Origin:
    """Where a value is written. kind: one of these four;  name: the path, the variable, or the option"""

    __slots__ = ("column", "kind", "line", "name")

    def __init__(self, kind: str, name: str, line: int = 1, column: int = 1) -> None:
        self.kind = kind
        self.name = name
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"{self.name}:{self.line}:{self.column}" if self.kind == IN_FILE else self.name


class Value:
    """value: as the check takes it;  origin: where it is written;  key: where its key is

    parts: where its elements are, those of a list or a table
    """

    __slots__ = ("key", "origin", "parts", "value")

    def __init__(
        self, value: Any, origin: Origin, key: Origin | None = None, parts: dict[str | int, Origin] | None = None
    ) -> None:
        self.value = value
        self.origin = origin
        self.key = key or origin
        self.parts = parts or {}

    def part(self, key: str | int) -> Origin:
        return self.parts.get(key, self.origin)


class Layer:
    """values:  key -> what is said;  rules: rule id or area -> key -> what is said of the rule, with the place of its table

    origin:   where the layer is;  folder: what its globs are relative to, an absolute path
    paths:    the globs of the paths that it is for; empty for all;  per_path: the layers for some paths in it
    """

    __slots__ = ("folder", "origin", "paths", "per_path", "rules", "values")

    def __init__(self, origin: Origin, folder: str) -> None:
        self.origin = origin
        self.folder = folder
        self.values: dict[str, Value] = {}
        self.rules: dict[str, tuple[Origin, dict[str, Value]]] = {}
        self.paths: list[Glob] = []
        self.per_path: list[Layer] = []

    def get(self, key: str) -> Any:
        """What is said of a key, None if nothing is."""
        found = self.values.get(key)
        return found.value if found is not None else None
