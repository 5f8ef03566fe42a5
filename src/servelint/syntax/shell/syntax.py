"""Shell syntax: trees by tree-sitter-bash, assignments and simple commands. It takes 20 ms to import: only for shell texts."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

import tree_sitter
import tree_sitter_bash

from servelint.core import bounds
from servelint.core.text import EMPTY, TracedText
from servelint.syntax.shell import lexer
from servelint.syntax.shell.expand import Raw, is_plain
from servelint.syntax.shell.lexer import neutral
from servelint.syntax.shell.words import gaps

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
# what may trip the grammar: an escape, a lone `$`, an expansion that is more than a name with a plain default
_STUMBLE = re.compile(r"\\(?!\n)|\$(?![A-Za-z_0-9{(@*#?$!'\"-])|\$\{(?!\w+(?:\[[@*\w]+\])?(?::?[-+=?][\w./-]*)?\})")
_KEPT_AT_MOST = 400
"""Characters of a text whose tree is kept."""
_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


class Node:
    """A node of the tree; the library's answers are kept, as it makes each one anew. background: an `&` follows it."""

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
        """Whether the parser found an error in it."""
        return self._node.has_error

    @property
    def children(self) -> list[Node]:
        """Its children."""
        found = self._children
        if found is None:
            found = self._children = [Node(child) for child in self._node.children]
            for one, after in pairwise(found):
                one.background = after.type == "&"
        return found

    @property
    def parts(self) -> list[Node]:
        """Its named children, without comments."""
        found = self._parts
        if found is None:
            found = self._parts = [child for child in self.children if child.is_named and child.type != "comment"]
        return found

    def fields(self, name: str) -> list[Node]:
        """Its children with a name in the grammar."""
        if self._fields is None:
            self._fields = {}
        found = self._fields.get(name)
        if found is None:
            named = self._node.children_by_field_name(name)
            found = self._fields[name] = [child for child in self.children if child._node in named]
        return found

    def field(self, name: str) -> Node | None:
        """Its first child with a name in the grammar; None without one."""
        found = self.fields(name)
        return found[0] if found else None

    @property
    def text(self) -> str:
        """What the parser read: the characters as written, if they are plain ASCII."""
        return (self._node.text or b"").decode()


def read(flat: str) -> Node:
    """The tree of a text. Trees of short texts are kept, and the last two of long ones: a script, and what many source."""
    return _kept(flat) if len(flat) < _KEPT_AT_MOST else _kept_long(flat)


@lru_cache(maxsize=256)
def _kept(flat: str) -> Node:
    return _parsed(flat)


@lru_cache(maxsize=2)
def _kept_long(flat: str) -> Node:
    return _parsed(flat)


def _parsed(flat: str) -> Node:
    if _STUMBLE.search(flat) is not None:
        flat = neutral(flat)
    # one byte a character keeps byte offsets and code points equal; bash treats these as word characters too
    if _TIMED.search(flat) is not None:
        flat = _BEFORE_COMPOUND.sub(_blank, flat)
    return Node(_PARSER.parse((flat if flat.isascii() else _NOT_ASCII.sub("X", flat)).encode("ascii")).root_node)


_TIMED = re.compile(r"(?:time|coproc)[ \t]")
_BEFORE_COMPOUND = re.compile(
    r"(?m)(?:^|[;&|(!]|\b(?:do|then|else)(?=\s))[ \t]*(?P<word>(?:time(?:[ \t]+-p)?|coproc[ \t]+[A-Za-z_]\w*)"
    r"(?=[ \t]+(?:[{(][\s(]|\((?!\()|(?:if|for|while|until|case)[ \t]))|coproc(?=[ \t]))"
)
"""`coproc`, its name, and `time` before a compound command, which the grammar does not know."""


def _blank(match: re.Match[str]) -> str:
    start, end = (at - match.start() for at in match.span("word"))
    whole = match.group()
    return whole[:start] + " " * (end - start) + whole[end:]


