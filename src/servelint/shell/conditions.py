"""`[ ... ]`, `[[ ... ]]` and `test`: whether they hold, as far as their operands are known."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable

from servelint.shell.state import Status
from servelint.shell.syntax import Node
from servelint.text import HOLE, Text

_NUMERIC = {"-eq": "==", "-ne": "!=", "-gt": ">", "-ge": ">=", "-lt": "<", "-le": "<="}
_GLOB = frozenset("*?[")

Operand = Callable[[Node], Text]
IsSet = Callable[[str], bool]


def condition(node: Node, operand: Operand, is_set: IsSet) -> Status:
    """The status of a condition's syntax node. operand: the text that an operand's node expands to."""
    kind = node.type
    if kind in ("test_command", "parenthesized_expression"):
        inner = [child for child in node.children if child.is_named]
        return condition(inner[0], operand, is_set) if len(inner) == 1 else Status(None, likely=False)
    if kind == "unary_expression":
        operator = node.children[0].text
        target = node.children[-1]
        if operator == b"!":
            return condition(target, operand, is_set).negated()
        return unary((operator or b"").decode(), operand(target), is_set)
    if kind == "binary_expression":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        if left is None or right is None or sign is None:
            return Status(None, likely=False)
        operator_text = (sign.text or b"").decode()
        if operator_text in ("&&", "-a"):
            return both(condition(left, operand, is_set), condition(right, operand, is_set))
        if operator_text in ("||", "-o"):
            return either(condition(left, operand, is_set), condition(right, operand, is_set))
        literal = right.type in ("string", "raw_string")
        return binary(operator_text, operand(left), operand(right), pattern=not literal)
    if kind == "negation_expression":
        return condition(node.children[-1], operand, is_set).negated()
    text = operand(node)
    return unary("-n", text, is_set)


def both(left: Status, right: Status) -> Status:
    if left.value is False or right.value is False:
        decisive = [side for side in (left, right) if side.value is False]
        return Status(False, assumed=all(side.assumed for side in decisive))
    known = left.value is not None and right.value is not None
    return Status(True if known else None, left.likely and right.likely, left.assumed or right.assumed)


def either(left: Status, right: Status) -> Status:
    return both(left.negated(), right.negated()).negated()


def unary(operator: str, text: Text, is_set: IsSet) -> Status:
    empty = not text.flat
    if operator in ("-z", "-n"):
        if HOLE in text.flat and text.flat.replace(HOLE, ""):
            empty_known: bool | None = False
        else:
            empty_known = None if HOLE in text.flat else empty
        status = Status(empty_known, likely=True, assumed=text.assumed)
        return status if operator == "-z" else status.negated()
    if operator == "-v":
        return Status(True) if text.value is not None and is_set(text.value) else Status(None, likely=False)
    return Status(None, likely=False)


def binary(operator: str, left: Text, right: Text, pattern: bool = False) -> Status:
    assumed = left.assumed or right.assumed
    known = left.known and right.known
    # a variable that nothing sets is empty in a run without it
    one, two = left.flat.replace(HOLE, ""), right.flat.replace(HOLE, "")
    if operator in ("=", "==", "!="):
        equal = fnmatch.fnmatchcase(one, two) if pattern and _GLOB & set(two) else one == two
        holds = equal if operator != "!=" else not equal
    elif operator in _NUMERIC:
        try:
            holds = _compare(_NUMERIC[operator], int(one), int(two))
        except ValueError:
            return Status(None, likely=False)
    elif operator in ("<", ">"):
        holds = _compare(operator, one, two)
    else:
        return Status(None, likely=False)
    return Status(holds if known else None, holds, assumed)


def _compare(operator: str, left: int | str, right: int | str) -> bool:
    if isinstance(left, int) and isinstance(right, int):
        order = (left > right) - (left < right)
    else:
        order = (str(left) > str(right)) - (str(left) < str(right))
    return {
        "==": order == 0,
        "!=": order != 0,
        ">": order > 0,
        ">=": order >= 0,
        "<": order < 0,
        "<=": order <= 0,
    }[operator]
