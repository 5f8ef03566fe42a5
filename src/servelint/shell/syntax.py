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
_FUNCTION = re.compile(r"^[A-Za-z_][\w-]*[ \t]*\(\)[ \t]*\{\n", re.ASCII | re.MULTILINE)
_FUNCTION_AT_MOST = 8_000
_BODIES_AT_MOST = 256
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
    return _tree(neutral(flat) if _STUMBLE.search(flat) else flat)


def _tree(flat: str) -> Node:
    return Node(_PARSER.parse(_ascii(flat).encode("ascii")).root_node)


def _ascii(flat: str) -> str:
    """One byte a character keeps byte offsets and code points equal; bash treats these as word characters too."""
    return flat if flat.isascii() else _NOT_ASCII.sub("X", flat)


def _body(flat: str) -> Node | None:
    """The tree of what is a function's body and nothing else."""
    program = _tree(flat)
    whole = len(program.children) == 1 and not program.has_error and program.children[0].end_byte == len(flat)
    return program.children[0] if whole else None


@lru_cache(maxsize=256)
def _kept(flat: str) -> Node:
    """The tree of a short text: of a substitution, of what follows `bash -c`."""
    return _parsed(flat)


class _Part:
    """A function's body, as it was read before: in an editor most of a script stays as it is while a line of it is typed.

    root:  its tree, None until it was met twice;  met: how often it was
    alone: its characters are read so wherever they stand
    names, pure, shapes: those of its script
    """

    __slots__ = ("alone", "met", "names", "pure", "root", "shapes")

    def __init__(self) -> None:
        self.alone = False
        self.met = 0
        self.root: Node | None = None
        self.names: dict[int, list[str] | None] = {}
        self.pure: dict[tuple[int, str], frozenset[str] | None] = {}
        self.shapes: dict[int, Shape] = {}

    def tree(self, flat: str, read: str) -> Node | None:
        self.met += 1
        if self.met == _MET_BEFORE:
            self.root = _body(read)
            alone = _body(neutral(flat)) if self.root is not None else None
            self.alone = alone is not None and self.root is not None and alone.count == self.root.count
        if self.alone:
            plain = read == _ascii(flat)
            if (flat, plain) not in _bodies:
                if len(_bodies) >= _BODIES_AT_MOST:
                    _bodies.clear()
                _bodies[flat, plain] = self
        return self.root


_bodies: dict[tuple[str, bool], _Part] = {}
"""Bodies that are read the same wherever they stand, by their characters and by whether these are what the parser read."""


def _around(flat: str) -> tuple[Node, dict[int, _Part]] | None:
    """The tree of a script with nothing in those functions' bodies that are known, and these by where they start.

    To parse takes most of the time where little else is new. None where what looks like such a function is none.
    """
    found: dict[int, _Part] = {}
    kept: list[str] = []
    done = 0
    plain = _STUMBLE.search(flat) is None
    for function in _FUNCTION.finditer(flat) if _bodies else ():
        start = function.end() - 2
        end = flat.find("\n}", start, start + _FUNCTION_AT_MOST) + 2
        part = _bodies.get((flat[start:end], plain)) if end > start >= done else None
        if part is not None:
            found[start] = part
            kept += [flat[done:start], "{\n:", "\n" * (end - start - 4), "}"]
            done = end
    if not found:
        return None
    rest = "".join([*kept, flat[done:]])
    root = _tree(rest if plain else neutral(rest))
    functions = [child.field("body") for child in root.children if child.type == "function_definition"]
    starts = {body.start_byte for body in functions if body is not None and body.text == _nothing(body)}
    return None if root.has_error or not found.keys() <= starts else (root, found)


def _nothing(body: Node) -> str:
    return "{\n:" + "\n" * (body.end_byte - body.start_byte - 4) + "}"


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

    __slots__ = (
        "_known", "_raws", "_shapes", "_simple", "_tests", "elsewhere", "flat", "gaps", "names", "pure", "root", "text",
    )  # fmt: skip

    def __init__(self, text: Text) -> None:
        self.text = text
        self._raws: dict[tuple[int, int], list[Raw]] = {}
        self._shapes: dict[int, Shape] = {}
        self._simple: dict[int, Simple] = {}
        self._tests: dict[int, Test] = {}
        self.names: dict[int, list[str] | None] = {}
        self.pure: dict[tuple[int, str], frozenset[str] | None] = {}
        self.gaps = gaps(text) if len(text.pieces) > 1 else []
        self.elsewhere = False
        if len(text.flat) > limits.SCRIPT.most:
            limits.SCRIPT.reached(text.extent())
            self.text = text = EMPTY
        flat = text.flat
        if "\r" in flat:
            flat = flat.replace("\\\r\n", " \\\n").replace("\r\n", " \n")
        self.flat = flat
        self._known: dict[int, _Part] = {}
        if len(flat) < _KEPT_AT_MOST:
            self.root = _kept(flat)
        elif (around := _around(flat)) is not None:
            self.root, self._known = around
        else:
            self.root = _parsed(flat)

    def function(self, body: Node) -> tuple[Script, Node]:
        """The script in which the body of a function is run, and the body there."""
        start, end = body.start_byte, body.end_byte
        flat = self.flat[start:end]
        known = self._known.get(start)
        if known is not None and known.root is not None:
            return self._inner(flat, start, end, known, known.root), known.root
        own = len(self.text.pieces) == 1 and end - start < _FUNCTION_AT_MOST and not body.has_error
        if not own or flat[:1] != "{" or "<<" in flat.replace("<<<", ""):  # a heredoc's text may stand behind the function
            return self, body
        read = body.text
        part = _part(flat, read)
        root = part.tree(flat, read)
        if root is None or root.count != body.count or root.type != body.type:
            return self, body
        return self._inner(flat, start, end, part, root), root

    def _inner(self, flat: str, start: int, end: int, part: _Part, root: Node) -> Script:
        """The script that a function's body is."""
        script = Script.__new__(Script)
        script.text = self.text.cut(start, end)
        script.flat = flat
        script.root = root
        script.gaps = []
        script.elsewhere = self.elsewhere
        script.names, script.pure, script._shapes = part.names, part.pure, part.shapes
        script._raws, script._simple, script._tests, script._known = {}, {}, {}, {}
        return script

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
