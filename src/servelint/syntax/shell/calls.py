"""Calls of the functions of a script that is edited: what one did before it does again, where all that it asks for is the same.

What a call asks for and what it changes is noted while it is walked through (servelint.syntax.shell.watch). Its commands are told of
again, and its changes are made again, each with its places where the edit has moved them (servelint.kept).
"""

from __future__ import annotations

import re
from copy import copy

from servelint.core import bounds
from servelint.core.launch import ReleaseClaim, Word
from servelint.core.source import Segment, Source, Span, same_place
from servelint.core.text import METER, Text
from servelint.syntax.shell.files import Files
from servelint.syntax.shell.state import UNSET, State, Status, Value
from servelint.syntax.shell.watch import Names, Watched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.kept import Part
    from servelint.syntax.shell.invocation import Invocation
    from servelint.syntax.shell.syntax import Script
    from servelint.syntax.shell.tree import Node
    from servelint.syntax.shell.walk import Evaluator

_SAME = ("exported", "doubtful", "typed", "aliases", "all_exported", "sourced")
_CHANGED = (*_SAME, "folder", "installed", "control", "levels", "status")
_PLACED = re.compile(r"<(?!\$\{|\ufdd1)")
"""A name of a file that has the place of a command in it."""


class Around:
    """What surrounds a call, but for the variables, functions and files that it asks for by name."""

    __slots__ = ("args", "calls", "folder", "installed", "last", "loops", "on_path", "same", "size", "written")

    def __init__(self, shell: Evaluator, args: list[Word] | None) -> None:
        state = shell.state
        self.same = [getattr(state, name) for name in _SAME]
        self.folder = state.folder
        self.installed = state.installed
        self.args = args
        self.calls = tuple(shell.calls)
        self.last = shell.last.value, shell.last.likely, shell.last.assumed
        self.loops = shell.loops
        self.on_path = shell.on_path
        self.size = state.size
        self.written = bool(state.files.written)

    def repeats(self, other: Around) -> bool:
        """Whether it is known to be the same around another call, but for the arguments."""
        return (
            self.calls == other.calls
            and self.same == other.same
            and (self.last, self.loops, self.on_path) == (other.last, other.loops, other.on_path)
            and (self.size, self.written) == (other.size, other.written)
            and alike(self.folder, other.folder)
            and same_claims(self.installed, other.installed)
        )


class Call:
    """A call, what it asked for, and what it did.

    variables, functions, files: the names that it asked for, with their values then
    changes: of variables, None for one that is gone;  written: of files;  state: of the rest of the state
    ran:     the commands that it told of, each with the files that it had written till then
    parts:   those that all it did stands in;  past: a function that it asked for is no more, so that it is not made again
    """

    __slots__ = (
        "_parts", "anchor", "around", "called", "changes", "files", "functions", "last", "lost", "number_assumed", "past",
        "pieces", "ran", "state", "status", "steps", "variables", "written",
    )  # fmt: skip

    def __init__(self, around: Around) -> None:
        self.around = around
        self.variables: dict[str, Value | None] = {}
        self.functions: dict[str, tuple[Script, Node] | None] = {}
        self.files: dict[str, tuple[bool, Text | None]] = {}
        self.changes: dict[str, Value | None] = {}
        self.written: dict[str, Text | None] = {}
        self.state: list[tuple[str, object]] = []
        self.ran: list[tuple[Invocation, dict[str, Text | None]]] = []
        self.called: set[str] = set()
        self.anchor: Span | None = None
        self.lost: Span | None = None
        self.last = self.status = Status(None)
        self.number_assumed = False
        self.steps = 0
        self.pieces = 0.0
        self.past = False
        self._parts: set[Source | Segment] | None = None

    @property
    def parts(self) -> set[Source | Segment]:
        if self._parts is None:
            places = Places()
            for ran, written in self.ran:
                places.of(ran.words, ran.env, ran.site, ran.lost, ran.stdin, ran.installed, ran.folder, written)
            places.of(self.changes, self.written, self.anchor, self.lost, *[changed for _, changed in self.state])
            self._parts = places.parts
        return self._parts

    def repeats(self, shell: Evaluator, around: Around) -> bool:
        """Whether a call of the same function would do the same."""
        if shell.steps + self.steps >= shell.steps_at_most or METER.left <= self.pieces or not self.around.repeats(around):
            return False
        state = shell.state
        for function, body in self.functions.items():
            found = state.functions.get(function)
            if found is not body and (found is None or body is None or found[0] is not body[0] or found[1] is not body[1]):
                self.past = body is not None and (body[0].part is None or body[0].part.gone)
                return False
        if not all(alike(value, state.variables.get(name)) for name, value in self.variables.items()):
            return False
        ours, theirs = self.around.args, around.args
        if not alike(ours, theirs) and not alike(ours, theirs, self.parts):
            return False
        files = state.files
        return all(files.knows(name) == known and alike(text, files.text(name)) for name, (known, text) in self.files.items())

    def again(self, shell: Evaluator) -> Status:
        """Do what it did."""
        state = shell.state
        files = state.files
        for ran, written in self.ran:
            shell.found(ran.beside(files.with_written(written)))
        for name, value in self.changes.items():
            if value is None:
                state.variables.pop(name, None)
            else:
                state.variables[name] = value
        if self.written:
            state.files = files.with_written(self.written)
            files.note_written(self.written)
        for name, changed in self.state:
            setattr(state, name, changed)
        shell.called |= self.called
        shell.worked(self.steps)
        METER.left -= self.pieces
        shell.anchor = self.anchor or shell.anchor
        shell.last, shell.lost, shell.number_assumed = self.last, self.lost, self.number_assumed
        return self.status


