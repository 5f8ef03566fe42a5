"""llama-swap: a proxy that starts a server for each model. A `cmd` is one command, whatever lines it is written on.

Its macros (`${name}`) are replaced before it is split; `${PORT}` and variables of the environment are not known.
"""

from __future__ import annotations

import re

from servelint.core.launch import Launch, Variable
from servelint.core.source import Source, Span
from servelint.core.text import Text, unknown
from servelint.readers.commands import launches as launches_of
from servelint.readers.place import Place
from servelint.readers.tasks.values import environment, section, verbatim
from servelint.syntax import yaml
from servelint.syntax.shell.words import split
from servelint.syntax.yaml import Entries, Node

_MACRO = re.compile(r"\$\{(?P<name>[\w.-]+)\}")
_COMMENT = re.compile(r"^[ \t]*#[^\n]*\n?", re.MULTILINE)
_CONTINUED = re.compile(r"\\(?=[ \t]*(?:\n|\Z))")
_DEPTH = 10
_LENGTH_AT_MOST = 20_000


def is_mine(source: Source, document: Node) -> bool:
    del source
    models = [yaml.entries(node) for _, node in section(yaml.entries(document), "models").values()]
    return bool(models) and all("cmd" in model for model in models if model) and any(models)


def launches(source: Source, document: Node) -> list[Launch]:
    fields = yaml.entries(document)
    found: list[Launch] = []
    outer = _macros(source, fields)
    for name, (_, node) in section(fields, "models").items():
        model = yaml.entries(node)
        if "cmd" not in model or yaml.scalar(model["cmd"][1]) is None:
            continue
        key, value = model["cmd"]
        macros = {**outer, **_macros(source, model)}
        command = _replaced(_one_line(verbatim(source, value)), macros)
        site = Span(source, yaml.start(key), yaml.span(source, value).end)
        env = {
            variable.name: Variable(variable.name, _replaced(variable.value, macros), variable.site)
            for variable in (environment(source, model["env"][1]) if "env" in model else {}).values()
            if variable.value is not None
        }
        place = Place(source, f"models.{name}", site, env)
        found += launches_of(split(_one_line(command)), place)
    return found


def _macros(source: Source, fields: Entries) -> dict[str, Text]:
    return {
        name: verbatim(source, value)
        for name, (_, value) in section(fields, "macros").items()
        if yaml.scalar(value) is not None
    }


def _one_line(text: Text) -> Text:
    """A command without its comment lines and without the backslashes at line ends."""
    parts: list[Text] = []
    done = 0
    for match in sorted([*_COMMENT.finditer(text.flat), *_CONTINUED.finditer(text.flat)], key=lambda one: one.start()):
        if match.start() >= done:
            parts.append(text.cut(done, match.start()))
            done = match.end()
    return Text.join([*parts, text.cut(done)]) if parts else text


def _replaced(text: Text, macros: dict[str, Text], depth: int = 0) -> Text:
    parts: list[Text] = []
    done = length = 0
    for match in _MACRO.finditer(text.flat):
        known = macros.get(match["name"]) if depth < _DEPTH and length < _LENGTH_AT_MOST else None
        value = Text((unknown(match.group(), text.span(*match.span())),)) if known is None else known
        value = _replaced(value, macros, depth + 1) if known is not None else value
        parts += [text.cut(done, match.start()), value]
        length += len(value)
        done = match.end()
    return Text.join([*parts, text.cut(done)]) if parts else text
