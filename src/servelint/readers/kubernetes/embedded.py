"""YAML that stands as a text inside YAML: `patch: |-`, `serveConfigV2: |`."""

from __future__ import annotations

from collections.abc import Callable

import yaml

from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.readers import moved
from servelint.syntax import yaml as yaml_nodes
from servelint.syntax.yaml import Node

Read = Callable[[Source, list[Node]], list[Launch]]


def launches(source: Source, node: Node, read: Read) -> list[Launch]:
    """What `read` makes of the documents in a text, with spans in the file.

    A literal block is YAML as it stands, indented throughout: it is parsed in place. Other texts are read on their own.
    """
    if not isinstance(node, yaml.ScalarNode):
        return []
    if node.style == "|":
        start = source.text.find("\n", node.start_mark.index) + 1
        found, _ = yaml_nodes.documents(Source(source.path, source.text[start : node.end_mark.index])) if start else ([], None)
        _move(found, start)
        return read(source, found)
    text = yaml_nodes.text(source, node)
    inner = Source(source.path, text.flat)
    found, _ = yaml_nodes.documents(inner)
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
        node.start_mark, node.end_mark = (_at(mark.index + by) for mark in (node.start_mark, node.end_mark))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            waiting += [one for pair in node.value for one in pair]


def _at(index: int) -> yaml.Mark:
    return yaml.Mark("", index, 0, 0, None, 0)
