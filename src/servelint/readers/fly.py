"""`fly.toml` of Fly.io: the image of an app, the command of each of its processes, its variables and GPUs.

A command of `[processes]` replaces the image's CMD and is split into words without a shell; `[experimental]` sets CMD and the
entrypoint of all processes (https://fly.io/docs/reference/configuration/). An app that is built
from a Dockerfile is read there.
"""

from __future__ import annotations

import re

from servelint.core.launch import Container, Launch, Variable, Word
from servelint.core.numbers import is_whole
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.files.siblings import Neighbours
from servelint.readers.containers import identified, in_container
from servelint.readers.context import CommandContext
from servelint.readers.registry import Format
from servelint.syntax.shell.words import split

FORMAT = Format(
    "fly",
    207,
    title="Fly.io",
    about="`fly.toml`: the image, the processes with their commands, variables and GPUs",
    files=("fly.toml", "fly.*.toml", "*.fly.toml"),
)

_LINE = re.compile(
    r"[ \t]*(?:\[\[?[ \t]*(?P<table>[\w.'\"-]+)[ \t]*\]\]?|(?P<key>[\w.-]+|\"[\w.-]+\"|'[\w.-]+')[ \t]*=[ \t]*"
    r"(?P<value>\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|\[[^\[\]]*\]|[\w.+:-]+))[ \t]*(?:\#[^\n]*)?(?=\r?\n|\Z)",
    re.MULTILINE,
)
"""A table, or a key with a text, a list of texts, a number or a switch. What else a file has says nothing of a command."""
_TEXT = re.compile(r"\"(?P<basic>(?:\\.|[^\"\\\n])*)\"|'(?P<literal>[^'\n]*)'")
_ESCAPE = re.compile(r"\\(.)")


def read(source: Source, _neighbours: Neighbours) -> list[Launch]:
    """The launches of the processes of an app whose image is named."""
    fields: dict[str, tuple[Span, Span]] = {}
    env: dict[str, Variable] = {}
    processes: dict[str, Span] = {}
    table, machines = "", 0
    for match in _LINE.finditer(source.text):
        if match["table"] is not None:
            table = match["table"]
            machines += table == "vm"
            continue
        key, value = match["key"].strip("\"'"), Span(source, *match.span("value"))
        if table == "env":
            env[key] = Variable(key, _text(value), Span(source, *match.span("key")).to(value))
        elif table == "processes":
            processes[key] = value
        else:
            fields[f"{table}.{key}".lstrip(".")] = Span(source, *match.span("key")), value
    if "build.image" not in fields:
        return []
    named = _text(fields["build.image"][1])
    image = identified(named)
    product = fields.get("vm.gpu_kind") if machines == 1 else None
    count = fields["vm.gpus"][1].text if "vm.gpus" in fields else "1"
    settings = {"gpu_product": _text(product[1])} if product is not None else {}
    gpus = int(count) if product is not None and is_whole(count) else None
    container = Container(named, settings, gpus, True if product is not None else None, open=True)
    entrypoint = _words(fields["experimental.entrypoint"][1]) if "experimental.entrypoint" in fields else None
    found: list[Launch] = []
    default = fields["experimental.cmd"][1] if "experimental.cmd" in fields else None
    for name in processes or ("app",):
        command = processes.get(name, default)
        site = command if command is not None else fields["build.image"][0].to(fields["build.image"][1])
        context = CommandContext(source, name, site, env, container, image.claims, open_env=True)  # `fly secrets` sets more
        found += in_container(entrypoint, _words(command) if command is not None else [], image, context)
    return found


def _text(value: Span) -> TracedText:
    """The text of a value, without its quotes."""
    found = _TEXT.fullmatch(value.text)
    if found is None:
        return TracedText.at(value.source, value.start, value.end)
    start = value.start + 1
    text = TracedText.at(value.source, start, value.end - 1)
    return text if found["basic"] is None else text.sub(_ESCAPE, lambda match: text.cut(*match.span(1)))


def _words(value: Span) -> list[Word]:
    """The items of a list, or the words of a command."""
    if not value.text.startswith("["):
        return split(_text(value))
    spans = [value.sub(*match.span()) for match in _TEXT.finditer(value.text)]
    return [Word(_text(span), span) for span in spans]
