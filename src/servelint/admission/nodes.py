"""An object as the nodes that its JSON has when YAML reads it, built from what the JSON was read into: libyaml would read the
text once more, and takes twice as long."""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import Any

from servelint.core import bounds
from servelint.syntax import yaml
from servelint.syntax.yaml import PLAIN, STRING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.yaml import Node

_WORDS = {True: "true", False: "false", None: "null"}
_KEY_AT_MOST = 1000
"""libyaml takes no longer ones in the place of a key."""
_DEPTH_AT_MOST = min(100, bounds.YAML_DEPTH.most)


class _OtherwiseError(Exception):
    """Something in an object that is left to libyaml."""


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
            node = yaml.new_scalar(key, at, end, STRING, '"')
            at = end + 2
            if type(value) is str:
                end = at + len(encode_basestring(value))
                found.append((node, yaml.new_scalar(value, at, end, STRING, '"')))
            else:
                other, end = self._other(value, at, depth)
                found.append((node, other))
            at = end + 2
        at = at - 1 if found else start + 2  # no comma behind the last
        return yaml.new_mapping(found, start, at), at

    def _sequence(self, things: list[Any], start: int, depth: int) -> tuple[Node, int]:
        self._count(len(things), depth)
        found: list[Node] = []
        at = start + 1
        for value in things:
            if type(value) is str:
                end = at + len(encode_basestring(value))
                found.append(yaml.new_scalar(value, at, end, STRING, '"'))
            else:
                other, end = self._other(value, at, depth)
                found.append(other)
            at = end + 2
        at = at - 1 if found else start + 2
        return yaml.new_sequence(found, start, at), at

    def _other(self, value: Any, at: int, depth: int) -> tuple[Node, int]:
        """A node that is no text."""
        kind = type(value)
        if kind is dict:
            return self.mapping(value, at, depth + 1)
        if kind is list:
            return self._sequence(value, at, depth + 1)
        if value is None or kind is bool:
            written = _WORDS[value]
        elif kind is int:
            written = str(value)
        else:
            raise _OtherwiseError  # YAML takes only some of what JSON writes for a number with a point
        return yaml.new_scalar(written, at, at + len(written), PLAIN), at + len(written)

    def _count(self, nodes: int, depth: int) -> None:
        self.left -= 2 * nodes
        if self.left < 0 or depth > _DEPTH_AT_MOST:
            raise _OtherwiseError
