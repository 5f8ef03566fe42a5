"""YAML that stands as a text inside YAML: `patch: |-`, `serveConfigV2: |`."""

from __future__ import annotations

from collections.abc import Callable

from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.readers import moved
from servelint.syntax import yaml
from servelint.syntax.yaml import Node

Read = Callable[[Source, list[Node]], list[Launch]]


def launches(source: Source, node: Node, read: Read) -> list[Launch]:
    """What `read` makes of the documents in a text, with spans in the file.

    A literal block is YAML as it stands, indented throughout: it is parsed in place. Other texts are read on their own.
    """
    if not yaml.is_scalar(node):
        return []
    if node.style == "|":
        start = source.text.find("\n", yaml.start(node)) + 1
        found, _ = yaml.documents(Source(source.path, source.text[start : yaml.end(node)])) if start else ([], None)
        _move(found, start)
        return read(source, found)
    text = yaml.text(source, node)
    inner = Source(source.path, text.flat)
    found, _ = yaml.documents(inner)
    return moved.launches(read(inner, found), inner, text, source)


def _move(nodes: list[Node], by: int) -> None:
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
