"""From settings files, variables of the environment and options of the command line to layers, and what is wrong with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from servelint.core.numbers import is_whole
from servelint.core.problem import Problem
from servelint.core.settings import matches
from servelint.core.trust import EVERYTHING, RuleFolder, Trust
from servelint.engines.releases import requested
from servelint.files.project import PYPROJECT, SIZE_AT_MOST, TABLE, shown
from servelint.settings import keys
from servelint.settings.keys import KEYS, MEANT, PATHS, PATTERNS, PER_PATH, RULE, RULE_KEYS, Key, suggestion
from servelint.settings.layers import COMMAND_LINE, ENVIRONMENT, IN_FILE, Glob, Layer, Origin, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from servelint.files.toml_document import Document, Path

T = TypeVar("T")

FILE_VARIABLE, ISOLATED_VARIABLE = "SERVELINT_SETTINGS", "SERVELINT_ISOLATED"
"""The variables of --settings and --isolated."""

_NEAR = 0.92
"""The least similarity, from 0 to 1, of a variable's name and one that is meant: all begin alike, and other programs may have
variables of their own."""
_ON, _OFF = ("1", "true", "yes", "on"), ("0", "false", "no", "off")

_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "true or false"), (int, "a number"), (float, "a number"), (str, "a text"), (list, "a list"), (dict, "a table"),
)  # fmt: skip
_LISTS = tuple([key.name for key in KEYS.values() if key.kind == PATTERNS])


# -- files, and those that they extend


def read_layers(path: str, problems: list[Problem], known: dict[str, Layer | None], trust: Trust = EVERYTHING) -> list[Layer]:
    """The layers of a settings file, those of the files that it extends first.

    Args:
        path: The file.
        problems: What is wrong is added to it.
        known: Path -> the layer of each file that was read already, None where one cannot be read. New ones are added.
        trust: Whose version of the files is read.
    """
    layers: list[Layer] = []
    seen: list[str] = []
    extended_at: Origin | None = None
    while True:
        real = os.path.realpath(path)
        if real in seen:
            circle = " -> ".join([shown(one) for one in [*seen[seen.index(real) :], real]])
            _wrong(extended_at, path, f"extends {circle}: a circle", problems)
            break
        seen.append(real)
        if extended_at is not None and not trust.is_file(path):
            _wrong(extended_at, path, f"there is no file {shown(path)}", problems)
            break
        if path not in known:
            known[path] = _layer(path, extended_at, problems, trust)
        layer = known[path]
        if layer is None:
            break
        layers.insert(0, layer)
        extended = layer.values.get("extends")
        if extended is None:
            break
        path, extended_at = extended.value, extended.origin
    return layers


def _layer(path: str, extended_at: Origin | None, problems: list[Problem], trust: Trust) -> Layer | None:
    from servelint.files import toml_document

    found = toml_document.read(path, shown(path), SIZE_AT_MOST, trust)
    if isinstance(found, Problem):
        problems.append(found)
        return None
    if os.path.basename(path) == PYPROJECT and found.table(TABLE) is None:
        _wrong(extended_at, path, f"{shown(path)} has no table [{'.'.join(TABLE)}]", problems)
        return None
    return to_layer(found, path, problems, trust)


def _wrong(extended_at: Origin | None, path: str, message: str, problems: list[Problem]) -> None:
    """Add a problem: where another file extends this one, or at the start of the file itself."""
    if extended_at is None:
        problems.append(Problem(shown(path), message))
    else:
        problems.append(Problem(extended_at.name, message, extended_at.line, extended_at.column))


# -- from the data of a file to a layer


def to_layer(document: Document, path: str, problems: list[Problem], trust: Trust = EVERYTHING) -> Layer:
    """The layer of a settings file at an absolute path. What is wrong is added to `problems`, and is not in the layer.

    `trust` says whose version of folders of rules is looked at.
    """
    table = TABLE if os.path.basename(path) == PYPROJECT else ()
    return _Reader(document, os.path.dirname(path), problems, trust).layer(document.table(table) or {}, table)


class _Reader:
    def __init__(self, document: Document, folder: str, problems: list[Problem], trust: Trust) -> None:
        self.trust = trust
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
        hint = f"; {MEANT[name]}" if name in MEANT else suggestion(name, known)
        self.wrong(at, f'unknown key "{name}"{hint}', key=True)

    def _tables(self, data: object, at: Path, into: Layer) -> None:
        """[[per-path]]."""
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
                    self.wrong((*place, name), f"{name} applies to the whole file: write it above the tables", key=True)
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
        """A value with its place, that of its key, and those of its elements."""

        def origin(place: Path) -> Origin:
            return Origin(IN_FILE, self.document.path, *self.document.value(place))

        kind = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        return Value(value, origin(at), self.origin(at), {key: origin((*at, key)) for key in kind})

    def _key(self, key: Key, data: Any, at: Path, into: dict[str, Value]) -> None:
        if (read := _READERS[key.kind](self, key, data, at)) is not None:
            found = self._value(data, at)
            found.value = read
            into[key.name] = found

    def _typed(self, kind: type, key: str, data: object, at: Path) -> bool:
        """Whether a value has a type, which is a problem if not; True is not taken for a number."""
        if isinstance(data, kind) and (kind is bool or not isinstance(data, bool)):
            return True
        self.wrong(at, f"{key} is {dict(_TYPES)[kind]}, not {_type(data)}")
        return False

    def _texts(self, key: str, data: object, at: Path) -> list[tuple[str, Path]] | None:
        """The texts of a list with their places; None if the value is not a list of texts."""
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
        found = [self._checked(place, Glob, text, self.folder) for text, place in texts]
        return [one for one in found if one is not None]

    def _excluded(self, _: Key, data: object, at: Path) -> tuple[Glob, ...] | None:
        found = self._globs(data, at)
        return tuple(found) if found is not None else None

    def _folders(self, key: Key, data: object, at: Path) -> tuple[str, ...] | None:
        texts = self._texts(key.name, data, at)
        for text, place in texts or []:
            if not self.trust.is_folder(os.path.join(self.folder, text)):
                self.wrong(place, f'"{text}" is not a folder')
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
        return self._checked(at, keys.choice, data, key.choices)

    def _releases(self, key: Key, data: object, at: Path) -> dict[str, str] | None:
        if not isinstance(data, dict):
            self.wrong(at, f'{key.name} is a table, not {_type(data)}: write {key.name} = {{vllm = "0.19.1"}}')
            return None
        found: dict[str, str] = {}
        for name, written in data.items():
            place = (*at, name)
            if self._checked(place, keys.engine, name, key=True) is None:
                continue
            if not isinstance(written, str):
                self.wrong(place, f'the release of {name} is a text, not {_type(written)}: write {name} = "{written}"')
            else:
                release = self._checked(place, requested, name, written)
                found.update({name: release} if release is not None else {})
        return found

    def _gpu(self, key: Key, data: object, at: Path) -> str | None:
        return self._checked(at, keys.gpu, str(data)) if self._typed(str, key.name, data, at) else None

    def _count(self, key: Key, data: object, at: Path) -> int | None:
        if not isinstance(data, int) or isinstance(data, bool) or data < 1:
            written = str(data) if isinstance(data, int) and not isinstance(data, bool) else _type(data)
            self.wrong(at, f"{key.name} is a whole number from 1, not {written}")
            return None
        return data

    def _switch(self, key: Key, data: object, at: Path) -> bool | None:
        return bool(data) if self._typed(bool, key.name, data, at) else None

    def _checked(self, at: Path, read: Callable[..., T], *given: object, key: bool = False) -> T | None:
        """What a function of servelint.settings.keys returns; None if it raises."""
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


# -- texts: the environment, the command line and an editor, where a list is written with commas


def from_env(variables: Mapping[str, str], faults: list[str]) -> Layer:
    """The layer of SERVELINT_*. An empty variable sets nothing; what is wrong is added to faults, each as a sentence."""
    layer = Layer(Origin(ENVIRONMENT, "the environment"), os.getcwd())
    for key in KEYS.values():
        name = keys.variable(key.name)
        if (written := variables.get(name, "").strip()) and key.variable:
            _set(layer, key, _split(key, written), Origin(ENVIRONMENT, name), faults)
    return layer


def is_isolated(variables: Mapping[str, str], faults: list[str]) -> bool:
    """Whether the environment switches settings files off."""
    try:
        return is_on(variables.get(ISOLATED_VARIABLE) or _OFF[0])
    except ValueError as error:
        faults.append(f"{ISOLATED_VARIABLE}: {error}")
        return False


def from_cli(options: Mapping[str, Any], faults: list[str]) -> Layer:
    """The layer of options: key -> a text, or a list of texts where the option may be repeated; None sets nothing."""
    layer = Layer(Origin(COMMAND_LINE, "the command line"), os.getcwd())
    for name, given in options.items():
        add_texts(layer, name, given, Origin(COMMAND_LINE, keys.option(name)), faults)
    return layer


def add_texts(layer: Layer, name: str, given: Any, origin: Origin, faults: list[str]) -> None:
    """Set a key of a layer from a text, or from a list of texts; None, False and an empty list set nothing."""
    if given is None or given is False or given == []:
        return
    key = KEYS[name]
    texts = [str(one) for one in given] if isinstance(given, list) else [str(given)]
    if key.kind != keys.FOLDERS:
        texts = [part for text in texts for part in _split(key, text)]
    _set(layer, key, texts, origin, faults)


def unread_variables(variables: Mapping[str, str]) -> list[str]:
    """A sentence for each variable that nothing reads, and whose name is nearly one that is read."""
    known = [keys.variable(key.name) for key in KEYS.values() if key.variable]
    known += [FILE_VARIABLE, ISOLATED_VARIABLE, "SERVELINT_TRACEBACK"]
    unread = [name for name in sorted(variables) if name.startswith(keys.PREFIX) and name not in known]
    hints = [(name, suggestion(name, known, _NEAR)) for name in unread]
    return [f"{name} is not read{hint}" for name, hint in hints if hint]


def is_on(text: str) -> bool:
    """The truth value that a text stands for. Raises ValueError."""
    if text.lower() in _ON + _OFF:
        return text.lower() in _ON
    raise ValueError(f'"{text}" is neither true nor false')


def _split(key: Key, text: str) -> list[str]:
    if key.kind == keys.FOLDERS:
        return [part for part in text.split(os.pathsep) if part]
    if key.kind in (keys.PATTERNS, keys.GLOBS, keys.RELEASES):
        return [part.strip() for part in _outside_braces(text) if part.strip()]
    return [text]


def _outside_braces(text: str) -> list[str]:
    """The parts between commas; one in braces (`*.{yml,yaml}`) is part of a pattern."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "{") - (char == "}")
        if char == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _set(layer: Layer, key: Key, texts: list[str], origin: Origin, faults: list[str]) -> None:
    try:
        layer.values[key.name] = Value(_read(key, texts, layer.folder), origin)
    except ValueError as error:
        faults.append(f"{origin}: {error}")