_TARGET = re.compile(r"([A-Za-z_]\w*)(?:\[((?:[^\[\]]|\[[^\]]*\])*)\])?(\+?=)", re.ASCII)
NOWHERE = "/dev/null"
_WRITES = frozenset((">", ">>", ">|", "1>", "1>>", "&>", "&>>"))
_LINE_AT_MOST = 2_000
"""Characters of a line whose shape is kept."""


class Script:
    """A shell text and its tree. A node's offsets are offsets of `text.flat`.

    Attributes:
        text: The text.
        flat: The text with blanks for the carriage returns at line ends.
        extent: Its characters in the file.
        gaps: The offsets of empty defaults in it.
        elsewhere: Whether it is in a file that the script sources.
        root: The tree.
    """

    __slots__ = ("_ends", "_raws", "_simple", "elsewhere", "extent", "flat", "gaps", "root", "text")

    def __init__(self, text: TracedText) -> None:
        self._ends: dict[int, int | None] = {}
        self._raws: dict[tuple[int, int], list[Raw]] = {}
        self._simple: dict[int, Simple] = {}
        self.gaps = gaps(text) if len(text.pieces) > 1 else []
        self.elsewhere = False
        if len(text.flat) > bounds.SCRIPT.most:
            bounds.SCRIPT.reached(text.extent())
            text = EMPTY
        self.text = text
        self.extent = text.extent()
        flat = text.flat
        if "\r" in flat:
            flat = flat.replace("\\\r\n", " \\\n").replace("\r\n", " \n")
        self.flat = flat
        self.root = read(flat)

    def cut(self, node: Node) -> TracedText:
        """The text of a node."""
        return self.text.cut(node.start_byte, node.end_byte)

    def assignment(self, node: Node) -> Assignment | None:
        """The assignment of a node; None if it is not one."""
        start = node.start_byte
        if start not in self._ends:
            self._ends[start] = _assignment_end(self.flat, start)
        end = self._ends[start]
        return assignment(self.text.cut(start, end)) if end is not None else None

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
            found = self._simple[start] = Simple(self.text, self.flat, start, _Shape.at(self.flat, start))
        return found


class Assignment:
    """`name=value`, `name+=value`, `name[index]=value`, `name=(items)`.

    Attributes:
        name: The variable.
        index: The item that is set; None if none is written.
        adds: Whether the operator is `+=`.
        value: What follows the operator.
    """

    __slots__ = ("_items", "adds", "index", "name", "value")

    def __init__(self, raw: TracedText, target: re.Match[str]) -> None:
        self.name: str = target.group(1)
        self.index = raw.cut(target.start(2), target.end(2)) if target.group(2) is not None else None
        self.adds = target.group(3) == "+="
        self.value = Raw(raw.cut(target.end()))
        self._items: list[tuple[TracedText | None, Raw]] | None = None

    @property
    def array(self) -> bool:
        """Whether the value is `(items)`."""
        return self.value.text.flat[:1] == "("

    @property
    def items(self) -> list[tuple[TracedText | None, Raw]]:
        """The items of an array, each with its key if one is written."""
        if self._items is None:
            raw = self.value.text
            ranges = lexer.items(raw.flat, 1, len(raw.flat) - raw.flat.endswith(")"))
            self._items = [_item(raw.cut(start, end)) for start, end in ranges]
        return self._items


def _item(word: TracedText) -> tuple[TracedText | None, Raw]:
    index, sign, _ = word.flat.partition("]=")
    if not (sign and index.startswith("[")):
        return None, Raw(word)
    return word.cut(1, len(index)), Raw(word.cut(len(index) + 2))


def assignment(raw: TracedText) -> Assignment | None:
    """The assignment that a word makes; None for any other word."""
    target = _TARGET.match(raw.flat)
    return Assignment(raw, target) if target is not None else None


def _assignment_end(flat: str, at: int) -> int | None:
    """The offset where the assignment that starts at an offset ends; None if none does."""
    target = _TARGET.match(flat, at)
    if target is None:
        return None
    end = lexer.word_end(flat, target.end())
    if end == target.end() and flat.startswith("(", end):
        end = min(lexer.matching(flat, end + 1, ")") + 1, len(flat))
    return end


