"""Layers of settings: what a file, a table of paths, the environment or the command line says, and what holds of it all.

The later layer wins; lists of rules add up layer by layer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cached_property

from servelint.core.problem import Problem
from servelint.core.settings import Selection, Settings
from servelint.core.trust import EVERYTHING, RuleFolder, Trust
from servelint.files.project import shown
from servelint.settings.keys import FOLDERS, GLOBS, KEYS, PATTERNS, RELEASES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pathspec import GitIgnoreSpec

IN_FILE, ENVIRONMENT, COMMAND_LINE, EDITOR = "file", "environment", "command line", "editor"
PASSED = ("extends",)
"""Keys that only say where other settings are."""

_PLAIN = ("severity", "profile", "gpu", "gpu-count", "fail-on", "read-outside")
"""Keys whose last value is an attribute of the settings."""
_MODELS_AT_MOST = 4 << 20
_WINDOWS = os.name == "nt"
_CHOICE = r"\\.|\[!?[^\]]+\]|\{([^{}]*)\}"
_CHOICES_AT_MOST = 1_000


class Origin:
    """Where a value is written.

    Attributes:
        kind: IN_FILE, ENVIRONMENT, COMMAND_LINE or EDITOR.
        name: The path, the variable or the option.
        line, column: The place in a file, from 1.
    """

    __slots__ = ("column", "kind", "line", "name")

    def __init__(self, kind: str, name: str, line: int = 1, column: int = 1) -> None:
        self.kind = kind
        self.name = name
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"{self.name}:{self.line}:{self.column}" if self.kind == IN_FILE else self.name


class Value:
    """What a layer says of a key.

    Attributes:
        value: The value as a check takes it.
        origin: Where it is written.
        key: Where its key is.
        parts: Where the elements of a list or a table are.
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
        """Where an element of the list or table is."""
        return self.parts.get(key, self.origin)


