"""Shell syntax trees, by tree-sitter-bash. Imported only when a shell text is met: the library costs 20 ms of start-up."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

import tree_sitter
import tree_sitter_bash

from servelint import limits
from servelint.shell import lexer
from servelint.shell.conditions import Test
from servelint.shell.expand import Raw
from servelint.shell.lexer import neutral
from servelint.shell.simple import Shape, Simple
from servelint.shell.words import gaps
from servelint.text import EMPTY, Text

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
# what may trip the grammar: an escape, a lone `$`, an expansion that is more than a name with a plain default
_STUMBLE = re.compile(r"\\(?!\n)|\$(?![A-Za-z_0-9{(@*#?$!'\"-])|\$\{(?!\w+(?:\[[@*\w]+\])?(?::?[-+=?][\w./-]*)?\})")
_KEPT_AT_MOST = 400
"""Characters of a text whose tree is kept."""
_FUNCTION_AT_MOST = 8_000
_MET_BEFORE = 2
"""What is read once is not worth another tree."""
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
    def count(self) -> int:
        """How many nodes are below it."""
        return self._node.descendant_count

    @property
    def text(self) -> str:
        """What the parser read, which is what is written for plain ASCII: a name, a keyword, an option."""
        return (self._node.text or b"").decode()


def _parsed(flat: str) -> Node:
    if _STUMBLE.search(flat):
        flat = neutral(flat)
    if not flat.isascii():
        # one byte a character keeps byte offsets and code points equal; bash treats these as word characters too
        flat = _NOT_ASCII.sub("X", flat)
    return Node(_PARSER.parse(flat.encode("ascii")).root_node)


@lru_cache(maxsize=256)
def _kept(flat: str) -> Node:
    """The tree of a short text: of a substitution, of what follows `bash -c`."""
    return _parsed(flat)


class _Part:
    """A function's body, as it was read before: in an editor most of a script stays as it is while a line of it is typed.

    root:  its tree, None until it was met twice;  met: how often it was
    names, pure, shapes: those of its script
    """

    __slots__ = ("met", "names", "pure", "root", "shapes")

    def __init__(self) -> None:
        self.met = 0
        self.root: Node | None = None
        self.names: dict[int, list[str] | None] = {}
        self.pure: dict[tuple[int, bool], frozenset[str] | None] = {}
        self.shapes: dict[int, Shape] = {}

    def tree(self, read: str) -> Node | None:
        self.met += 1
        if self.met == _MET_BEFORE:
            program = Node(_PARSER.parse(read.encode("ascii")).root_node)
            whole = len(program.children) == 1 and not program.has_error and program.children[0].end_byte == len(read)
            self.root = program.children[0] if whole else None
        return self.root


@lru_cache(maxsize=256)
def _part(flat: str, read: str) -> _Part:
    """The body of a function by its characters, and by what the parser reads of them."""
    del flat, read
    return _Part()


class Script:
    """A shell text and its tree. A node's offsets are offsets of `text.flat`.

    flat: the text as the lexer reads it, with blanks for the carriage returns at line ends
    gaps: where defaults that are empty stand in it
    elsewhere: it stands in a file that the script in question only sources
    names: of the commands of a function that starts at an offset (servelint.shell.left_out);  pure: see servelint.shell.pure
    """

    __slots__ = ("_raws", "_shapes", "_simple", "_tests", "elsewhere", "flat", "gaps", "names", "pure", "root", "text")

    def __init__(self, text: Text) -> None:
        self.text = text
        self._raws: dict[tuple[int, int], list[Raw]] = {}
        self._shapes: dict[int, Shape] = {}
        self._simple: dict[int, Simple] = {}
        self._tests: dict[int, Test] = {}
        self.names: dict[int, list[str] | None] = {}
        self.pure: dict[tuple[int, bool], frozenset[str] | None] = {}
        self.gaps = gaps(text) if len(text.pieces) > 1 else []
        self.elsewhere = False
        if len(text.flat) > limits.SCRIPT.most:
            limits.SCRIPT.reached(text.extent())
            self.text = text = EMPTY
        flat = text.flat
        if "\r" in flat:
            flat = flat.replace("\\\r\n", " \\\n").replace("\r\n", " \n")
        self.flat = flat
        self.root = _kept(flat) if len(flat) < _KEPT_AT_MOST else _parsed(flat)

    def function(self, body: Node) -> tuple[Script, Node]:
        """The script in which the body of a function is run, and the body there."""
        start, end = body.start_byte, body.end_byte
        flat = self.flat[start:end]
        own = len(self.text.pieces) == 1 and end - start < _FUNCTION_AT_MOST and not body.has_error
        if not own or flat[:1] != "{" or "<<" in flat.replace("<<<", ""):  # a heredoc's text may stand behind the function
            return self, body
        read = body.text
        part = _part(flat, read)
        root = part.tree(read)
        if root is None or root.count != body.count or root.type != body.type:
            return self, body
        script = Script.__new__(Script)
        script.text = self.text.cut(start, end)
        script.flat = flat
        script.root = root
        script.gaps = []
        script.elsewhere = self.elsewhere
        script.names, script.pure, script._shapes = part.names, part.pure, part.shapes
        script._raws, script._simple, script._tests = {}, {}, {}
        return script, root

    def cut(self, node: Node) -> Text:
        return self.text.cut(node.start_byte, node.end_byte)

    def test(self, start: int, end: int) -> Test:
        """What stands between double brackets."""
        found = self._tests.get(start)
        if found is None:
            found = self._tests[start] = Test(self.text.cut(start, end))
        return found

    def raws(self, start: int, end: int) -> list[Raw]:
        """The words between two offsets, over line ends and comments."""
        found = self._raws.get((start, end))
        if found is None:
            ranges = lexer.items(self.flat, start, end)
            found = self._raws[start, end] = [Raw(self.text.cut(low, high)) for low, high in ranges]
        return found

    def simple(self, start: int) -> Simple:
        """The simple command that starts at an offset."""
        found = self._simple.get(start)
        if found is None:
            shape = self._shapes.get(start)
            if shape is None:
                shape = self._shapes[start] = Shape.at(self.flat, start)
            found = self._simple[start] = Simple(self.text, self.flat, start, shape)
        return found
