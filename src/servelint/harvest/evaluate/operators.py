"""Binary operators and comparisons over values of which not all are known."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from servelint.harvest.evaluate.builtin import union
from servelint.harvest.evaluate.values import UNKNOWN, Class, External, Generic, Member, Raised, Record

_LARGEST = 1_000_000
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}
_PLAIN = (int, float, str, list, tuple, dict, set, frozenset)


def _is_type(value: Any) -> bool:
    return isinstance(value, (type, Class, External, Generic)) or value is None


def binary(op: ast.operator, left: Any, right: Any) -> Any:
    """`left op right`; a union where both are types."""
    left = left.value if isinstance(left, Member) and isinstance(left.value, (str, int)) else left
    right = right.value if isinstance(right, Member) and isinstance(right.value, (str, int)) else right
    if isinstance(op, ast.BitOr) and _is_type(left) and (_is_type(right) or isinstance(right, str)):
        return union((left, right))
    views: Any = (type({}.keys()), type({}.values()), type({}.items()))
    left = list(left) if isinstance(left, views) else left
    right = list(right) if isinstance(right, views) else right
    if not isinstance(left, _PLAIN) or not isinstance(right, _PLAIN):
        return UNKNOWN
    if isinstance(op, (ast.Pow, ast.LShift)) and not _small(right, 1024):
        return UNKNOWN
    if isinstance(op, ast.Mult) and not (isinstance(left, (int, float)) and isinstance(right, (int, float))):
        size, factor = (left, right) if isinstance(right, int) else (right, left)
        if not isinstance(factor, int) or isinstance(size, (int, float)) or len(size) * factor > _LARGEST:
            return UNKNOWN
    try:
        return _BINARY[type(op)](left, right)
    except ZeroDivisionError as error:
        raise Raised("ZeroDivisionError") from error
    except (TypeError, ValueError, KeyError, OverflowError):
        return UNKNOWN


def _small(value: Any, limit: int) -> bool:
    return isinstance(value, (int, float)) and abs(value) <= limit


def same(left: Any, right: Any) -> Any:
    """`left is right` as far as it is known: True, False or UNKNOWN."""
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(left, (External, Member)) and isinstance(right, (External, Member)):
        return left == right
    if left is None or right is None or isinstance(left, (External, Class, type)) or isinstance(right, (External, Class, type)):
        return left is right
    if isinstance(left, bool) and isinstance(right, bool):
        return left == right
    return True if left is right else (UNKNOWN if type(left) is type(right) else False)


def equal(left: Any, right: Any) -> Any:
    """`left == right` as far as it is known."""
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(left, External) or isinstance(right, External):
        both = isinstance(left, External) and isinstance(right, External)
        types = _is_type(left) and _is_type(right)
        return left == right if both or types else UNKNOWN
    if isinstance(left, Member) != isinstance(right, Member):
        left = left.value if isinstance(left, Member) else left
        right = right.value if isinstance(right, Member) else right
        return left == right if isinstance(left, str) and isinstance(right, str) else UNKNOWN
    return bool(left == right)


def contains(container: Any, value: Any) -> Any:
    """`value in container` as far as it is known."""
    if container is UNKNOWN or value is UNKNOWN:
        return UNKNOWN
    if isinstance(container, Record) and container.kind in ("environ", "modules"):
        return False  # an empty environment, and nothing imported
    if isinstance(container, str):
        return value in container if isinstance(value, str) else UNKNOWN
    if not isinstance(container, (list, tuple, dict, set, frozenset, range, type({}.keys()), type({}.values()))):
        return UNKNOWN
    results = [equal(item, value) for item in container]
    return True if True in results else (UNKNOWN if any(result is UNKNOWN for result in results) else False)


def compare(op: ast.cmpop, left: Any, right: Any) -> Any:
    """One comparison: True, False or UNKNOWN."""
    if isinstance(op, (ast.Is, ast.IsNot)):
        result = same(left, right)
        negative = isinstance(op, ast.IsNot)
    elif isinstance(op, (ast.Eq, ast.NotEq)):
        result = equal(left, right)
        negative = isinstance(op, ast.NotEq)
    elif isinstance(op, (ast.In, ast.NotIn)):
        result = contains(right, left)
        negative = isinstance(op, ast.NotIn)
    else:
        order = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}[type(op)]
        known = isinstance(left, _PLAIN) and isinstance(right, _PLAIN)
        try:
            return bool(order(left, right)) if known else UNKNOWN
        except TypeError:
            return UNKNOWN
    return result if result is UNKNOWN else result is not negative
