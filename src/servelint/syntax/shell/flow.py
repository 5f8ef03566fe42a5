"""Control flow: lists, pipelines, conditionals, loops, subshells, function definitions."""

from __future__ import annotations

import re
from collections.abc import Callable

from servelint.core.launch import Word
from servelint.core.text import EMPTY, TracedText, unknown
from servelint.syntax.shell import builtins, commands, conditions
from servelint.syntax.shell.state import (
    BREAK,
    CONTINUE,
    EXIT,
    FAIL,
    SUCCESS,
    UNSET,
    UNSURE,
    State,
    Status,
    Value,
    changed,
    join,
    same,
)
from servelint.syntax.shell.syntax import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.evaluate import Evaluator

_ITERATIONS_AT_MOST = 16
_ITEMS_COLLECTED_AT_MOST = 256
_COLLECTS = re.compile(
    r"do\s+(?P<array>[A-Za-z_]\w*)\+=\(\s*(?:\"\$\{?(\w+)(?:@Q)?\}?\""
    r"|\"?\$\(\s*printf\s+(?:--\s+)?[\"']?%q[\"']?\s+\"\$\{?(\w+)\}?\"\s*\)\"?)\s*\)\s*;?\s*done",
    re.ASCII,
)
"""The body of a loop that only appends its item to an array, as it is or quoted for another shell."""
_OF_ARGUMENTS = re.compile(r"\bgetopts\b|\$[#@*1]|\$\{[#@*1]\b|\$\{[@*]")
"""In the head of a loop over the arguments of the script."""
_ALL_ITEMS = re.compile(r"\"?\$\{(!?)([A-Za-z_]\w*)\[[@*]\]\}\"?", re.ASCII)


def subshell(shell: Evaluator, node: Node) -> Status:
    """`( ... )`."""
    return apart(shell, lambda: shell.sequence(node))


def apart(shell: Evaluator, run: Callable[[], Status]) -> Status:
    """Run something in a subshell: what it sets is dropped afterwards, what it installs stays."""
    outer = shell.state
    around, on_path, shell.left = shell.left, shell.on_path, []
    shell.state = outer.copy()
    status = run()
    shell.left, shell.on_path = around, on_path
    if shell.state.control in (EXIT, FAIL):
        status = shell.state.status
    outer.installed = shell.state.installed
    outer.files = shell.state.files
    shell.state = outer
    return status


def pipeline(shell: Evaluator, node: Node) -> Status:
    """`a | b`."""
    return commands.pipe(shell, None, node.parts)


def negated(shell: Evaluator, node: Node) -> Status:
    """`! command`."""
    return shell.tried(lambda: shell.visit(node.children[-1])).negated()


def test(shell: Evaluator, node: Node) -> Status:
    """`[[ ... ]]`, `[ ... ]` and, as some trees have it, `(( ... ))`."""
    opening = node.children[0].type
    start, end = node.start_byte + len(opening), node.end_byte - len(node.children[-1].text)
    shell.reads = shell.floor
    if opening == "[[":
        return conditions.double(shell.script.text.cut(start, end), shell)
    if opening == "((":
        return shell.arithmetic_status(shell.script.text.cut(start, end))
    return conditions.single([word for raw in shell.script.raws(start, end) for word in raw.words(shell)], shell)


def compound(shell: Evaluator, node: Node) -> Status:
    """`{ ...; }`, and `(( ... ))` as a command."""
    return test(shell, node) if node.children[0].type == "((" else shell.sequence(node)


def both_or_either(shell: Evaluator, node: Node) -> Status:
    """`a && b`, `a || b`."""
    sides = node.parts
    status = shell.tried(lambda: shell.visit(sides[0])) if sides else UNSURE
    if len(sides) < 2 or shell.state.control is not None:
        return status
    both = any(child.type == "&&" for child in node.children)
    runs = status if both else status.negated()
    last = [status]
    reads = shell.reads
    shell.branch(runs, lambda: last.append(shell.visit(sides[1])), lambda: None, node, (sides[0].start_byte, sides[0].end_byte))
    shell.reads |= reads
    if runs.certain or shell.world is not None:
        return last[-1]
    return Status(None, likely=last[-1].likely if runs.likely else status.likely)


def if_statement(shell: Evaluator, node: Node) -> Status:
    """`if`, with its `elif` and `else`."""
    _clause(shell, node, [child for child in node.children if child.type in ("elif_clause", "else_clause")])
    return UNSURE


def _clause(shell: Evaluator, node: Node, rest: list[Node]) -> None:
    """An `if` or `elif` with the clauses after it."""
    then = next((child.start_byte for child in node.children if child.type == "then"), node.end_byte)
    named = [child for child in node.parts if child.type not in ("elif_clause", "else_clause")]
    status = shell.tried(lambda: shell.each([child for child in named if child.start_byte < then]))

    def otherwise() -> None:
        if rest and rest[0].type == "else_clause":
            shell.each(rest[0].parts)
        elif rest:
            _clause(shell, rest[0], rest[1:])

    body = [child for child in named if child.start_byte > then]
    tests = [child for child in named if child.start_byte < then]
    test = (tests[0].start_byte, tests[-1].end_byte) if tests else None
    shell.branch(status, lambda: shell.each(body), otherwise, node, test)


