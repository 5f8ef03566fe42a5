"""A shell text: its syntax tree, and its commands, words and tests, each read when it is asked for and kept."""

from __future__ import annotations

from servelint.core import bounds
from servelint.core.text import EMPTY, Text
from servelint.syntax.shell import bodies, lexer, tree
from servelint.syntax.shell.conditions import Test
from servelint.syntax.shell.expand import Raw
from servelint.syntax.shell.ground import Ground, kept_of
from servelint.syntax.shell.simple import Assignment, Shape, Simple, assignment, assignment_end
from servelint.syntax.shell.tree import Node
from servelint.syntax.shell.words import gaps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.kept import Part


class Script:
    """A shell text and its tree. A node's offsets are offsets of `text.flat`.

    flat: the text as the lexer reads it, with blanks for the carriage returns at line ends
    gaps: where defaults that are empty stand in it;  ground: where its words are cut from
    part: that it is, of a text that is edited; None if it is none
    elsewhere: it stands in a file that the script in question only sources
    names: of the commands of a function that starts at an offset (servelint.syntax.shell.left_out);  pure: see servelint.syntax.shell.pure
    """

    __slots__ = (
        "_kept", "_known", "_raws", "_shapes", "_simple", "_tests", "elsewhere", "flat", "gaps", "ground", "names",
        "part", "pure", "root", "text",
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
        self.part: Part | None = None
        if len(text.flat) > bounds.SCRIPT.most:
            bounds.SCRIPT.reached(text.extent())
            self.text = text = EMPTY
        flat = text.flat
        if "\r" in flat:
            flat = flat.replace("\\\r\n", " \\\n").replace("\r\n", " \n")
        self.flat = flat
        around = bodies.around(flat) if len(text.pieces) == 1 else None
        self._known: dict[int, bodies.Body] = {}
        if around is not None:
            self.root, self._known = around
        else:
            self.root = tree.read(flat)
        self._kept = kept_of(text)
        self.ground: Text | Ground = text if self._kept is None else Ground(text, self._kept, self.root.children)

    def function(self, body: Node) -> tuple[Script, Node]:
        """The script in which the body of a function is run, and the body there."""
        start, end = body.start_byte, body.end_byte
        flat = self.flat[start:end]
        known = self._known.get(start)
        if known is not None and known.root is not None:
            return self._inner(flat, start, end, known, known.root), known.root
        own = len(self.text.pieces) == 1 and end - start < bodies.CHARACTERS_AT_MOST and not body.has_error
        if not own or flat[:1] != "{" or not bodies.is_whole(flat):
            return self, body
        read = body.text
        met = bodies.body(flat, read)
        root = met.meet(flat, read)
        if root is None or root.count != body.count or root.type != body.type:
            return self, body
        return self._inner(flat, start, end, met, root), root

    def _inner(self, flat: str, start: int, end: int, known: bodies.Body, root: Node) -> Script:
        """The script that a function's body is: the one of before, where the text is one that is edited."""
        part = self._kept.part(start, end) if self._kept is not None else None
        if part is not None and isinstance(part.made, Script) and part.made.root is root:
            return part.made
        script = Script.__new__(Script)
        script.text = script.ground = part.text if part is not None else self.text.cut(start, end)
        script.flat = flat
        script.root = root
        script.gaps = []
        script.elsewhere, script.part = self.elsewhere, part
        script.names, script.pure, script._shapes = known.names, known.pure, known.shapes
        script._raws, script._simple, script._tests, script._known, script._kept = {}, {}, {}, {}, None
        if part is not None:
            part.made = script
        return script

    def cut(self, node: Node) -> Text:
        return self.ground.cut(node.start_byte, node.end_byte)

    def assignment(self, node: Node) -> Assignment | None:
        """The assignment that a node is; None if it is none after all."""
        start, end = node.start_byte, node.end_byte
        part = self._kept.part(start, end) if self._kept is not None and self.flat[end : end + 1].isspace() else None
        if part is not None and isinstance(part.made, Assignment):
            return part.made
        found = assignment_end(self.flat, start)
        if found is None:
            return None
        if part is None or found != end:
            return assignment(self.ground.cut(start, found))
        part.made = made = assignment(part.text)
        return made

    def test(self, start: int, end: int) -> Test:
        """What stands between double brackets."""
        found = self._tests.get(start)
        if found is None:
            found = self._tests[start] = Test(self.ground.cut(start, end))
        return found

    def raws(self, start: int, end: int) -> list[Raw]:
        """The words between two offsets, over line ends and comments."""
        found = self._raws.get((start, end))
        if found is None:
            ranges = lexer.items(self.flat, start, end)
            found = self._raws[start, end] = [Raw(self.ground.cut(low, high)) for low, high in ranges]
        return found

    def simple(self, start: int) -> Simple:
        """The simple command that starts at an offset."""
        found = self._simple.get(start)
        if found is None:
            shape = self._shapes.get(start)
            if shape is None:
                shape = self._shapes[start] = Shape.at(self.flat, start)
            found = self._simple[start] = Simple(self.ground, self.flat, start, shape)
        return found
