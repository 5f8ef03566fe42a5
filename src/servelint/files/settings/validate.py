"""From a file's data to a layer of settings, and what is wrong with it, each with its place."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

from servelint.core.problem import Problem
from servelint.files import trust
from servelint.files.settings import keys, values
from servelint.files.settings.document import Document
from servelint.files.settings.find import PYPROJECT, TABLE, shown
from servelint.files.settings.globs import Glob
from servelint.files.settings.keys import KEYS, MEANT, PATHS, PER_PATH, RULE, RULE_KEYS, Key
from servelint.files.settings.layer import IN_FILE, Layer, Origin, Value
from servelint.files.settings.places import Path

T = TypeVar("T")

_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "true or false"),
    (int, "a number"),
    (float, "a number"),
    (str, "a text"),
    (list, "a list"),
    (dict, "a table"),
)


def layer(document: Document, path: str, problems: list[Problem]) -> Layer:
    """The layer that a file is. path: its absolute path; what is wrong is added to problems, and left out of the layer."""
    table = TABLE if os.path.basename(path) == PYPROJECT else ()
    return _Reader(document, os.path.dirname(path), problems).layer(document.table(table) or {}, table)


class _Reader:
    def __init__(self, document: Document, folder: str, problems: list[Problem]) -> None:
        self.document = document
        self.folder = folder
        self.problems = problems

    def layer(self, data: dict[str, Any], at: Path) -> Layer:
        found = Layer(self.origin(at), self.folder)
        for name, value in data.items():
            place = (*at, name)
            if name == RULE:
                self._rules(value, place, found)
            elif name == PER_PATH:
                self._tables(value, place, found)
            elif name in KEYS:
                self._key(KEYS[name], value, place, found.values)
            else:
                self._unknown(name, place, (*KEYS, RULE, PER_PATH))
        return found

    def origin(self, at: Path) -> Origin:
        return Origin(IN_FILE, self.document.path, *self.document.key(at))

    def wrong(self, at: Path, message: str, *, key: bool = False) -> None:
        line, column = self.document.key(at) if key else self.document.value(at)
        self.problems.append(Problem(self.document.path, message, line, column))

    def _unknown(self, name: str, at: Path, known: tuple[str, ...]) -> None:
        hint = f"; {MEANT[name]}" if name in MEANT else values.suggestion(name, known)
        self.wrong(at, f'unknown key "{name}"{hint}', key=True)

    def _tables(self, data: object, at: Path, into: Layer) -> None:
        """[[per-path]]"""
        tables = data if isinstance(data, list) else [data]
        if not all(isinstance(table, dict) for table in tables):
            self.wrong(at, f'{PER_PATH} is a list of tables: write [[{PER_PATH}]] and paths = ["..."]', key=True)
            return
        if data is not tables:
            self.wrong(at, f"{PER_PATH} is a list of tables: write [[{PER_PATH}]] with two brackets", key=True)
        allowed = (PATHS, RULE, *[key.name for key in KEYS.values() if key.per_path])
        for index, table in enumerate(tables):
            place = (*at, index) if data is tables else at
            found = Layer(self.origin(place), self.folder)
            for name, value in table.items():
                if name == PATHS:
                    found.paths = self._globs(value, (*place, name)) or []
                elif name == RULE:
                    self._rules(value, (*place, name), found)
                elif name in allowed:
                    self._key(KEYS[name], value, (*place, name), found.values)
                elif name in KEYS:
                    self.wrong((*place, name), f"{name} holds for a whole file: write it above the tables", key=True)
                else:
                    self._unknown(name, (*place, name), allowed)
            if not table.get(PATHS):
                self.wrong(place, f'{PER_PATH} needs the paths that it is for: paths = ["deploy/**"]', key=True)
            into.per_path.append(found)

    def _rules(self, data: object, at: Path, into: Layer) -> None:
        """[rule."area/name"]: options of rules are read later, when the rules are known."""
        if not isinstance(data, dict):
            self.wrong(at, f'{RULE} is a table of tables, {_type(data)} is not: write [{RULE}."vllm/some-rule"]')
            return
        for name, table in data.items():
            place = (*at, name)
            if not isinstance(table, dict):
                self.wrong(place, f'write [{RULE}."{name}"] and what is set for it, such as severity = "warning"', key=True)
                continue
            found: dict[str, Value] = {}
            for key, value in table.items():
                if key in RULE_KEYS:
                    self._key(RULE_KEYS[key], value, (*place, key), found)
                else:
                    found[key] = self._value(value, (*place, key))
            into.rules[name] = (self.origin(place), found)

    def _value(self, value: Any, at: Path) -> Value:
        kind = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        parts: dict[str | int, Origin] = {}
        for key, _ in kind:
            parts[key] = Origin(IN_FILE, self.document.path, *self.document.value((*at, key)))
        return Value(value, Origin(IN_FILE, self.document.path, *self.document.value(at)), self.origin(at), parts)

    def _key(self, key: Key, data: Any, at: Path, into: dict[str, Value]) -> None:
        read = _READERS[key.kind](self, key, data, at)
        if read is not None:
            found = self._value(data, at)
            found.value = read
            into[key.name] = found

    def _typed(self, kind: type, key: str, data: object, at: Path) -> bool:
        if isinstance(data, kind) and (kind is bool or not isinstance(data, bool)):
            return True
        wanted = dict(_TYPES)[kind]
        self.wrong(at, f"{key} is {wanted}, not {_type(data)}")
        return False

    def _texts(self, key: str, data: object, at: Path) -> list[tuple[str, Path]] | None:
        """The texts of a list with their places; None if it is none, or not all of it is."""
        if isinstance(data, str):
            self.wrong(at, f'{key} is a list: write ["{data}"]')
            return None
        if not isinstance(data, list):
            self.wrong(at, f"{key} is a list of texts, not {_type(data)}")
            return None
        good = [self._typed(str, f"an element of {key}", one, (*at, index)) for index, one in enumerate(data)]
        return [(one, (*at, index)) for index, one in enumerate(data)] if all(good) else None

    def _patterns(self, key: Key, data: object, at: Path) -> tuple[str, ...] | None:
        texts = self._texts(key.name, data, at)
        return tuple([text for text, _ in texts]) if texts is not None else None

    def _globs(self, data: object, at: Path) -> list[Glob] | None:
        texts = self._texts(str(at[-1]), data, at)
        if texts is None:
            return None
        found = [self._told(place, Glob, text, self.folder) for text, place in texts]
        return [one for one in found if one is not None]

    def _excluded(self, _: Key, data: object, at: Path) -> tuple[Glob, ...] | None:
        found = self._globs(data, at)
        return tuple(found) if found is not None else None

    def _folders(self, key: Key, data: object, at: Path) -> tuple[str, ...] | None:
        texts = self._texts(key.name, data, at)
        for text, place in texts or []:
            if not trust.is_folder(os.path.join(self.folder, text)):
                self.wrong(place, f'"{text}" is no folder')
        return tuple([shown(os.path.join(self.folder, text)) for text, _ in texts]) if texts is not None else None

    def _places(self, key: Key, data: object, at: Path) -> tuple[str, ...] | bool | None:
        if isinstance(data, bool):
            return data or ()
        texts = self._texts(key.name, data, at)
        return tuple([os.path.join(self.folder, text) for text, _ in texts]) if texts is not None else None

    def _file(self, key: Key, data: object, at: Path) -> str | None:
        return os.path.normpath(os.path.join(self.folder, str(data))) if self._typed(str, key.name, data, at) else None

    def _choice(self, key: Key, data: object, at: Path) -> str | None:
        if not isinstance(data, str):
            self.wrong(at, f"{key.name} is one of {', '.join(key.choices)}, not {_type(data)}")
            return None
        return self._told(at, values.choice, data, key.choices)

    def _releases(self, key: Key, data: object, at: Path) -> dict[str, str] | None:
        if not isinstance(data, dict):
            self.wrong(at, f'{key.name} is a table, not {_type(data)}: write {key.name} = {{vllm = "0.19.1"}}')
            return None
        found: dict[str, str] = {}
        for name, written in data.items():
            place = (*at, name)
            if self._told(place, values.engine, name, key=True) is None:
                continue
            if not isinstance(written, str):
                self.wrong(place, f'the release of {name} is a text, not {_type(written)}: write {name} = "{written}"')
            else:
                release = self._told(place, values.release, name, written)
                found.update({name: release} if release is not None else {})
        return found

    def _gpu(self, key: Key, data: object, at: Path) -> str | None:
        return self._told(at, values.gpu, str(data)) if self._typed(str, key.name, data, at) else None

    def _count(self, key: Key, data: object, at: Path) -> int | None:
        if not isinstance(data, int) or isinstance(data, bool) or data < 1:
            told = str(data) if isinstance(data, int) and not isinstance(data, bool) else _type(data)
            self.wrong(at, f"{key.name} is a whole number from 1, not {told}")
            return None
        return data

    def _switch(self, key: Key, data: object, at: Path) -> bool | None:
        return bool(data) if self._typed(bool, key.name, data, at) else None

    def _told(self, at: Path, read: Callable[..., T], *given: object, key: bool = False) -> T | None:
        """What a reader of values gives; None if it raises."""
        try:
            return read(*given)
        except ValueError as error:
            self.wrong(at, str(error), key=key)
            return None


_READERS: dict[str, Any] = {
    keys.FILE: _Reader._file,
    keys.FOLDERS: _Reader._folders,
    keys.GLOBS: _Reader._excluded,
    keys.PATTERNS: _Reader._patterns,
    keys.CHOICE: _Reader._choice,
    keys.RELEASES: _Reader._releases,
    keys.GPU: _Reader._gpu,
    keys.COUNT: _Reader._count,
    keys.SWITCH: _Reader._switch,
    keys.PLACES: _Reader._places,
}


def _type(data: object) -> str:
    return next((name for kind, name in _TYPES if isinstance(data, kind)), "a date or a time")