class Layer:
    """The settings of one file, one per-path table, the environment or the command line.

    Attributes:
        values: Key -> its value.
        rules: Rule id or area -> the place of its table, and key -> value.
        origin: Where the layer is.
        folder: The absolute path of the folder that its globs are relative to.
        paths: The globs of the paths that it is for; empty for all paths.
        per_path: The layers in it that are for some paths.
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
        """The value of a key, None if the layer does not have it."""
        found = self.values.get(key)
        return found.value if found is not None else None


# -- patterns of paths


class GlobError(ValueError):
    """What is wrong with a pattern."""


class Glob:
    """A pattern of paths, as in `.gitignore`: `deploy/**`, `*.example.yml`, `vendor`.

    pathspec matches it, and is imported then, since that takes 20 ms. Beyond `.gitignore`, `{yml,yaml}` is a choice, and `./`
    in front and `/` at the end mean nothing; `!` and `#` in front are characters of a name.

    Attributes:
        text: The pattern as it is written.
        folder: The absolute path of the folder that it is relative to.
    """

    def __init__(self, text: str, folder: str) -> None:
        """Raises GlobError."""
        self.text = text
        self.folder = folder
        self._body = (text.replace("\\", "/").lower() if _WINDOWS else text).removeprefix("./").rstrip("/")
        if not self._body:
            raise GlobError(f"{text!r} matches nothing; write `*` for everything")
        if self._body == ".." or self._body.startswith("../"):
            raise GlobError(f"{text!r} leads out of the folder that it is relative to")
        if "[" in text or "{" in text:
            _ = self._spec  # nothing else can be wrong

    def matches(self, path: str, otherwise: str) -> bool:
        """Whether it matches an absolute path itself, not only a folder that the path is in.

        `otherwise` is the folder that counts where the path is not below the pattern's own.
        """
        relative = _relative(path, self.folder, otherwise) or ""
        folder, _, name = relative.rpartition("/")
        if "/" not in self._body:
            return self._takes(name)
        return self._takes(relative) and not self._takes(folder)

    def covers(self, path: str, otherwise: str) -> bool:
        """Whether it matches an absolute path, or a folder that the path is in. The arguments are those of matches()."""
        return self._takes(_relative(path, self.folder, otherwise) or "")

    def _takes(self, relative: str) -> bool:
        return relative != "" and self._spec.match_file(relative.lower() if _WINDOWS else relative)

    @cached_property
    def _spec(self) -> GitIgnoreSpec:
        from pathspec import GitIgnoreSpec

        try:
            return GitIgnoreSpec.from_lines(map(_escaped, _choices(self._body)))
        except (re.error, ValueError) as error:
            raise GlobError(f"{self.text!r} is not a pattern of paths: {error}") from error


def _relative(path: str, folder: str, otherwise: str) -> str | None:
    for base in (folder, otherwise):
        start = base if base.endswith(os.sep) else base + os.sep
        if path.startswith(start) or (_WINDOWS and path.lower().startswith(start.lower())):
            found = path[len(start) :]
            return found.replace(os.sep, "/") if _WINDOWS else found
    return None


def _choices(body: str) -> list[str]:
    """The patterns that a pattern with choices in braces stands for."""
    found = [""]
    done = 0
    for match in re.finditer(_CHOICE, body, re.DOTALL):
        if match[1] is None:
            continue
        found = [head + body[done : match.start()] + one for head in found for one in match[1].split(",")]
        done = match.end()
        if len(found) > _CHOICES_AT_MOST:
            raise ValueError(f"more than {_CHOICES_AT_MOST:,} choices")
    return [head + body[done:] for head in found]


def _escaped(line: str) -> str:
    """A line of a `.gitignore` that means what the pattern says: no comment, no exception, spaces at the end kept."""
    line = f"\\{line}" if line[:1] in ("#", "!") else line
    return f"{line[:-1]}\\ " if line.endswith(" ") else line


# -- what layers say together


def last_value(layers: list[Layer], key: str) -> Any:
    """The value of a key in the last layer that has it, its default if none has."""
    for layer in reversed(layers):
        if key in layer.values:
            return layer.values[key].value
    return KEYS[key].default


def to_settings(layers: list[Layer], trust: Trust = EVERYTHING) -> Settings:
    """The settings that layers make, the strongest last. trust: what the run believes."""
    versions: dict[str, str] = {}
    rules: dict[str, dict[str, Any]] = {}
    for layer in layers:
        versions.update(layer.get("engine-versions") or {})
        for pattern, (_, table) in layer.rules.items():
            rules.setdefault(pattern, {}).update({key: value.value for key, value in table.items()})
    return Settings(
        **{key.replace("-", "_"): last_value(layers, key) for key in _PLAIN},
        engine_versions=versions,
        rules=trusted(rule_folders(layers), trust),
        trust=trust,
        models=models_of(last_value(layers, "models"), trust),
        rule_settings=rules,
        selections=tuple(_selections(layers)),
    )


def models_of(path: str | None, trust: Trust, problems: list[Problem] | None = None) -> dict[str, str]:
    """The files that a models file stands for, as a run believes it; what is wrong with it is added to `problems`."""
    if path is None:
        return {}
    from servelint.models.folder import described_files

    place = 1, 1
    try:
        data = trust.read(path, _MODELS_AT_MOST)
        if len(data) <= _MODELS_AT_MOST:
            return described_files(data.decode("utf-8-sig"))
        why = f"it is larger than {_MODELS_AT_MOST >> 20} MiB"
    except UnicodeDecodeError:
        why = "it is not UTF-8"
    except OSError as error:
        why = str(error.strerror)
    except RecursionError:
        why = "it is nested too deep"
    except ValueError as error:
        why = str(getattr(error, "msg", error))
        place = getattr(error, "lineno", 1), getattr(error, "colno", 1)
    if problems is not None:
        problems.append(Problem(shown(path), f"the models file cannot be read: {why}", *place))
    return {}


def trusted(folders: tuple[str, ...], trust: Trust) -> tuple[str | RuleFolder, ...]:
    """Folders of rules to be read as a run believes them."""
    return folders if trust.base is None and not trust.within else tuple([RuleFolder(path, trust) for path in folders])


def _selections(layers: list[Layer]) -> Iterator[Selection]:
    for layer in layers:
        select, more, ignore = layer.get("select"), layer.get("extend-select"), layer.get("ignore")
        if select is not None or more or ignore:
            yield Selection(select, more or (), ignore or ())


def rule_folders(layers: list[Layer]) -> tuple[str, ...]:
    """The folders of rules: those of every layer, since one that a file extends may name rules of its own."""
    return tuple(dict.fromkeys([folder for layer in layers for folder in layer.get("rules") or ()]))


def excluded(layers: list[Layer]) -> list[Glob]:
    """The patterns of what is left out: `exclude` of the last layer that has it, and every `extend-exclude` from there on."""
    found: list[Glob] = []
    for layer in layers:
        own = layer.get("exclude")
        found = [*(found if own is None else own), *(layer.get("extend-exclude") or ())]
    return found


class EffectiveValue:
    """A value that holds after all layers.

    Attributes:
        key: The key, or "rule." and a rule's id or area.
        value: The value.
        origin: Where it is written; None for a default.
        name: The name of an element of a table (an engine, a rule's option), "" elsewhere.
    """

    __slots__ = ("key", "name", "origin", "value")

    def __init__(self, key: str, value: Any, origin: Origin | None, name: str = "") -> None:
        self.key = key
        self.name = name
        self.value = value
        self.origin = origin


def effective(layers: list[Layer]) -> list[EffectiveValue]:
    """The values that hold, in the order of the keys, those of rules last."""
    found: list[EffectiveValue] = []
    for key in KEYS.values():
        if key.name in PASSED:
            continue
        if key.kind in (PATTERNS, GLOBS, FOLDERS):
            found += _elements(_counting(layers, key.name), key.name)
        elif key.kind == RELEASES:
            found += _table(layers, key.name)
        else:
            last = next((layer.values[key.name] for layer in reversed(layers) if key.name in layer.values), None)
            value, origin = (key.default, None) if last is None else (last.value, last.origin)
            found.append(EffectiveValue(key.name, value, origin))
    return found + _of_rules(layers)


def _counting(layers: list[Layer], key: str) -> list[Layer]:
    """The layers whose list counts: those from the last that starts anew."""
    starts = {"extend-select": "select", "ignore": "select", "extend-exclude": "exclude"}.get(key, key)
    if key == "rules":
        return layers
    first = max([index for index, layer in enumerate(layers) if starts in layer.values], default=0)
    return layers[first:]


def _elements(layers: list[Layer], key: str) -> list[EffectiveValue]:
    found: list[EffectiveValue] = []
    for layer in layers:
        if (value := layer.values.get(key)) is not None:
            elements = [one.text if isinstance(one, Glob) else one for one in value.value]
            found += [EffectiveValue(key, one, value.part(index)) for index, one in enumerate(elements)]
    return found


def _table(layers: list[Layer], key: str) -> list[EffectiveValue]:
    found: dict[str, EffectiveValue] = {}
    for layer in layers:
        if (value := layer.values.get(key)) is not None:
            found |= {name: EffectiveValue(key, one, value.part(name), name) for name, one in value.value.items()}
    return list(found.values())


def _of_rules(layers: list[Layer]) -> list[EffectiveValue]:
    found: dict[tuple[str, str], EffectiveValue] = {}
    for layer in layers:
        for pattern, (_, table) in layer.rules.items():
            for name, value in table.items():
                found[(pattern, name)] = EffectiveValue(f"rule.{pattern}", value.value, value.origin, name)
    return list(found.values())
