"""Shell syntax trees, by tree-sitter-bash. Imported only when a shell text is met: the library costs 20 ms of start-up."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

import tree_sitter
import tree_sitter_bash

from servelint.syntax.shell.lexer import neutral

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
# what may trip the grammar: an escape, a lone `$`, an expansion that is more than a name with a plain default
_STUMBLE = re.compile(r"\\(?!\n)|\$(?![A-Za-z_0-9{(@*#?$!'\"-])|\$\{(?!\w+(?:\[[@*\w]+\])?(?::?[-+=?][\w./-]*)?\})")
_KEPT_AT_MOST = 400
"""Characters of a text whose tree is kept."""
_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


class Node:
    """A node of the tree, with what a walk asks of it again and again: the library makes each answer anew.

    background: an `&` follows it
    """

    __slots__ = ("_children", "_fields", "_node", "_parts", "background", "end_byte", "is_named", "start_byte", "type")

    def __init__(self, node: tree_sitter.Node) -> None:
        self._node = node
        self.type = node.type
        self.start_byte = node.start_byte
        self.end_byte = node.end_byte
        self.is_named = node.is_named
        self.background = False
        self._children: list[Node] | None = None
        self._parts: list[Node] | None = None
        self._fields: dict[str, list[Node]] | None = None

    @property
    def has_error(self) -> bool:
        return self._node.has_error

    @property
    def children(self) -> list[Node]:
        found = self._children
        if found is None:
            found = self._children = [Node(child) for child in self._node.children]
            for one, after in pairwise(found):
                one.background = after.type == "&"
        return found

    @property
    def parts(self) -> list[Node]:
        """The named children, without comments."""
        found = self._parts
        if found is None:
            found = self._parts = [child for child in self.children if child.is_named and child.type != "comment"]
        return found

    def fields(self, name: str) -> list[Node]:
        """The children that have a name in the grammar."""
        if self._fields is None:
            self._fields = {}
        found = self._fields.get(name)
        if found is None:
            named = self._node.children_by_field_name(name)
            found = self._fields[name] = [child for child in self.children if child._node in named]
        return found

    def field(self, name: str) -> Node | None:
        found = self.fields(name)
        return found[0] if found else None

    @property
    def text(self) -> str:
        """What the parser read, which is what is written for plain ASCII: a name, a keyword, an option."""
        return (self._node.text or b"").decode()


def read(flat: str) -> Node:
    """The tree of a text; that of a short one (of a substitution, of what follows `bash -c`) is kept."""
    return _kept(flat) if len(flat) < _KEPT_AT_MOST else _parsed(flat)


@lru_cache(maxsize=256)
def _kept(flat: str) -> Node:
    return _parsed(flat)


def _parsed(flat: str) -> Node:
    if _STUMBLE.search(flat) is not None:
        flat = neutral(flat)
    # one byte a character keeps byte offsets and code points equal; bash treats these as word characters too
    return Node(_PARSER.parse((flat if flat.isascii() else _NOT_ASCII.sub("X", flat)).encode("ascii")).root_node)
