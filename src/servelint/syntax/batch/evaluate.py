"""Partial evaluation of a batch file: which commands it runs, with which words and variables. Nothing is executed.

Where a condition cannot be decided, both branches are followed and joined; variables that differ are unknown afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from servelint.core import bounds
from servelint.core.launch import Word
from servelint.core.source import Span
from servelint.core.text import EMPTY, HOLE, Piece, TracedText, unknown
from servelint.syntax.batch.syntax import For, If, Label, Node, Several, Simple, Test, parse
from servelint.syntax.batch.words import Filled, fill, program, split


@dataclass(slots=True, eq=False)
class _Value:
    """A variable. name: as first written;  text: empty where the file removes the variable."""

    name: str
    text: TracedText


_State = dict[str, _Value]
"""Upper-case name -> value. A variable that is not here may be set by the environment."""


class _Status:
    """Whether a condition holds.

    Attributes:
        value: True, False, or None if that is unknown.
        likely: The branch of a plain run: without arguments and extra environment, every command succeeding.
        assumed: Whether the value rests on a default that the environment may override.
        emptied: Upper-case name of a variable that is empty where the condition is true (`if "%V%"==""`), or false (`if defined
            V`) as `empty_when` says.
    """

    __slots__ = ("assumed", "emptied", "empty_when", "likely", "value")

    def __init__(
        self,
        value: bool | None,
        likely: bool = True,
        assumed: bool = False,
        emptied: str | None = None,
        empty_when: bool = True,
    ) -> None:
        self.value = value
        self.likely = likely if value is None else value
        self.assumed = assumed
        self.emptied = emptied
        self.empty_when = empty_when

    def negated(self) -> _Status:
        value = None if self.value is None else not self.value
        return _Status(value, not self.likely, self.assumed, self.emptied, not self.empty_when)


def join(main: _State, other: _State, defaulted: str | None = None) -> _State:
    """The state after a branch that cannot be decided: what differs is unknown, shown as the main branch leaves it.

    Args:
        main: The state after the likely branch; it is changed.
        other: The state after the other branch.
        defaulted: A variable that the main branch sets only if the environment does not: the value is its default.
    """
    joined: _State = {}
    for key in {**main, **other}:
        ours, theirs = main.get(key), other.get(key)
        if ours is not None and theirs is not None and _same(ours.text, theirs.text):
            joined[key] = ours
        elif key == defaulted and ours is not None and (theirs is None or theirs.text.flat == HOLE):
            joined[key] = _Value(ours.name, ours.text.as_default())
        else:
            joined[key] = _unsure(ours, theirs)
    return joined


def _same(one: TracedText, other: TracedText) -> bool:
    return one is other or (one.flat == other.flat and one.shown == other.shown)


def _unsure(ours: _Value | None, theirs: _Value | None) -> _Value:
    name = ours.name if ours is not None else theirs.name if theirs is not None else ""
    main = ours.text if ours is not None else EMPTY
    shown = main.shown if ours is not None else f"%{name}%"
    if ours is None or theirs is None:
        return _Value(name, TracedText((unknown(f"%{name}%", main.extent(), shown),)))
    one, other = _possible(ours.text), _possible(theirs.text)
    if (program := _program(one)) is not None and _program(other) == program:
        folder = shown[: -len(program)] if shown.lower().endswith(program) else f"%{name}%"
        return _Value(name, TracedText((unknown(f"%{name}%", main.extent(), folder), Piece(program, main.extent()))))
    # one branch adds words, the other none
    perhaps = (one or other) if one is None or other is None else None
    return _Value(name, TracedText((unknown(f"%{name}%", main.extent(), shown, perhaps),)))


def _possible(text: TracedText) -> TracedText | None:
    """What a value may be beside empty; None if it is surely empty."""
    if len(text.pieces) == 1 and text.pieces[0].perhaps is not None:
        return text.pieces[0].perhaps
    return text if text.flat else None


def _program(text: TracedText | None) -> str | None:
    """The file name of the program that a value names, whatever its folder."""
    flat = text.flat.lower() if text is not None else ""
    base = flat[max(flat.rfind("\\"), flat.rfind("/"), flat.rfind(HOLE)) + 1 :]
    return base if base.endswith(".exe") else None


_EMPTY = re.compile(r"[\"'.\[\]x_#-]*", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?\d+")
_ARGUMENT = re.compile(r"%(?:~\w*)?\d")
_VARIABLE = re.compile(r"[%!]([^%!:]+)[%!]")
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "equ": lambda left, right: left == right,
    "neq": lambda left, right: left != right,
    "lss": lambda left, right: left < right,
    "leq": lambda left, right: left <= right,
    "gtr": lambda left, right: left > right,
    "geq": lambda left, right: left >= right,
}


def _holds(walk: _Walk, test: Test) -> _Status:
    status = _positive(walk, test)
    return status.negated() if test.negated else status


def _positive(walk: _Walk, test: Test) -> _Status:
    if test.kind == "defined":
        return _defined(walk, test.left.flat.strip('"'))
    if test.kind == "errorlevel":
        return _Status(None, likely=test.left.flat.strip() == "0")
    if test.kind not in ("==", *_COMPARISONS):
        return _Status(None)
    left, right = walk.fill(test.left).text, walk.fill(test.right).text
    ours, theirs = _likely(left), _likely(right)
    if test.fold:
        ours, theirs = ours.lower(), theirs.lower()
    equality = test.kind in ("==", "equ", "neq")
    if test.kind != "==" and _NUMBER.fullmatch(ours) and _NUMBER.fullmatch(theirs):
        found = _COMPARISONS[test.kind](int(ours[:20]), int(theirs[:20]))
    elif equality:
        found = (ours == theirs) != (test.kind == "neq")
    else:
        return _Status(None, likely=False)  # the order of other texts is that of the machine's language
    if left.known and right.known:
        return _Status(found, assumed=left.assumed or right.assumed)
    if equality and ours == theirs and _EMPTY.fullmatch(ours):
        return _emptiness(walk, left, right, found)
    return _Status(None, likely=found)


def _emptiness(walk: _Walk, left: TracedText, right: TracedText, found: bool) -> _Status:
    """A test whether an unknown value is empty."""
    unknowns = [piece for piece in (*left.pieces, *right.pieces) if piece.expression is not None]
    expression = unknowns[0].expression or ""
    if len(unknowns) != 1:
        return _Status(None, likely=found)
    if _ARGUMENT.fullmatch(expression):
        state = walk.state or {}
        own = [key for key, value in state.items() if value.text.flat == HOLE and value.text.pieces[0].span == unknowns[0].span]
        # a script is started without arguments, unless someone knows better
        return _Status(None, found, emptied=own[0], empty_when=found) if own else _Status(found, assumed=True)
    name = _VARIABLE.fullmatch(expression)
    return _Status(None, found, emptied=name.group(1).upper() if name is not None else None, empty_when=found)


def _defined(walk: _Walk, name: str) -> _Status:
    value = walk.now(name)
    if value is None:
        return _Status(None, likely=False, emptied=name.upper(), empty_when=False)
    if value.flat == HOLE:
        likely = bool(value.shown) and not value.shown.startswith("%")
        return _Status(None, likely, emptied=name.upper(), empty_when=False)
    return _Status(bool(value.flat), assumed=value.assumed)


def _likely(text: TracedText) -> str:
    """A text as it is when every command has succeeded and nothing else is set."""
    if HOLE not in text.flat:
        return text.flat
    parts: list[str] = []
    for piece in text.pieces:
        expression = piece.expression
        parts.append(piece.text if expression is None else "0" if expression.lower().strip("%!") == "errorlevel" else "")
    return "".join(parts)


_LENGTH_AT_MOST = 20_000
_PIECES_AT_MOST = 500
_NAME = re.compile(r"([A-Za-z][\w-]*)(?:\.exe)?", re.ASCII | re.IGNORECASE)
_SET_OPTION = re.compile(r"[ \t]*/([ap])[ \t]*", re.IGNORECASE)
_START_OPTION = re.compile(r"/(?:d[ \t]*(?:\"[^\"]*\"|\S+)|(?:node|affinity)[ \t]+\S+|\w+)[ \t]*", re.IGNORECASE)
_CMD_OPTION = re.compile(r"/([a-z])(?::\w+)?[ \t]*", re.IGNORECASE)
_WHERE = re.compile(r"[`'\s]*where(?:\.exe)?\s+(?:\$PATH:)?\"?([\w.-]+?)(?:\.exe)?\"?(?:\s+[2^&|>]|[`'\s]*$)", re.IGNORECASE)


@dataclass(slots=True, eq=False)
class Command:
    """One command that the file runs.

    Attributes:
        words: Its words.
        state: The variables that the file sets.
        lost: Lines after it that look like a part of it but are not.
        likely: Whether a plain run gets there.
    """

    words: list[Word]
    state: _State
    lost: Span | None
    likely: bool


Found = Callable[[Command], None]
Called = Callable[[str], "TracedText | None"]


def evaluate(text: TracedText, found: Found, called: Called, *, paired: bool = False, closed: list[Span] | None = None) -> bool:
    """Walk a batch file and report each command.

    Args:
        text: The file.
        found: Called for each command.
        called: Gives the text of another batch file that it calls; None if it is not on this machine.
        paired: Whether parentheses in a command of a block are paired, as authors mean them.
        closed: Takes the parentheses that close a block and do not look it.

    Returns:
        Whether it calls files that could not be read: they may set more.
    """
    walk = _Walk(found, called)
    walk.paired, walk.closed = paired, closed
    walk.file(text)
    return walk.sourced


class _Walk:
    def __init__(self, found: Found, called: Called) -> None:
        self.found = found
        self.called = called
        self.paired = False
        self.closed: list[Span] | None = None
        self.state: _State | None = {}
        self.snapshot: _State = {}
        self.loops: dict[str, TracedText | None] = {}
        self.delayed = False
        self.saved: list[tuple[_State, bool]] = []
        self.nodes: list[Node] = []
        self.labels: dict[str, int] = {}
        self.visited: set[int] = set()
        self.pending: dict[str, _State] = {}
        self.anywhere: _State | None = None
        self.returned: list[_State] = []
        self.calls: list[str] = []
        self.steps = 0
        self.on_path = True
        self.silent = False
        self.sourced = False

    # -- the file

    def file(self, text: TracedText) -> None:
        self.nodes = parse(text, paired=self.paired, closed=self.closed)
        self.labels = {node.name: index for index, node in reversed(list(enumerate(self.nodes))) if isinstance(node, Label)}
        self.run(0)
        last = self.state if self.state is not None else self.snapshot
        for name, index in sorted(self.labels.items(), key=lambda item: item[1]):
            if index not in self.visited:
                self.state, self.on_path = dict(last), False
                self.calls = [name]
                self.run(index)

    def run(self, start: int) -> None:
        for index in range(start, len(self.nodes)):
            node = self.nodes[index]
            if isinstance(node, Label):
                self.arrive(node.name)
            if self.state is None:
                if self.calls and not self.pending:
                    return
                continue
            self.visited.add(index)
            self.snapshot = dict(self.state)
            self.visit(node)

    def arrive(self, name: str) -> None:
        """Come to a label, from the line before or from a `goto`."""
        jumped = self.pending.pop(name, None)
        if jumped is None and self.state is None and self.anywhere is not None:
            jumped = dict(self.anywhere)
        if jumped is not None:
            self.state = jumped if self.state is None else join(jumped, self.state)

    # -- commands

    def visit(self, node: Node) -> None:
        self.steps += 1
        if self.state is None or bounds.BATCH_STEPS.passed(self.steps, None):
            return
        if isinstance(node, Simple):
            self.simple(node)
        elif isinstance(node, Several):
            for operator, item in node.items:
                if operator == "||":
                    self.branch(_Status(None, likely=False), item, None)
                else:
                    self.visit(item)
        elif isinstance(node, If):
            self.branch(_holds(self, node.test), node.then, node.otherwise)
        elif isinstance(node, For):
            self.loop(node)

    def loop(self, node: For) -> None:
        """Walk a loop's body once, its variable unknown."""
        outer = self.loops
        found = _WHERE.match(node.items.flat)
        value = None
        if found is not None:
            # `where` prints the path of a program
            span = node.items.extent(*found.span(1))
            value = TracedText((unknown("%%" + node.variable, span, shown=""), Piece(found.group(1) + ".exe", span)))
        self.loops = {**outer, node.variable: value}
        certain = not node.switch and node.items.flat.strip() and not set(node.items.flat) & set("*?")
        self.branch(_Status(True if certain else None), node.body, None)
        self.loops = outer

    def branch(self, status: _Status, then: Node, otherwise: Node | None) -> None:
        """Run what a condition selects. Undecided: both, joined. Decided by a default: the other is looked at, and dropped."""
        start = self.state
        if start is None:
            return
        if status.value is not None and not status.assumed:
            chosen = then if status.value else otherwise
            if chosen is not None:
                self.visit(chosen)
            return
        on_path = self.on_path
        ends: list[_State | None] = []
        for node, likely in ((then, status.likely), (otherwise, not status.likely)):
            self.state, self.on_path = dict(start), on_path and likely
            if node is not None:
                self.visit(node)
            ends.append(self.state)
        self.on_path = on_path
        main, other = ends if status.likely else ends[::-1]
        if main is None or other is None:
            self.state = other if main is None else main
        elif status.value is not None:
            self.state = main
        else:
            empty_branch = status.empty_when == status.likely
            self.state = join(main, other, status.emptied if empty_branch else None)

    def simple(self, node: Simple) -> None:
        name = _NAME.match(node.text.flat)
        word = name.group(1).lower() if name is not None else ""
        end = name.end() if name is not None else 0
        follows = node.text.flat[end : end + 1]
        if follows not in ("", " ", "\t", "/", ":", '"') or not self.internal(word, node, node.text.cut(end)):
            self.external(node, self.fill(node.text))

    def internal(self, word: str, node: Simple, rest: TracedText) -> bool:
        """Do what cmd does itself; whether the word is a command of its own."""
        if word == "set":
            self.do_set(rest)
        elif word == "setlocal":
            self.setlocal(rest.flat.lower())
        elif word == "endlocal":
            self.endlocal()
        elif word == "goto":
            self.goto(rest)
        elif word == "exit":
            self.leave()
        elif word == "call":
            self.do_call(node, rest.strip())
        elif word == "start":
            self.start(node, rest.strip())
        elif word == "cmd":
            self.cmd(node, rest.strip())
        return word in _SILENT or word in _INTERNAL

    def external(self, node: Simple, filled: Filled) -> None:
        """A program, or another batch file."""
        words = split(filled)
        if not words or self.state is None or self.silent:
            return
        self.found(Command([program(words[0]), *words[1:]], self.state, node.lost, self.on_path))

    def nested(self, node: Simple, text: TracedText) -> None:
        """A command line inside a command (`cmd /c "..."`)."""
        flat = text.flat.strip()
        if not flat or bounds.BATCH_CALLS.passed(len(self.calls) + 1, text):
            return
        text = text.strip()
        if flat[0] == '"' and flat[-1] == '"' and len(flat) > 1:
            text = text.cut(1, len(flat) - 1)
        self.calls.append("cmd")
        for inner in parse(text):
            if isinstance(inner, Simple):
                inner.lost = node.lost
            self.visit(inner)
        self.calls.pop()

    # -- values

    def lookup(self, name: str) -> TracedText | None:
        value = self.snapshot.get(name.upper())
        return value.text if value is not None else None

    def now(self, name: str) -> TracedText | None:
        value = self.state.get(name.upper()) if self.state is not None else None
        return value.text if value is not None else None

    def fill(self, text: TracedText) -> Filled:
        return fill(text, self.lookup, self.now if self.delayed else None, self.loops)

    def set(self, name: str, text: TracedText) -> None:
        if self.state is not None and name:
            if len(text.flat) > _LENGTH_AT_MOST or len(text.pieces) > _PIECES_AT_MOST:
                text = TracedText((unknown(f"%{name}%", text.extent()),))
            before = self.state.get(name.upper())
            self.state[name.upper()] = _Value(before.name if before is not None else name, text)

    # -- what cmd does itself

    def do_set(self, rest: TracedText) -> None:
        option = _SET_OPTION.match(rest.flat)
        text = self.fill(rest.cut(option.end()) if option is not None else rest).text
        if option is not None and option.group(1) in "aA":
            self.arithmetic(text)
            return
        flat = text.flat
        start = len(flat) - len(flat.lstrip(" \t"))
        end = len(flat)
        if flat[start : start + 1] == '"':
            start += 1
            close = flat.rfind('"')
            end = close if close >= start else end
        sign = flat.find("=", start, end)
        if sign == -1:
            return
        name = flat[start:sign]
        if option is not None:
            self.set(name, TracedText((unknown(f"%{name}%", text.extent(start, end)),)))
        else:
            self.set(name, text.cut(sign + 1, end) if end > sign + 1 else EMPTY)

    def arithmetic(self, text: TracedText) -> None:
        from servelint.syntax.shell import arithmetic

        for part in text.flat.strip().strip('"').split(","):
            match = re.match(r"\s*([A-Za-z_]\w*)\s*([-+*/%]?=)(.*)", part)
            if match is None:
                continue
            name, operator, expression = match.groups()
            if operator != "=":
                expression = f"{name}{operator[0]}({expression})"
            try:
                value = arithmetic.evaluate(expression, self.number, _forget)
            except (arithmetic.NotKnown, RecursionError):
                self.set(name, TracedText((unknown(f"%{name}%", text.extent()),)))
            else:
                self.set(name, TracedText.of(str(value), text.extent()))

    def number(self, name: str) -> str | None:
        value = self.now(name)
        return value.value if value is not None else None

    def setlocal(self, flat: str) -> None:
        if self.state is not None:
            self.saved.append((dict(self.state), self.delayed))
        self.delayed = (self.delayed or "enabledelayedexpansion" in flat) and "disabledelayedexpansion" not in flat

    def endlocal(self) -> None:
        if self.saved and self.state is not None:
            self.state, self.delayed = self.saved.pop()

    def goto(self, rest: TracedText) -> None:
        target = self.fill(rest).text.flat.strip(" \t:").lower()
        if self.state is None:
            return
        if target == "eof":
            self.leave()
            return
        if HOLE in target:
            self.anywhere = dict(self.state) if self.anywhere is None else join(self.anywhere, self.state)
        elif target in self.labels:
            before = self.pending.get(target)
            self.pending[target] = dict(self.state) if before is None else join(before, self.state)
        self.state = None

    def leave(self) -> None:
        if self.state is not None and self.calls:
            self.returned.append(self.state)
        self.state = None

    def do_call(self, node: Simple, text: TracedText) -> None:
        if text.flat[:1] == ":":
            self.call(self.fill(text).text.flat[1:].split(None, 1)[0].lower() if text.flat[1:].strip() else "", text)
            return
        words = split(self.fill(text))
        flat = words[0].text.flat if words else ""
        if flat.lower().endswith((".bat", ".cmd")) or (words and re.fullmatch(r"[\w.-]*(?:env|vars|config|settings)\w*", flat)):
            self.other_file(flat)
        elif text.flat:
            self.simple(Simple(text, node.lost))

    def other_file(self, path: str) -> None:
        """`call settings.bat`: take what it sets, if it is there; its launches are reported where it is read itself."""
        if re.search(r"(?:^|\\)(?:activate|conda)(?:\.bat)?$", path, re.IGNORECASE):
            return  # a virtual environment's own script sets nothing that an engine reads
        text = self.called(path) if len(self.calls) < bounds.BATCH_CALLS.most else None
        if text is None or self.state is None:
            self.sourced = True
            return
        inner = _Walk(self.found, self.called)
        inner.state, inner.silent, inner.calls = dict(self.state), True, [*self.calls, path]
        inner.nodes = parse(text)
        inner.labels = {item.name: index for index, item in enumerate(inner.nodes) if isinstance(item, Label)}
        inner.run(0)
        self.state = inner.end() or self.state
        self.sourced = self.sourced or inner.sourced

    def call(self, name: str, text: TracedText) -> None:
        """`call :label`. `text`: where that is written."""
        start = self.labels.get(name)
        if start is None or name in self.calls or self.state is None:
            return
        if bounds.BATCH_CALLS.passed(len(self.calls) + 1, text):
            return
        before, saved = (self.snapshot, self.pending, self.returned, self.delayed), len(self.saved)
        self.pending, self.returned = {}, []
        self.calls.append(name)
        self.run(start)
        self.state = self.end()
        self.calls.pop()
        self.snapshot, self.pending, self.returned, self.delayed = before
        del self.saved[saved:]

    def end(self) -> _State | None:
        """The state where a part that was called has ended, in whichever way; None if it does not end."""
        ends = self.returned if self.state is None else [*self.returned, self.state]
        return reduce(join, ends) if ends else None

    def start(self, node: Simple, text: TracedText) -> None:
        """`start "title" /b program arguments`."""
        if text.flat[:1] == '"':
            close = text.flat.find('"', 1)
            text = text.cut(close + 1).strip() if close != -1 else EMPTY
        while (option := _START_OPTION.match(text.flat)) is not None:
            text = text.cut(option.end())
        if text.flat:
            self.simple(Simple(text, node.lost))

    def cmd(self, node: Simple, text: TracedText) -> None:
        """`cmd /c command`."""
        while (option := _CMD_OPTION.match(text.flat)) is not None:
            text = text.cut(option.end())
            if option.group(1).lower() in "ckr":
                self.nested(node, text)
                return


def _forget(_name: str, _value: str) -> None:
    """Drop what an arithmetic expression assigns inside another one."""


_INTERNAL = frozenset(("set", "setlocal", "endlocal", "goto", "exit", "call", "start", "cmd"))
_SILENT = frozenset((
    "assoc", "break", "cd", "chdir", "cls", "color", "copy", "del", "dir", "echo", "erase", "ftype", "md", "mkdir", "mklink",
    "move", "path", "pause", "popd", "prompt", "pushd", "rd", "ren", "rmdir", "shift", "title", "type", "ver", "verify", "vol",
))  # fmt: skip
"""What starts no program and sets nothing."""