def _read(key: Key, texts: list[str], folder: str) -> object:
    """The value that texts give a key. Raises ValueError with what is wrong."""
    if key.kind == keys.PATTERNS:
        return tuple(texts)
    if key.kind == keys.GLOBS:
        return tuple([Glob(text, folder) for text in texts])
    if key.kind == keys.FOLDERS:
        return tuple([shown(os.path.join(folder, text)) for text in texts])
    if key.kind == keys.FILE:
        return os.path.normpath(os.path.join(folder, texts[0]))
    if key.kind == keys.RELEASES:
        return dict([_release(text) for text in texts])
    (text,) = texts
    if key.kind == keys.CHOICE:
        return keys.choice(text, key.choices)
    if key.kind == keys.GPU:
        return keys.gpu(text)
    if key.kind == keys.SWITCH:
        return is_on(text)
    if not is_whole(text) or int(text) < 1:
        raise ValueError(f'"{text}" is not a whole number from 1')
    return int(text)


def _release(text: str) -> tuple[str, str]:
    name, equals, release = text.partition("=")
    if not equals:
        raise ValueError(f'"{text}" names no release; write ENGINE=RELEASE, such as vllm=0.19.1')
    return keys.engine(name), requested(name, release)


# -- the rules that layers name


def unknown_rules(layers: list[Layer], folders: tuple[str | RuleFolder, ...]) -> list[tuple[Origin, str]]:
    """What is wrong with the rules and their options that layers name, with the place of each.

    The layers for some paths in them count as well. `folders` are those of rules beside servelint's own.
    """
    from servelint.core.own_rules import OWN
    from servelint.rules.load import headings

    every = [one for layer in layers for one in (layer, *layer.per_path)]
    named = [(pattern, origin) for layer in every for pattern, origin in _patterns(layer) if pattern != "*"]
    if not named:
        return []
    known = {**{rule: {} for rule in OWN}, **headings(())}
    if folders and not all(_known(pattern, known) for pattern, _ in named):
        known = {**known, **headings(folders)}
    found = [(origin, _unknown(pattern, known)) for pattern, origin in named if not _known(pattern, known)]
    return found + [fault for layer in every for fault in _options(layer, known)]