def case_statement(shell: Evaluator, node: Node) -> Status:
    """`case`."""
    value_node = node.field("value")
    shell.reads = shell.floor
    subject = shell.expand(shell.script.cut(value_node), False) if value_node is not None else EMPTY
    raw = shell.script.cut(value_node) if value_node is not None else EMPTY
    _case_items(shell, raw, subject, [child for child in node.children if child.type == "case_item"])
    return UNSURE


def _case_items(
    shell: Evaluator, raw: TracedText, subject: TracedText, items: list[Node], falls: bool = False, last: bool = False
) -> None:
    """The items of a `case` from an index on.

    Args:
        shell: The evaluator.
        raw: What is tested, as written.
        subject: Its value.
        items: The items.
        falls: Whether the item before ended with `;&`.
        last: Whether it is not known if an item before is the one.
    """
    if not items:
        return
    item, rest = items[0], items[1:]
    values = item.fields("value")
    patterns = [shell.script.cut(part) for part in values]
    status = SUCCESS if falls else builtins.matches(subject, patterns, shell, raw)
    starts = {part.start_byte for part in values}
    body = [child for child in item.parts if child.start_byte not in starts]
    end = item.children[-1].type

    def chosen() -> None:
        shell.each(body)
        if end in (";&", ";;&") and shell.state.control is None:
            _case_items(shell, raw, subject, rest, falls=end == ";&")

    if last and status.certain and status.value:
        chosen()  # where it gives up, the items before do not
        return
    test = (values[0].start_byte, values[-1].end_byte) if values else None
    last = last or not status.certain
    shell.branch(status, chosen, lambda: _case_items(shell, raw, subject, rest, last=last), item, test, raw)


def for_statement(shell: Evaluator, node: Node) -> Status:
    """`for name in words` and `select`."""
    return shell.leaving(lambda: _for(shell, node), (BREAK,))


def _for(shell: Evaluator, node: Node) -> Status:
    variable, body = node.field("variable"), node.field("body")
    name = variable.text if variable is not None else ""
    values = node.fields("value")
    items: list[Word] | None = shell.state.args
    collected = _COLLECTS.fullmatch(shell.script.text.flat, body.start_byte, body.end_byte) if body is not None else None
    most = _ITERATIONS_AT_MOST if collected is None else _ITEMS_COLLECTED_AT_MOST
    shell.reads = shell.floor
    if any(child.type == "in" or child.text == "in" for child in node.children[2:]):  # `for I in;` is an error of the grammar
        raws = shell.script.raws(values[0].start_byte, values[-1].end_byte) if values else []
        items = [word for raw in raws for word in raw.words(shell, most)]
    else:
        shell.array("@")
    if body is None or items == []:
        return UNSURE
    reads, held = shell.reads, shell.held
    unordered = _unordered(shell, shell.script.cut(values[0]).flat) if len(values) == 1 else None
    if unordered is not None:
        # bash goes through them in the order of a hash table: what one round changes is unknown in every other
        start, found = shell.state.copy(), shell.found
        shell.found = lambda _: None
        shell.set(name, unordered[0])
        if _iteration(shell, body):
            start = join(start, shell.state)
        shell.found = found
        for text in unordered:
            shell.state, shell.reads = start.copy(), reads
            shell.set(name, text)
            if not _iteration(shell, body):
                break
        else:
            shell.state = join(start, shell.state)
        shell.held = held
        return UNSURE
    if collected is not None and items is not None and len(items) <= most and name in collected.groups():
        _collect(shell, name, body, collected["array"], items)
        shell.held = held
        return UNSURE
    if node.children[0].type == "select" or (items is not None and len(items) > _ITERATIONS_AT_MOST):
        items = None
    if items is None or any(word.many for word in items):

        def once() -> None:
            shell.reads = reads
            shell.set(name, TracedText((unknown("${" + name + "}", None),)))
            _iteration(shell, body)

        _perhaps(shell, UNSURE, once, node, name)
        shell.held = held
        return UNSURE
    for word in items:
        shell.reads = reads
        shell.set(name, word.text)
        if not _iteration(shell, body):
            break
    shell.held = held
    return UNSURE


def _collect(shell: Evaluator, name: str, body: Node, array: str, items: list[Word]) -> None:
    """Follow a loop that only appends each item to an array; an item that stands for several words still does there."""
    for word in items:
        shell.set(name, word.text)
        if not _iteration(shell, body):
            break
        filled = shell.state.variables.get(shell.resolved(array))
        if word.many and isinstance(filled, list) and filled:
            shell.set(array, [*filled[:-1], Word(filled[-1].text, filled[-1].site, many=True)])


def _unordered(shell: Evaluator, written: str) -> list[TracedText] | None:
    """The keys or values of an associative array whose items a loop goes through; None for any other words."""
    match = _ALL_ITEMS.fullmatch(written)
    value = shell.state.variables.get(shell.resolved(match.group(2))) if match is not None else None
    if match is None or not isinstance(value, dict) or not 1 < len(value) <= _ITERATIONS_AT_MOST:
        return None
    return [TracedText.of(key) for key in value] if match.group(1) else list(value.values())


