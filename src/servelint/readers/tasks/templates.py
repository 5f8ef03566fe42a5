"""Files that hold the command of a model as a template: llama-swap, and recipes with `defaults`."""

from __future__ import annotations

import re

from servelint.core.launch import Container, Launch, Variable
from servelint.core.source import Source, Span
from servelint.core.text import Piece, Text, unknown
from servelint.engines import images
from servelint.readers.commands import launches as launches_of
from servelint.readers.context import CommandContext
from servelint.readers.registry import YAML, Format
from servelint.readers.tasks import each, environment, optional, run, section, verbatim
from servelint.syntax import yaml
from servelint.syntax.shell.words import split
from servelint.syntax.yaml import Entries, Node

LLAMA_SWAP = Format(
    "llama-swap",
    34,
    title="llama-swap",
    about="the `cmd` of each model, with macros",
    syntax=YAML,
    bounded=True,
    is_mine="is_llama_swap",
    read="read_llama_swap",
)
RECIPE = Format(
    "recipe",
    35,
    title="model recipes",
    about="a `command` whose braces `defaults` fills in",
    syntax=YAML,
    bounded=True,
    is_mine="is_recipe",
    read="read_recipe",
)

_MACRO = re.compile(r"\$\{(?P<name>[\w.-]+)\}")
_COMMENT = re.compile(r"^[ \t]*#[^\n]*\n?", re.MULTILINE)
_CONTINUED = re.compile(r"\\(?=[ \t]*(?:\n|\Z))")
_DEPTH = 10
_LENGTH_AT_MOST = 20_000


def is_llama_swap(source: Source, document: Node) -> bool:
    del source
    models = [yaml.entries(node) for _, node in section(yaml.entries(document), "models").values()]
    return bool(models) and all("cmd" in model for model in models if model) and any(models)


def _models(source: Source, document: Node) -> list[Launch]:
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
        context = CommandContext(source, f"models.{name}", site, env)
        found += launches_of(split(_one_line(command)), context)
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


_BRACES = re.compile(r"\{\{|\}\}|\{(?P<name>[A-Za-z_][\w.]*)\}")


def is_recipe(source: Source, document: Node) -> bool:
    del source
    fields = yaml.entries(document)
    return (
        "command" in fields
        and yaml.scalar(fields["command"][1]) is not None
        and "defaults" in fields
        and (yaml.is_mapping(fields["defaults"][1]) or yaml.is_null(fields["defaults"][1]))
        and ("recipe_version" in fields or "container" in fields or "model" in fields)
    )


def _recipe(source: Source, document: Node) -> list[Launch]:
    fields = yaml.entries(document)
    given = {
        name: verbatim(source, value)
        for name, (_, value) in section(fields, "defaults").items()
        if yaml.scalar(value) is not None
    }
    model = optional(source, fields, "model")
    if model is not None:
        given.setdefault("model", model)
    named = optional(source, fields, "container", "image")
    image = images.identify(named) if named is not None else None
    env = environment(source, fields["env"][1]) if "env" in fields else {}
    container = Container(named, open=True) if named is not None else None
    context = CommandContext(source, "command", None, env, container, image.claims if image is not None else {})
    return run(_formatted(verbatim(source, fields["command"][1]), given), context, {})


def _formatted(template: Text, given: dict[str, Text]) -> Text:
    parts: list[Text] = []
    done = 0
    for match in _BRACES.finditer(template.flat):
        span = template.span(*match.span())
        if match["name"] is None:
            value = Text((Piece(match.group()[0], span),))
        else:
            known = given.get(match["name"])
            value = known.placed(span, assumed=True) if known is not None else Text((unknown(match.group(), span),))
        parts += [template.cut(done, match.start()), value]
        done = match.end()
    return Text.join([*parts, template.cut(done)])


read_llama_swap = each(_models)
read_recipe = each(_recipe)