class _Shape:
    """The parts of a simple command, by offsets from its start: the same for every command of the same characters.

    Attributes:
        words, strings, files: As in lexer.Command.
        cut, open: As in lexer.Command.
        end: The offset of its end.
        count: How many of its words are assignments in front of the others.
        plain: Whether each other word is its own value.
    """

    __slots__ = ("count", "cut", "end", "files", "open", "plain", "strings", "words")

    def __init__(self, flat: str, start: int, found: lexer.Command) -> None:
        self.cut = found.cut
        self.open = found.open
        self.end = found.end - start
        self.words = [(low - start, high - start) for low, high in found.words]
        self.strings = [(low - start, high - start) for low, high in found.strings]
        self.files = [(operator, (low - start, high - start)) for operator, (low, high) in found.files]
        words = [flat[low:high] for low, high in found.words]
        self.count = next((index for index, word in enumerate(words) if _TARGET.match(word) is None), len(words))
        self.plain = [is_plain(word) for word in words[self.count :]]

    @staticmethod
    def at(flat: str, start: int) -> _Shape:
        return _shape(flat, start)


def writes(operator: str, path: str) -> bool:
    """Whether a redirection writes a file that the script may read again."""
    return operator in _WRITES and path != NOWHERE


def _shape(flat: str, start: int) -> _Shape:
    end = flat.find("\n", start)
    while end > start and flat[end - 1] == "\\":
        end = flat.find("\n", end + 1)
    if end == -1:
        end = len(flat)
    if end - start < _LINE_AT_MOST and (found := _line(flat[start : end + 1])) is not None:
        return found
    return _Shape(flat, start, lexer.command(flat, start))


@lru_cache(maxsize=4096)
def _line(line: str) -> _Shape | None:
    """The shape of the command that starts a line; None if it depends on what follows the line."""
    if "(" in line and ("<<" in line or "case" in line):
        return None
    found = lexer.command(line, 0)
    return None if found.open or found.end >= len(line) else _Shape(line, 0, found)


class Simple:
    """A simple command, whose parts are read once.

    Attributes:
        shape: The places of its parts, by offsets from its start.
        end: The offset of its end.
        assignments: Those in front of its words.
        words: Its words without those assignments.
        strings: Its here-strings.
        files: The operator of each redirection, and the word that names its file.
        site: From its first character to the end of its last word.
        lost: What looks like its rest (lexer.lost).
    """

    __slots__ = ("_declared", "assignments", "end", "files", "lost", "shape", "site", "start", "strings", "text", "words")

    def __init__(self, text: TracedText, flat: str, start: int, shape: _Shape) -> None:
        self.text = text.cut(start, start + shape.end)
        self.start = start
        self.shape = shape
        self.end = start + shape.end
        places = shape.words
        cut = self._cut
        self.words = [Raw(cut(place), plain) for place, plain in zip(places[shape.count :], shape.plain, strict=True)]
        made = [assignment(cut(place)) for place in places[: shape.count]]
        self.assignments = [one for one in made if one is not None]
        self.strings = [Raw(cut(place)) for place in shape.strings]
        self.files = [(operator, Raw(cut(place))) for operator, place in shape.files]
        self.site = self.text.extent(0, places[-1][1]) if places else None
        after = lexer.lost(flat, self.end)
        self.lost = text.extent(*after) if after is not None else None
        self._declared: list[Assignment | Raw] | None = None

    def _cut(self, place: lexer.Range) -> TracedText:
        return self.text.cut(place[0], place[1])

    @property
    def ranges(self) -> list[lexer.Range]:
        """The offsets of its words without the assignments."""
        return [(self.start + low, self.start + high) for low, high in self.shape.words[self.shape.count :]]

    @property
    def all_words(self) -> list[Raw]:
        """Its words with the assignments."""
        if not self.shape.count:
            return self.words
        return [*[Raw(self._cut(place)) for place in self.shape.words[: self.shape.count]], *self.words]

    @property
    def declared(self) -> list[Assignment | Raw]:
        """What follows a word such as `export`: names with a value, and other words."""
        if self._declared is None:
            self._declared = [assignment(word.text) or word for word in self.all_words[1:]]
        return self._declared
