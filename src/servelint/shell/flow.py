"""Control flow: lists, conditionals, loops, subshells, function definitions."""

from __future__ import annotations

from servelint.launch import Word
from servelint.shell import builtins, expand
from servelint.shell.conditions import condition
from servelint.shell.state import BREAK, CONTINUE, EXIT, FAIL, RETURN, SUCCESS, UNSURE, Status
from servelint.shell.syntax import Node, name_of, parts
from servelint.text import EMPTY, Text, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.shell.evaluate import Evaluator

_ITERATIONS_AT_MOST = 16


def subshell(shell: Evaluator, node: Node) -> Status:
    outer = shell.state
    shell.state = outer.copy()
    status = shell.sequence(node)
    outer.installed = shell.state.installed
    shell.state = outer
    return status


def pipeline(shell: Evaluator, node: Node) -> Status:
    status = UNSURE
    for child in parts(node):
        outer = shell.state
        shell.state = outer.copy()
        status = shell.visit(child)
        shell.state = outer
    return Status(None, likely=status.likely)


def negated(shell: Evaluator, node: Node) -> Status:
    return shell.visit(node.children[-1]).negated()


def test(shell: Evaluator, node: Node) -> Status:
    return condition(node, lambda part: shell.expand(shell.script.cut(part), False), shell.is_set)


def both_or_either(shell: Evaluator, node: Node) -> Status:
    """`a && b`, `a || b`."""
    sides = parts(node)
    status = shell.visit(sides[0]) if sides else UNSURE
    if len(sides) < 2 or shell.state.control is not None:
        return status
    runs = status if any(child.type == "&&" for child in node.children) else status.negated()
    last = [status]
    shell.branch(runs, lambda: last.append(shell.visit(sides[1])), _nothing)
    if runs.certain:
        return last[-1]
    return Status(None, likely=last[-1].likely if runs.likely else status.likely)


def if_statement(shell: Evaluator, node: Node) -> Status:
    clause(shell, node, [child for child in node.children if child.type in ("elif_clause", "else_clause")])
    return UNSURE


def clause(shell: Evaluator, node: Node, rest: list[Node]) -> None:
    """An `if` or `elif` with the clauses after it."""
    then = next((child.start_byte for child in node.children if child.type == "then"), node.end_byte)
    named = [child for child in parts(node) if child.type not in ("elif_clause", "else_clause")]
    status = shell.each([child for child in named if child.start_byte < then])

    def otherwise() -> None:
        if rest and rest[0].type == "else_clause":
            shell.sequence(rest[0])
        elif rest:
            clause(shell, rest[0], rest[1:])

    shell.branch(status, lambda: shell.each([child for child in named if child.start_byte > then]), otherwise)


def case_statement(shell: Evaluator, node: Node) -> Status:
    value_node = node.child_by_field_name("value")
    subject = shell.expand(shell.script.cut(value_node), False) if value_node is not None else EMPTY
    case_items(shell, subject, [child for child in node.children if child.type == "case_item"])
    return UNSURE


def case_items(shell: Evaluator, subject: Text, items: list[Node]) -> None:
    if not items:
        return
    patterns = items[0].children_by_field_name("value")
    status = builtins.matches(subject, [shell.script.cut(part) for part in patterns], shell)
    starts = {part.start_byte for part in patterns}
    body = [child for child in parts(items[0]) if child.start_byte not in starts]
    shell.branch(status, lambda: shell.each(body), lambda: case_items(shell, subject, items[1:]))


def for_statement(shell: Evaluator, node: Node) -> Status:
    name, body = name_of(node.child_by_field_name("variable")), node.child_by_field_name("body")
    values = node.children_by_field_name("value")
    items: list[Word] | None = [word for part in values for word in expand.words(shell.script.cut(part), shell)]
    if not values:
        items = shell.state.args
    if items is None or any(word.many for word in items) or len(items) > _ITERATIONS_AT_MOST:
        items = [Word(Text((unknown("${" + name + "}", None),)))]
    for word in items:
        shell.state.variables[name] = word.text
        if body is not None:
            shell.visit(body)
        control, shell.state.control = shell.state.control, None
        if control == BREAK:
            break
        if control in (EXIT, FAIL, RETURN):
            shell.state.control = control
            break
    return UNSURE


def loop(shell: Evaluator, node: Node) -> Status:
    """`while`, `until` and `for ((...))`: the body is looked at once."""
    body = node.child_by_field_name("body")
    if body is None:
        return UNSURE

    def once() -> None:
        shell.visit(body)
        if shell.state.control in (BREAK, CONTINUE):
            shell.state.control = None

    status = UNSURE
    if node.type == "while_statement":
        status = shell.each([test for test in node.children_by_field_name("condition") if test.is_named])
        if node.children[0].type == "until":
            status = status.negated()
    shell.branch(status, once, _nothing)
    return UNSURE


def function_definition(shell: Evaluator, node: Node) -> Status:
    name, body = name_of(node.child_by_field_name("name")), node.child_by_field_name("body")
    if body is not None:
        shell.state.functions[name] = (shell.script, body)
    return SUCCESS


def _nothing() -> None:
    return None