def _iteration(shell: Evaluator, body: Node) -> bool:
    """Run a loop's body once; whether the loop goes on after it."""
    shell.loops += 1
    shell.leaving(lambda: shell.visit(body), (CONTINUE,))
    shell.loops -= 1
    state = shell.state
    if state.control not in (BREAK, CONTINUE):
        return state.control is None
    goes_on = state.control == CONTINUE and state.levels <= 1
    state.levels -= 1
    if state.levels <= 0:
        state.control = None
    return goes_on


def loop(shell: Evaluator, node: Node) -> Status:
    """`while` and `until`: followed for as long as the condition is known to hold."""
    body = node.field("body")
    tests = [test for test in node.fields("condition") if test.is_named]
    until = node.children[0].type == "until"

    def condition() -> Status:
        status = shell.tried(lambda: shell.each(tests))
        return status.negated() if until else status

    if body is not None:
        _repeat(shell, condition, body, lambda: None, node)
    return UNSURE


def counting_loop(shell: Evaluator, node: Node) -> Status:
    """`for ((start; condition; step))`."""
    body = node.field("body")
    head = next((child for child in node.children if child.type == "(("), None)
    end = next((child.start_byte for child in node.children if child.type == "))"), node.end_byte)
    if body is None or head is None:
        return UNSURE
    text = shell.script.text.cut(head.end_byte, end)
    first = text.flat.find(";")
    second = text.flat.find(";", first + 1)
    if first == -1 or second == -1:
        return UNSURE
    start, test, step = text.cut(0, first), text.cut(first + 1, second), text.cut(second + 1)
    shell.arithmetic_status(start)

    def condition() -> Status:
        return shell.arithmetic_status(test) if test.strip().flat else SUCCESS

    _repeat(shell, condition, body, lambda: shell.arithmetic_status(step), node)
    return UNSURE


def _repeat(shell: Evaluator, condition: Callable[[], Status], body: Node, step: Callable[[], object], node: Node) -> None:
    """Follow a loop for as long as its condition is known to hold; what it changes after that is unknown."""
    held = shell.held
    shell.leaving(lambda: _rounds(shell, condition, body, step, node), (BREAK,))
    shell.held = held


def _rounds(shell: Evaluator, condition: Callable[[], Status], body: Node, step: Callable[[], object], node: Node) -> None:
    start = shell.state.copy()
    for _ in range(_ITERATIONS_AT_MOST):
        before = shell.state.copy()
        status = condition()
        if shell.state.control is not None or (status.certain and not status.value):
            return
        if not status.certain:
            _perhaps(shell, status, lambda: _iteration(shell, body), node)
            return
        if not _iteration(shell, body):
            return
        step()
        if _unchanged(before, shell.state):
            break
    shell.state = join(shell.state, start)


def _perhaps(shell: Evaluator, status: Status, once: Callable[[], object], node: Node, variable: str = "") -> None:
    """Look at a loop's body once where it may run any number of times. `variable`: what each round sets anew."""
    before = shell.state.copy()
    bodies = [child.start_byte for child in node.children if child.type in ("do_group", "compound_statement")]
    head = bodies[-1] if bodies else node.end_byte  # `(( ... ))` as the condition comes before
    text = shell.script.text.cut(node.start_byte, head).flat
    fills = _OF_ARGUMENTS.search(text) is not None or (node.type == "for_statement" and " in " not in text)
    empty = [name for name, value in before.variables.items() if _is_empty(value)] if fills else []
    filled: set[str] = set()

    def observed() -> None:
        once()
        filled.update([name for name in empty if shell.state.variables.get(name) is not before.variables[name]])

    shell.branch(status, observed, lambda: None, node, (node.start_byte, head))
    if (
        shell.world is None
        and status.value is None
        and shell.state.control is None
        and not _unchanged(before, shell.state, variable)
    ):
        # what a second round would change is unknown as well; its commands were seen in the first
        found, shell.found = shell.found, lambda _: None
        shell.branch(status, observed, lambda: None, node)
        shell.found = found
    if empty:
        shell.fill(node, filled)


def _is_empty(value: Value | None) -> bool:
    return value == [] or (isinstance(value, TracedText) and not value.flat and value is not UNSET)


def _unchanged(before: State, after: State, besides: str = "") -> bool:
    ours, theirs = before.variables, after.variables
    names = [name for name in changed(ours, theirs) if name != besides]
    return before.args is after.args and all(same(ours.get(name), theirs.get(name)) for name in names)


def function_definition(shell: Evaluator, node: Node) -> Status:
    """Note a function."""
    name, body = node.field("name"), node.field("body")
    if body is not None:
        function = name.text if name is not None else ""
        if function in shell.bodies:
            shell.again.add(function)
        shell.state.own_functions()[function] = shell.script, body
        shell.bodies.setdefault(function, {})[shell.script.extent, body.start_byte] = shell.script, body
    return SUCCESS
