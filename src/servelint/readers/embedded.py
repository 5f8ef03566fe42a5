"""Texts that a file holds, read as the files that they are, with every span back in the file that holds them."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from typing import Any

from servelint.core.launch import Branch, Container, Launch, Mishap, Port, Probe, ReleaseClaim, Runtime, Variable, Word
from servelint.core.run import current
from servelint.core.source import Source, Span
from servelint.core.text import HOLE, Piece, TracedText
from servelint.readers.registry import JSON, YAML, recognise
from servelint.syntax import yaml
from servelint.syntax.yaml import Node

_RECORDS = (Branch, Variable, ReleaseClaim, Container, Mishap, Runtime, Port, Probe)


def moved(found: list[Launch], shown: Source, text: TracedText, source: Source) -> list[Launch]:
    """The launches of a source that holds a text's characters, as launches of the file that the text was taken from.

    shown: what was read, as long as `text.flat`; a character that differs is there what it is in the text;  source: the file
    """
    move = _Mover(shown, text, source)
    if (run := current()) is not None:
        run.unjudged = [(move.text(image), message) for image, message in run.unjudged]
    return [move.launch(launch) for launch in found]


def taken(part: TracedText, shown: Source, text: TracedText) -> TracedText:
    """A part of a source that holds a text's characters, with the places that these have."""
    return _Mover(shown, text, shown).text(part)


class _Mover:
    def __init__(self, shown: Source, text: TracedText, source: Source) -> None:
        self.shown = shown
        self.original = text
        self.source = source
        self.done: set[int] = set()

    def launch(self, launch: Launch) -> Launch:
        """The launch itself, moved; once, since launches of one deployment name each other."""
        if id(launch) in self.done:
            return launch
        self.done.add(id(launch))
        launch.others = launch.alternatives  # those that are found later would stay where they are
        self.fields(launch)
        launch.source = self.source if launch.source is self.shown else launch.source
        launch.site = launch.site or Span(self.source, 0, 0)
        return launch

    def fields(self, record: object) -> None:
        for name in type(record).__slots__:  # type: ignore[attr-defined]
            setattr(record, name, self.value(getattr(record, name)))

    def value(self, value: Any) -> Any:
        """A field of a launch or of a record that it has, with each place in the file."""
        if isinstance(value, TracedText):
            return self.text(value)
        if isinstance(value, Span):
            return self.span(value)
        if isinstance(value, Word):
            return Word(self.text(value.text), self.span(value.site), value.many)
        if isinstance(value, (list, tuple)):
            return type(value)([self.value(one) for one in value])
        if isinstance(value, dict):
            return {name: self.value(one) for name, one in value.items()}
        if isinstance(value, Launch):
            return self.launch(value)
        if isinstance(value, _RECORDS):
            value = copy(value)
            self.fields(value)
        return value

    def span(self, span: Span | None) -> Span | None:
        if span is None or span.source is not self.shown:
            return span
        if span.start < span.end:
            return self.original.extent(span.start, span.end)
        at = self.original.extent(span.start, span.start + 1)
        return Span(at.source, at.start, at.start) if at is not None else None

    def text(self, text: TracedText) -> TracedText:
        if all(piece.span is None or piece.span.source is not self.shown for piece in text.pieces):
            return text
        return TracedText([piece for old in text.pieces for piece in self.pieces(old)])

    def pieces(self, piece: Piece) -> list[Piece]:
        span = piece.span
        if piece.verbatim and piece.expression is None and span is not None and span.source is self.shown:
            part = self.original.cut(span.start, span.end)
            if piece.origin is None:
                return list((part.softened() if piece.assumed else part).pieces)
        return [
            Piece(
                piece.text,
                self.span(span),
                verbatim=False,
                expression=piece.expression,
                shown=piece.shown,
                assumed=piece.assumed,
                origin=self.span(piece.origin),
                perhaps=self.text(piece.perhaps) if piece.perhaps is not None else None,
            )
        ]


