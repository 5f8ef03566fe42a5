"""Shell syntax trees, by tree-sitter-bash. Imported only when a shell text is met: the library costs 20 ms of start-up."""

from __future__ import annotations

import re

import tree_sitter
import tree_sitter_bash

from servelint import limits
from servelint.shell.lexer import Command, command, neutral
from servelint.shell.words import gaps
from servelint.text import EMPTY, Text

Node = tree_sitter.Node

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
# what may trip the grammar: an escape, a lone `$`, an expansion that is more than a name with a plain default
_STUMBLE = re.compile(r"\\(?!\n)|\$(?![A-Za-z_0-9{(@*#?$!'\"-])|\$\{(?!\w+(?:\[[@*\w]+\])?(?::?[-+=?][\w./-]*)?\})")
_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


class Script:
    """A shell text and its tree. A node's offsets are offsets of `text.flat`.

    flat: the text as the lexer reads it, with blanks for the carriage returns at line ends
    gaps: where defaults that are empty stand in it
    elsewhere: it stands in a file that the script in question only sources
    """

    __slots__ = ("_commands", "_cuts", "elsewhere", "flat", "gaps", "root", "text")

    def __init__(self, text: Text) -> None:
        self.text = text
        self._commands: dict[int, Command] = {}
        self._cuts: dict[tuple[int, int], Text] = {}
        self.gaps = gaps(text) if len(text.pieces) > 1 else []
        self.elsewhere = False
        if len(text.flat) > limits.SCRIPT.most:
            limits.SCRIPT.reached(text.extent())
            self.text = text = EMPTY
        flat = text.flat
        if "\r" in flat:
            flat = flat.replace("\\\r\n", " \\\n").replace("\r\n", " \n")
        self.flat = flat
        if _STUMBLE.search(flat):
            flat = neutral(flat)
        if not flat.isascii():
            # one byte a character keeps byte offsets and code points equal; bash treats these as word characters too
            flat = _NOT_ASCII.sub("X", flat)
        self.root = _PARSER.parse(flat.encode("ascii")).root_node

    def cut(self, node: Node) -> Text:
        return self.text.cut(node.start_byte, node.end_byte)

    def command(self, start: int) -> Command:
        """The simple command that starts at an offset: what a function or a loop has is run again and again."""
        found = self._commands.get(start)
        if found is None:
            found = self._commands[start] = command(self.flat, start)
            if found.cut:
                limits.WORDS.reached(self.text.extent(start, start + 1))
        return found

    def word(self, place: tuple[int, int]) -> Text:
        """The characters of a word of a command."""
        found = self._cuts.get(place)
        if found is None:
            found = self._cuts[place] = self.text.cut(*place)
        return found


def first_error(node: Node) -> Node | None:
    """The first node that the parser could not make sense of."""
    if not node.has_error:
        return None
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            return node
        waiting.extend(child for child in reversed(node.children) if child.has_error or child.is_missing)
    return None


def name_of(node: Node | None) -> str:
    """The text of a node that is plain ASCII by its grammar: a name, a keyword, an option."""
    return (node.text or b"").decode() if node is not None else ""


def parts(node: Node) -> list[Node]:
    """The named children of a node, without comments."""
    return [child for child in node.children if child.is_named and child.type != "comment"]
