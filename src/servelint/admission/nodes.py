"""An object as the nodes that its JSON has when YAML reads it, built from what the JSON was read into: libyaml would read the
text once more, and takes twice as long."""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import Any

import yaml

from servelint.core import bounds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.yaml import Node

_TAG = "tag:yaml.org,2002:"
_TEXT, _MAPPING, _SEQUENCE = _TAG + "str", _TAG + "map", _TAG + "seq"
_WORDS = {True: ("true", _TAG + "bool"), False: ("false", _TAG + "bool"), None: ("null", _TAG + "null")}
_KEY_AT_MOST = 1000
"""libyaml takes no longer ones in the place of a key."""
_DEPTH_AT_MOST = min(100, bounds.YAML_DEPTH.most)


class _OtherwiseError(Exception):
    """Something in an object that is left to libyaml."""


class _Place:
    """Where a node begins or ends. index: the offset"""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


_place: Any = _Place
"""For PyYAML's own, of which nobody asks more."""


def of(thing: dict[str, Any], text: str) -> Node | None:
    """The nodes of an object; None where libyaml is to read its text. text: `json.dumps(thing, ensure_ascii=False)`"""
    if "{{" in text or "{%" in text:
        return None  # it may be a template
    try:
        node, end = _Builder().mapping(thing, 0, 0)
    except _OtherwiseError:
        return None
    return node if end == len(text) else None


class _Builder:
    """left: how many nodes may be made yet"""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = bounds.YAML_NODES.most

    def mapping(self, thing: dict[str, Any], start: int, depth: int) -> tuple[Node, int]:
        """A mapping that begins at an offset, and where it ends."""
        self._count(len(thing), depth)
        found: list[tuple[Node, Node]] = []
        at = start + 1
        for key, value in thing.items():
            if len(key) > _KEY_AT_MOST:
                raise _OtherwiseError
            end = at + len(encode_basestring(key))
            node = yaml.ScalarNode(_TEXT, key, _place(at), _place(end), '"')
            at = end + 2
            if type(value) is str:
                end = at + len(encode_basestring(value))
                found.append((node, yaml.ScalarNode(_TEXT, value, _place(at), _place(end), '"')))
            else:
                other, end = self._other(value, at, depth)
                found.append((node, other))
            at = end + 2
        at = at - 1 if found else start + 2  # no comma behind the last
        return yaml.MappingNode(_MAPPING, found, _place(start), _place(at), flow_style=True), at

    def _sequence(self, things: list[Any], start: int, depth: int) -> tuple[Node, int]:
        self._count(len(things), depth)
        found: list[Node] = []
        at = start + 1
        for value in things:
            if type(value) is str:
                end = at + len(encode_basestring(value))
                found.append(yaml.ScalarNode(_TEXT, value, _place(at), _place(end), '"'))
            else:
                other, end = self._other(value, at, depth)
                found.append(other)
            at = end + 2
        at = at - 1 if found else start + 2
        return yaml.SequenceNode(_SEQUENCE, found, _place(start), _place(at), flow_style=True), at

    def _other(self, value: Any, at: int, depth: int) -> tuple[Node, int]:
        """A node that is no text."""
        kind = type(value)
        if kind is dict:
            return self.mapping(value, at, depth + 1)
        if kind is list:
            return self._sequence(value, at, depth + 1)
        if value is None or kind is bool:
            written, tag = _WORDS[value]
        elif kind is int:
            written, tag = str(value), _TAG + "int"
        else:
            raise _OtherwiseError  # YAML takes only some of what JSON writes for a number with a point
        return yaml.ScalarNode(tag, written, _place(at), _place(at + len(written)), ""), at + len(written)

    def _count(self, nodes: int, depth: int) -> None:
        self.left -= 2 * nodes
        if self.left < 0 or depth > _DEPTH_AT_MOST:
            raise _OtherwiseError