_WRITTEN = (YAML, JSON, "apptainer", "dockerfile", "launchd", "python", "supervisor", "systemd")
_COMMENTS = r"\A(?:[ \t]*(?:[#;][^\n]*)?\n)*"
_SHAPES = (
    (re.compile(_COMMENTS + r"[ \t]*\[(?:Unit|Service)\][ \t]*$", re.MULTILINE), "written.service"),
    (re.compile(_COMMENTS + r"[ \t]*\[program:[^\]\n]+\][ \t]*$", re.MULTILINE), "supervisord.conf"),
    (re.compile(r"\A#cloud-config\b"), "cloud-config.yaml"),
    (re.compile(r"\A[ \t]*bootstrap[ \t]*:[ \t]*\w", re.IGNORECASE), "written.apptainer"),
    (
        re.compile(_COMMENTS + r"(?:---[ \t]*\n)?[ \t]*(?:apiVersion|services|version|name):[ \t]*\S*[^\n]*$", re.MULTILINE),
        "written.yaml",
    ),
    (re.compile(r"\A\s*\[?\s*\{\s*\""), "written.json"),
    (re.compile(r"\A\s*<(?:\?xml|!DOCTYPE\s+plist|plist)\b"), "written.plist"),
)
"""How a file begins that another one holds, with a name that says what it is."""
_BARE = re.compile(rf"(?<=[:\[,\s]){HOLE}(?=\s*[,}}\]])")
"""An unknown value in JSON that is not in quotes: a number."""


def shape(text: str) -> str | None:
    """A name for a file by how its text begins: a unit, a manifest, JSON; None for anything else."""
    return next((name for pattern, name in _SHAPES if pattern.search(text) is not None), None)


def may_hold(name: str, text: str) -> bool:
    """Whether a file that a script writes is a unit, a manifest or a Python program, by its name or how it begins."""
    return recognise(Source(name, text)) in _WRITTEN


def of_written(name: str, text: TracedText, source: Source, environment: dict[str, TracedText] | None = None) -> list[Launch]:
    """The launches of a file that a script writes, which is a unit, a manifest or a Python program.

    Args:
        name: The file's name.
        text: What it writes, with the characters of the script.
        source: The script.
        environment: The variables that a Python program is given.
    """
    from servelint import readers

    program = name.endswith(".py")
    if "<plist" in text.flat:
        text = _with_tags(text)
    flat = _BARE.sub("0", text.flat) if name.endswith(".json") else text.flat
    inner = Source(name, flat.replace(HOLE, "_") if program else flat)
    if not readers.mentions_engine(inner.text.encode()) or recognise(inner) not in _WRITTEN:
        return []
    if program and not _is_python(inner.text):
        return []
    if program and environment:
        from servelint.files.siblings import Neighbours
        from servelint.readers import python

        return moved(python.read(inner, Neighbours(None), environment), inner, text, source)
    return moved([launch for launch in readers.read(inner).launches if not launch.fragment], inner, text, source)


def _with_tags(text: TracedText) -> TracedText:
    """A text in XML with its tags, which look like placeholders of a command: `<key>`."""
    pieces: list[Piece] = []
    for piece in text.pieces:
        tag = piece.span if re.fullmatch(r"</?\w+/?>", piece.expression or "") is not None else None
        pieces += TracedText.at(tag.source, tag.start, tag.end).pieces if tag is not None else [piece]
    return TracedText(pieces)


def _is_python(text: str) -> bool:
    import ast

    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


Read = Callable[[Source, list[Node]], list[Launch]]


_UNFILLED = re.compile(r"(?<=[:,\[{ ])\$\{(\w+)\}(?=\s*[,}\]])")
"""A variable in braces or brackets, which is YAML only when envsubst has filled it in."""


def of_yaml(source: Source, node: Node, read: Read) -> list[Launch]:
    """What `read` makes of the documents in a text, with spans in the file.

    A literal block is YAML as it stands, indented throughout: it is parsed in place. Other texts are read on their own.
    """
    if not yaml.is_scalar(node):
        return []
    if node.style == "|":
        start = source.text.find("\n", yaml.start(node)) + 1
        written = source.text[start : yaml.end(node)]
        found, problem = yaml.documents(Source(source.path, written)) if start else ([], None)
        if problem is not None:
            found, _ = yaml.documents(Source(source.path, _UNFILLED.sub(r"$_\1_", written)))
        _shift(found, start)
        return read(source, found)
    text = yaml.text(source, node)
    inner = Source(source.path, text.flat)
    found, _ = yaml.documents(inner)
    return moved(read(inner, found), inner, text, source)


def _shift(nodes: list[Node], by: int) -> None:
    """Put the marks of some nodes, and of all in them, further on."""
    seen: set[int] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yaml.move(node, by)
        if yaml.is_sequence(node):
            waiting += node.value
        elif yaml.is_mapping(node):
            waiting += [one for pair in node.value for one in pair]