def _patterns(layer: Layer) -> Iterator[tuple[str, Origin]]:
    for key in _LISTS:
        if (value := layer.values.get(key)) is not None:
            yield from [(pattern, value.part(index)) for index, pattern in enumerate(value.value)]
    for pattern, (origin, _) in layer.rules.items():
        yield pattern, origin


def _known(pattern: str, known: dict[str, dict[str, Any]]) -> bool:
    return pattern in known or any(matches(pattern, one) for one in known)


def _unknown(pattern: str, known: dict[str, dict[str, Any]]) -> str:
    areas = {rule.partition("/")[0] + "/*" for rule in known}
    near = suggestion(pattern, [*known, *sorted(areas)], 0.8) or " (servelint rules lists them)"
    return f'no rule matches "{pattern}"{near}'


def _options(layer: Layer, known: dict[str, dict[str, Any]]) -> Iterator[tuple[Origin, str]]:
    from servelint.rules import rule

    for pattern, (_, table) in layer.rules.items():
        for name, value in table.items():
            if name in RULE_KEYS or not _known(pattern, known):
                continue
            options = known.get(pattern)
            if options is None:
                yield value.key, f'"{name}" is set for {pattern}, and an area has only {", ".join(RULE_KEYS)}'
            elif name not in options:
                has = f"; it has {', '.join(options)}" if options else ""
                hint = suggestion(name, [*options, *RULE_KEYS])
                yield value.key, f'{pattern} has no option "{name}"{hint}{has}'
            elif (wrong := rule.option_fault(options[name], value.value)) is not None:
                yield value.origin, f"{name} of {pattern} is {wrong}"