class Calls:
    """The calls of the functions of one script. muted: their commands are not told of now"""

    __slots__ = ("_files", "_functions", "_variables", "muted")

    def __init__(self, state: State) -> None:
        self._variables, self._functions, self._files = Names(), Names(), Names()
        state.variables = Watched(state.variables, self._variables)
        state.functions = Watched(state.functions, self._functions)
        state.files = state.files.watched(self._files)
        self.muted = False

    def call(self, shell: Evaluator, name: str, args: list[Word] | None) -> Status:
        """As Evaluator.walk_through."""
        part: Part | None = shell.state.functions[name][0].part
        if self.muted or part is None or shell.files:
            return shell.walk_through(name, args)
        around = Around(shell, args)
        for call in part.calls:
            if call.repeats(shell, around):
                part.add_call(call)
                return call.again(shell)
        part.calls = [call for call in part.calls if not call.past]
        call = Call(around)
        if self._walk(shell, name, args, call):
            part.add_call(call)
        return call.status

    def _walk(self, shell: Evaluator, name: str, args: list[Word] | None, call: Call) -> bool:
        """Walk through a function, and note what it asks for and does; whether that is all that it asks for and does."""
        state = shell.state
        before, functions, files = dict(state.variables), dict(state.functions), state.files
        others = [getattr(state, other) for other in _CHANGED]
        steps, pieces, said, scripts = shell.steps, METER.left, bounds.said(), len(shell.scripts)
        called, anchor, found = shell.called, shell.anchor, shell.found
        here = shell.anchor = copy(anchor)  # another one, to tell whether it is set
        shell.called = set()

        def told(ran: Invocation) -> dict[str, ReleaseClaim] | None:
            noted = self._files.begin()
            call.ran.append((ran.beside(Files(None)), ran.files.since(files)))
            answer = found(ran)
            self._files.asked, self._files.changed, self._files.alone = noted  # who is told looks after the files itself
            return answer

        shell.found = told
        noted = self._variables.begin(), self._functions.begin(), self._files.begin()
        call.status = shell.walk_through(name, args)
        asked, changed, _ = self._variables.end(noted[0])
        looked, defined, _ = self._functions.end(noted[1])
        read, written, alone = self._files.end(noted[2])
        shell.found = found
        call.called = shell.called
        shell.called = called | call.called
        if shell.anchor is here:
            shell.anchor = anchor
        else:
            call.anchor = shell.anchor
        state = shell.state
        for variable in changed:
            value = dict.get(state.variables, variable)
            if value is before.get(variable):
                asked.add(variable)  # it stays as it is, whatever it is
            else:
                call.changes[variable] = value
        for file in written:
            text, was = state.files.written.get(file), files.written.get(file)
            if text is was and (file in state.files.written) is (file in files.written):
                read.add(file)
            else:
                call.written[file] = text
        call.variables = {variable: before.get(variable) for variable in asked}
        call.functions = {function: functions.get(function) for function in looked}
        call.files = {file: (file in files.written, files.written.get(file)) for file in read}
        now = [getattr(state, other) for other in _CHANGED]
        call.state = [(other, one) for other, one, was in zip(_CHANGED, now, others, strict=True) if one is not was]
        call.steps, call.pieces = shell.steps - steps, pieces - METER.left if METER.left < pieces else 0.0
        call.last, call.lost, call.number_assumed = shell.last, shell.lost, shell.number_assumed
        whole = alone and not defined and bounds.said() == said and len(shell.scripts) == scripts
        return whole and not any(_PLACED.search(file) for file in (*read, *written))


