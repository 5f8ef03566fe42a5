"""Statements and functions that change nothing that outlasts them: waiting until a server answers, saying what is missing.

Which programs and functions one runs is read from the tree once; whether these change nothing is asked where it stands.
"""

from __future__ import annotations

import re

from servelint.syntax.shell import idle
from servelint.syntax.shell.simple import Assignment, Simple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.syntax.shell.syntax import Script
    from servelint.syntax.shell.tree import Node

AFTER_HEREDOC = frozenset(("command", "pipeline", "list", "redirected_statement", "compound_statement"))
"""What follows `<<EOF` on its line hangs on the redirection."""
HARMLESS = idle.PRINTING | {"[", "break", "command", "continue", "false", "return", "shift", "test"}
"""Builtins that change nothing but how a function or a loop goes on."""
_BLOCKS = frozenset(("if_statement", "elif_clause", "else_clause", "do_group", "negated_command"))
OR = "||"
"""Stands between the names of two commands of which the other runs where the one fails."""
_AGAIN = frozenset(("if_statement", "while_statement", "case_statement"))
_WRITES = (">", ">>", "&>", ">|")
_READING = ("cat", "jq")
_NUMERIC = re.compile(r"-(?:eq|ne|gt|ge|lt|le)\b")
_COMPARISON = re.compile(r"(?!.*(?:\+\+|--|(?<![=!<>])=(?!=)))[\w\s+*/%()<>=!&|-]*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class _ChangesError(Exception):
    """Something outlasts it."""


def of_statement(script: Script, node: Node) -> frozenset[str] | None:
    """The names of what a statement runs; None if it changes something whatever these do."""
    return _of(script, node, _Reading.statement)


def of_function(script: Script, body: Node) -> frozenset[str] | None:
    """Likewise of a function, whose own variables and arguments do not outlast it."""
    return _of(script, body, _Reading.function)


def of_leaving(script: Script, body: Node) -> frozenset[str] | None:
    """Likewise of a function that ends with `exit`, before that: `die`."""
    return _of(script, body, _Reading.leaving)


def _of(script: Script, node: Node, read: Callable[[_Reading, Node], None]) -> frozenset[str] | None:
    key = (node.start_byte, read.__name__)
    if key not in script.pure:
        reading = _Reading(script, None if read is _Reading.statement else set(), node)
        try:
            read(reading, node)
            script.pure[key] = frozenset(reading.runs)
        except (_ChangesError, RecursionError):
            script.pure[key] = None
    return script.pure[key]


class _Reading:
    """own: the function's variables, None outside of one;  runs: what was found to be run;  loops: around a statement"""

    __slots__ = ("loops", "own", "runs", "script", "whole")

    def __init__(self, script: Script, own: set[str] | None, whole: Node) -> None:
        self.whole = whole
        self.script = script
        self.own = own
        self.runs: set[str] = set()
        self.loops = 0

    def function(self, body: Node) -> None:
        self.inside(body, body.parts)

    def leaving(self, body: Node) -> None:
        parts = body.parts
        if not parts or parts[-1].type != "command" or parts[-1].background:
            raise _ChangesError
        if self.script.simple(parts[-1].start_byte).shape.idle != "exit":
            raise _ChangesError
        self.inside(body, parts[:-1])

    def inside(self, body: Node, nodes: list[Node]) -> None:
        if body.type != "compound_statement" or body.children[0].type != "{":
            raise _ChangesError
        for node in nodes:
            if node.type == "declaration_command" and self.own is not None:
                found = self.script.simple(node.start_byte)
                if not is_local(found):
                    raise _ChangesError
                self.own |= {one.name if isinstance(one, Assignment) else one.text.flat for one in found.declared}
            else:
                self.statement(node)

    def statement(self, node: Node) -> None:
        kind = node.type
        if kind in _AGAIN and self.own is None and node is not self.whole:
            # the walk comes to it on its own where the statement around it has to be run
            runs = of_statement(self.script, node)
            if runs is not None:
                self.runs |= runs
                return
            if not self.loops:
                raise _ChangesError
        if kind == "command":
            self.command(self.script.simple(node.start_byte))
        elif kind in _BLOCKS or (kind == "compound_statement" and node.children[0].type == "{"):
            self.statements(node.parts)
        elif kind == "list":
            self.list(node)
        elif kind in ("test_command", "compound_statement"):
            self.test(node)
        elif kind == "redirected_statement":
            self.redirected(node)
        elif kind == "while_statement":
            body = node.field("body")
            self.statements([part for part in node.parts if part is not body])
            if body is not None:
                self.loop(body)
        elif kind == "for_statement":
            self.for_statement(node)
        elif kind == "case_statement":
            self.case(node)
        elif kind == "pipeline":
            self.pipeline(node)
        elif kind == "variable_assignment":
            self.assignment(node)
        else:
            raise _ChangesError

    def statements(self, nodes: list[Node]) -> None:
        for node in nodes:
            self.statement(node)

    def command(self, found: Simple) -> None:
        name = found.shape.idle
        words = len(found.shape.words)
        if name is None or name == "exit":
            raise _ChangesError
        if name in ("return", "shift") and self.own is None:
            raise _ChangesError
        if name in ("break", "continue") and (not self.loops or words > 1):
            raise _ChangesError
        if name == "command" and (words < 2 or not found.words[1].text.flat.startswith("-")):
            raise _ChangesError
        self.runs.add(name)

    def list(self, node: Node) -> None:
        """`a && b`, `a || b`."""
        sides = node.parts
        self.statement(sides[0])
        for side in sides[1:]:
            first, last = self.simple_name(sides[0]), self.simple_name(side)
            either = len(sides) == 2 and any(child.type == OR for child in node.children)
            if either and first is not None and last is not None and last != "exit" and last not in HARMLESS:
                self.runs.add(f"{first} {OR} {last}")  # what it calls may leave
            else:
                self.statement(side)

    def simple_name(self, node: Node) -> str | None:
        inner = node.field("body") if node.type == "redirected_statement" else node
        if inner is None or inner.type != "command" or node.background:
            return None
        return self.script.simple(node.start_byte).shape.idle

    def redirected(self, node: Node) -> None:
        body = node.field("body")
        if body is None:
            raise _ChangesError
        simple = body.type == "command"
        for redirect in node.fields("redirect"):
            if not harmless(self.script, redirect):
                raise _ChangesError
            target = redirect.field("destination") if not simple and redirect.type == "file_redirect" else None
            if target is not None and redirect.children[0].type in _WRITES:
                self.nowhere(target)
        if simple:
            self.command(self.script.simple(node.start_byte))
        else:
            self.statement(body)

    def nowhere(self, target: Node) -> None:
        if self.flat(target) != idle.NOWHERE:
            raise _ChangesError

    def flat(self, node: Node) -> str:
        return self.script.flat[node.start_byte : node.end_byte]

    def tame(self, flat: str) -> None:
        if not idle.tame(flat):
            raise _ChangesError

    def test(self, node: Node) -> None:
        opening, inside = node.children[0].type, self.flat(node)
        if opening == "((":
            if _COMPARISON.fullmatch(inside) is None:
                raise _ChangesError
        elif opening == "[":
            for raw in self.script.raws(node.start_byte + 1, node.end_byte - len(node.children[-1].text)):
                self.tame(raw.text.flat)
        else:
            self.tame(inside)
            if _NUMERIC.search(inside) is not None:
                raise _ChangesError

    def for_statement(self, node: Node) -> None:
        name, body, values = node.field("variable"), node.field("body"), node.fields("value")
        if self.own is None or name is None or body is None or name.text not in self.own:
            raise _ChangesError
        for raw in self.script.raws(values[0].start_byte, values[-1].end_byte) if values else ():
            self.tame(raw.text.flat)
        self.loop(body)

    def loop(self, body: Node) -> None:
        self.loops += 1
        self.statement(body)
        self.loops -= 1

    def case(self, node: Node) -> None:
        for value in node.fields("value"):
            self.tame(self.flat(value))
        for item in node.children:
            if item.type == "case_item":
                values = item.fields("value")
                for value in values:
                    self.tame(self.flat(value))
                starts = {value.start_byte for value in values}
                self.statements([part for part in item.parts if part.start_byte not in starts])

    def pipeline(self, node: Node) -> None:
        for part in node.parts:
            found = self.script.simple(part.start_byte)
            if part.type != "command" or found.shape.idle in _READING:
                raise _ChangesError  # what the next one reads may be a file's text
            self.command(found)

    def assignment(self, node: Node) -> None:
        made = _NAME.match(self.script.flat, node.start_byte)
        inside = self.flat(node)
        if self.own is None or made is None or made.group() not in self.own or not inside.startswith(f"{made.group()}="):
            raise _ChangesError
        if inside.endswith(("=", "(")) or inside[made.end() - made.start() + 1] == "(":
            raise _ChangesError
        self.tame(inside)


def is_local(found: Simple) -> bool:
    """Whether a command is `local NAME NAME=VALUE`, which is undone when the function ends."""
    if not found.all_words or found.all_words[0].text.flat != "local":
        return False
    for declared in found.declared:
        if isinstance(declared, Assignment):
            if declared.index is not None or declared.array or not idle.tame(declared.value.text.flat):
                return False
        elif _NAME.fullmatch(declared.text.flat) is None:
            return False
    return True


def harmless(script: Script, redirect: Node) -> bool:
    """Whether a redirection sets nothing; what it writes the command's words tell."""
    if redirect.type != "heredoc_redirect":
        return True
    body = next((child for child in redirect.children if child.type == "heredoc_body"), None)
    start = next((child for child in redirect.children if child.type == "heredoc_start"), None)
    if body is None or start is None or any(child.type in AFTER_HEREDOC or child.type == "||" for child in redirect.children):
        return False
    flat = script.flat[body.start_byte : body.end_byte]
    return start.text[:1] in ("'", '"', "\\") or not ("$" in flat or "`" in flat)
