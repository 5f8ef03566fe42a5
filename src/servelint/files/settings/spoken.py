"""Layers from texts: what the environment and the command line say, where a list is written with commas."""

from __future__ import annotations

import os

from servelint.core.numbers import is_whole
from servelint.files.settings import keys, values
from servelint.files.settings.find import shown
from servelint.files.settings.globs import Glob
from servelint.files.settings.keys import KEYS, Key
from servelint.files.settings.layer import COMMAND_LINE, ENVIRONMENT, Layer, Origin, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FILE_VARIABLE, ISOLATED_VARIABLE = "SERVELINT_SETTINGS", "SERVELINT_ISOLATED"
"""What --settings and --isolated say."""

_NEAR = 0.92
"""How near a name must be to be meant: all begin alike, and others may have variables of their own."""
_ON, _OFF = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def environment(variables: Mapping[str, str], faults: list[str]) -> Layer:
    """The layer of SERVELINT_*; what is wrong is added to faults, each as a sentence. What is empty says nothing."""
    layer = Layer(Origin(ENVIRONMENT, "the environment"), os.getcwd())
    for key in KEYS.values():
        name = keys.variable(key.name)
        written = variables.get(name, "").strip()
        if written and key.variable:
            _say(layer, key, _split(key, written), Origin(ENVIRONMENT, name), faults)
    return layer


def isolated(variables: Mapping[str, str], faults: list[str]) -> bool:
    """Whether the environment asks for no settings files."""
    try:
        return switched_on(variables.get(ISOLATED_VARIABLE) or _OFF[0])
    except ValueError as error:
        faults.append(f"{ISOLATED_VARIABLE}: {error}")
        return False


def command_line(options: Mapping[str, Any], faults: list[str]) -> Layer:
    """The layer of options: key -> a text, or a list of them where the option may be given several times; None says nothing."""
    layer = Layer(Origin(COMMAND_LINE, "the command line"), os.getcwd())
    for name, given in options.items():
        add(layer, name, given, Origin(COMMAND_LINE, keys.option(name)), faults)
    return layer


def add(layer: Layer, name: str, given: Any, origin: Origin, faults: list[str]) -> None:
    """Add what a text says of a key, or a list of them; None, False and an empty list say nothing."""
    if given is None or given is False or given == []:
        return
    key = KEYS[name]
    texts = [str(one) for one in given] if isinstance(given, list) else [str(given)]
    if key.kind != keys.FOLDERS:
        texts = [part for text in texts for part in _split(key, text)]
    _say(layer, key, texts, origin, faults)


def strangers(variables: Mapping[str, str]) -> list[str]:
    """Variables that nothing reads and whose names are nearly those that are read, a sentence each."""
    known = [keys.variable(key.name) for key in KEYS.values() if key.variable] + [
        FILE_VARIABLE,
        ISOLATED_VARIABLE,
        "SERVELINT_TRACEBACK",
    ]
    strange = [name for name in sorted(variables) if name.startswith(keys.PREFIX) and name not in known]
    hints = [(name, values.suggestion(name, known, _NEAR)) for name in strange]
    return [f"{name} is not read{hint}" for name, hint in hints if hint]


def switched_on(text: str) -> bool:
    """Whether a text says yes. Raises ValueError if it says neither yes nor no."""
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


def _say(layer: Layer, key: Key, texts: list[str], origin: Origin, faults: list[str]) -> None:
    try:
        layer.values[key.name] = Value(_read(key, texts, layer.folder), origin)
    except ValueError as error:
        faults.append(f"{origin}: {error}")


def _read(key: Key, texts: list[str], folder: str) -> object:
    """What texts say of a key. Raises ValueError with what is wrong."""
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
        return values.choice(text, key.choices)
    if key.kind == keys.GPU:
        return values.gpu(text)
    if key.kind == keys.SWITCH:
        return switched_on(text)
    if not is_whole(text) or int(text) < 1:
        raise ValueError(f'"{text}" is not a whole number from 1')
    return int(text)


def _release(text: str) -> tuple[str, str]:
    name, equals, release = text.partition("=")
    if not equals:
        raise ValueError(f'"{text}" names no release; write ENGINE=RELEASE, such as vllm=0.19.1')
    return values.engine(name), values.release(name, release)
