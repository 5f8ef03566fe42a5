"""What is passed by on the walk: nobody reads what it prints, and all else is the same without it."""

from __future__ import annotations

from servelint.core import bounds
from servelint.syntax.shell import pure
from servelint.syntax.shell.files import TOUCHING
from servelint.syntax.shell.idle import PRINTING
from servelint.syntax.shell.state import SUCCESS, UNSURE, Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.simple import Simple
    from servelint.syntax.shell.syntax import Script
    from servelint.syntax.shell.tree import Node
    from servelint.syntax.shell.walk import Evaluator

STEPS = 4
"""To look at the words of a command that starts something takes as long as so many."""
VARIABLES_A_STEP = 50
"""So many exported variables take as long to hand to a command, and so many items of arrays to join after a branch."""
_FUNCTIONS_A_STEP = 8
_LOCAL = "local"


def command(shell: Evaluator, found: Simple) -> Status | None:
    """The status of a command that can be left out; None if it has to be run."""
    name = found.shape.idle
    if name is None:
        return None
    status = _function(shell, name) if name in shell.state.functions else _program(shell, name)
    if status is not None and found.site is not None and found.site.source is shell.home:
        shell.anchor = found.site
    return status


def statement(shell: Evaluator, node: Node) -> bool:
    """Whether a statement that ends in no status can be left out."""
    names = pure.of_statement(shell.script, node)
    return names is not None and _harmless(shell, names)


def call(shell: Evaluator, node: Node) -> Status | None:
    """Likewise of a command that calls a function; its status is not worked out, as nobody asks for it."""
    found = shell.script.simple(node.start_byte)
    name = found.shape.idle
    if name is None or name not in shell.state.functions:
        return None
    return command(shell, found) or (UNSURE if _harmless(shell, frozenset((name,))) else None)


def leaves(shell: Evaluator, node: Node) -> bool:
    """Whether a statement is a call of a function that leaves the script, and changes nothing before."""
    if node.type != "command":
        return False
    name = shell.script.simple(node.start_byte).shape.idle
    names = _leaving(shell, name) if name is not None else None
    return names is not None and _harmless(shell, names)


def _leaving(shell: Evaluator, name: str) -> frozenset[str] | None:
    """What a function runs before it leaves the script; None if it may not leave, or changes something before."""
    functions = shell.state.functions
    if name not in functions or name in shell.calls or "exit" in functions:
        return None
    names = pure.of_leaving(*functions[name])
    if names is not None:
        shell.called.add(name)
    return names


def uncalled(shell: Evaluator, name: str) -> bool:
    """Whether a function can be left out that nothing calls."""
    return _harmless(shell, frozenset((name,)))


def _program(shell: Evaluator, name: str) -> Status | None:
    if name in PRINTING:
        return SUCCESS
    if not _unheard(shell, name):
        return None
    shell.worked(STEPS + len(shell.state.exported) // VARIABLES_A_STEP)
    return UNSURE


def _unheard(shell: Evaluator, name: str) -> bool:
    """Whether a program need not be told of, and leaves the files alone that are followed."""
    if name not in shell.unheard or name == "tee" or (name in TOUCHING and shell.state.files.written):
        return False
    return " " not in name or name.partition(" ")[0] not in shell.state.functions


class _Idle:
    """A function all of whose commands can be left out.

    height: how deep calls go in it
    """

    __slots__ = ("height", "status", "steps")

    def __init__(self, status: Status, steps: int, height: int) -> None:
        self.status = status
        self.steps = steps
        self.height = height


def _function(shell: Evaluator, name: str) -> Status | None:
    known: dict[str, _Idle | None] = {}
    found = _idle(shell, name, known)
    if found is None or len(shell.calls) + found.height > bounds.CALLS.most or any(one in known for one in shell.calls):
        shell.worked(len(known) // _FUNCTIONS_A_STEP)
        return None
    shell.called.update(known)
    shell.worked(found.steps)
    shell.last = found.status
    return found.status


def _idle(shell: Evaluator, name: str, known: dict[str, _Idle | None]) -> _Idle | None:
    if name in known:
        return known[name]
    known[name] = None  # while it is looked at: it may call itself
    names = _names(*shell.state.functions[name])
    if names is None or len(known) > bounds.CALLS.most:
        return None
    status, steps, height = SUCCESS, len(names), 1
    for one in names:
        if one == _LOCAL:
            status = SUCCESS
        elif one in shell.state.functions:
            inner = _idle(shell, one, known)
            if inner is None:
                return None
            status, steps, height = inner.status, steps + inner.steps, max(height, inner.height + 1)
        elif one in PRINTING:
            status = SUCCESS
        elif _unheard(shell, one):
            status, steps = UNSURE, steps + STEPS
        else:
            return None
    found = known[name] = _Idle(status, steps, height)
    return found


def _names(script: Script, body: Node) -> list[str] | None:
    """The names of the commands of a function; None if one of them has to be run whatever it is."""
    if body.start_byte not in script.names:
        named = [None if node.background else _name(script, node) for node in body.parts]
        braces = body.type == "compound_statement" and body.children[0].type == "{"
        known = [name for name in named if name is not None]
        script.names[body.start_byte] = known if braces and known and len(known) == len(named) else None
    return script.names[body.start_byte]


def _name(script: Script, node: Node) -> str | None:
    if node.type == "declaration_command":
        return _LOCAL if pure.is_local(script.simple(node.start_byte)) else None
    if node.type == "redirected_statement":
        first = node.field("body")
        if first is None or first.type != "command" or not all(pure.harmless(script, one) for one in node.fields("redirect")):
            return None
    elif node.type != "command":
        return None
    return script.simple(node.start_byte).shape.idle


def _harmless(shell: Evaluator, names: frozenset[str]) -> bool:
    """Whether all of that changes nothing."""
    seen: set[str] = set()
    found = len(shell.calls) < bounds.CALLS.most and _all_harmless(shell, names, seen, len(shell.calls))
    shell.worked(len(seen) // _FUNCTIONS_A_STEP)
    if found:
        shell.called |= seen
        shell.worked(len(names))
    return found


def _either(shell: Evaluator, first: str, last: str, seen: set[str], depth: int) -> bool:
    """Whether `first || last` changes nothing: a function that leaves the script is as good as none where nobody knows whether
    the program before it fails."""
    before = _leaving(shell, last)
    if before is None:
        return _all_harmless(shell, frozenset((last,)), seen, depth)
    unsure = first not in shell.state.functions and (first == "command" or _program(shell, first) is UNSURE)
    return unsure and depth < bounds.CALLS.most and _all_harmless(shell, before, seen, depth + 1)


def _all_harmless(shell: Evaluator, names: frozenset[str], seen: set[str], depth: int) -> bool:
    functions = shell.state.functions
    for name in names:
        first, either, last = name.partition(f" {pure.OR} ")
        if either:
            if not _either(shell, first, last, seen, depth):
                return False
        elif name in functions:
            # one that is being run already, or that was come to before: it may call itself
            if depth >= bounds.CALLS.most or name in shell.calls:
                return False
            if name in seen:
                continue
            seen.add(name)
            inner = pure.of_function(*functions[name])
            if inner is None or not _all_harmless(shell, inner, seen, depth + 1):
                return False
        elif name not in pure.HARMLESS and not _unheard(shell, name):
            return False
    return True