class Places:
    """parts: what some texts, and what is made of them, stands in"""

    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts: set[Source | Segment] = set()

    def of(self, *things: object) -> None:
        for thing in things:
            if isinstance(thing, Text):
                for piece in thing.pieces:
                    self.of(piece.span, piece.origin, piece.perhaps)
            elif isinstance(thing, Span):
                self.parts.update([part for part, _, _ in thing.parts])
            elif isinstance(thing, Word):
                self.of(thing.text, thing.site)
            elif isinstance(thing, ReleaseClaim):
                self.of(thing.span)
            elif isinstance(thing, list):
                self.of(*thing)
            elif isinstance(thing, dict):
                self.of(*thing.values())


def alike(one: object, other: object, parts: set[Source | Segment] | None = None) -> bool:
    """Whether two values of variables, lists of words or texts are known to be all the same, down to their places.

    parts: only where the first one stands in one of these its place matters, None: wherever it stands
    """
    if one is other:
        return True
    if isinstance(one, Text):
        return isinstance(other, Text) and one is not UNSET and other is not UNSET and _same_text(one, other, parts)
    if isinstance(one, list):
        if not isinstance(other, list) or len(one) != len(other):
            return False
        return all(_same_word(ours, theirs, parts) for ours, theirs in zip(one, other, strict=True))
    if isinstance(one, dict):
        return isinstance(other, dict) and list(one) == list(other) and all(alike(one[key], other[key], parts) for key in one)
    return False


def _same_text(one: Text, other: Text, parts: set[Source | Segment] | None) -> bool:
    return len(one.pieces) == len(other.pieces) and all(
        ours is theirs
        or (
            ours.alike(theirs)
            and _same_place(ours.span, theirs.span, parts)
            and _same_place(ours.origin, theirs.origin, parts)
            and alike(ours.perhaps, theirs.perhaps, parts)
        )
        for ours, theirs in zip(one.pieces, other.pieces, strict=True)
    )


def _same_word(one: Word, other: Word, parts: set[Source | Segment] | None) -> bool:
    if one is other:
        return True
    return one.many is other.many and _same_place(one.site, other.site, parts) and alike(one.text, other.text, parts)


def _same_place(one: Span | None, other: Span | None, parts: set[Source | Segment] | None) -> bool:
    if same_place(one, other):
        return True
    if one is None or other is None or parts is None:
        return False
    return not any(part in parts for part, _, _ in one.parts)


def same_claims(one: dict[str, ReleaseClaim], other: dict[str, ReleaseClaim]) -> bool:
    """Whether the same releases were installed by the same words."""
    return one is other or (one.keys() == other.keys() and all(_same_claim(claim, other[name]) for name, claim in one.items()))


def _same_claim(one: ReleaseClaim, other: ReleaseClaim) -> bool:
    if one is other:
        return True
    return (
        same_place(one.span, other.span)
        and one.release == other.release
        and one.how == other.how
        and one.rolling is other.rolling
    )
