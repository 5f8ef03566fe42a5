"""The values of expressions and operators, unknown where the source alone does not decide them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from servelint.harvest.evaluate import calls, classes, statements
from servelint.harvest.evaluate.builtin import Scope, generic, sequence, union
from servelint.harvest.evaluate.values import (
    MISSING,
    UNKNOWN,
    Class,
    External,
    Function,
    Generic,
    Member,
    Raised,
    Record,
    Undecided,
)


def evaluate(scope: Scope, node: ast.expr) -> Any:
    """The value of an expression, UNKNOWN where it cannot be known. Raises Raised and Undecided."""
    scope.module.program.step()
    kind = _KINDS.get(type(node))
    return kind(scope, node) if kind is not None else UNKNOWN


def truth(value: Any) -> bool | None:
    """The truth value, None where it is not known."""
    if value is UNKNOWN or isinstance(value, External):
        return None
    if isinstance(value, Member):
        return bool(value.value) if isinstance(value.value, (int, float)) else True
    return True if value is MISSING else bool(value)


def _attribute(scope: Scope, node: ast.Attribute) -> Any:
    return classes.attribute(scope.module.program, evaluate(scope, node.value), node.attr)


def elements(scope: Scope, nodes: list[ast.expr]) -> list[Any]:
    """The values of a display's elements, starred ones spread. Raises Undecided where a starred one is not known."""
    found: list[Any] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            found += iterate(scope, evaluate(scope, node.value))
        else:
            found.append(evaluate(scope, node))
    return found


def iterate(scope: Scope, value: Any) -> list[Any]:
    """The elements of a value. Raises Undecided where they are not known."""
    if isinstance(value, Class) and (members := classes.members(scope.module.program, value)):
        return list(members)
    try:
        return sequence(value)
    except LookupError:
        raise Undecided(f"{scope.module.path}: iterates over what is not known") from None


def hashed(items: list[Any]) -> Any:
    """A set of the items, UNKNOWN where one cannot be in a set."""
    try:
        return set(items)
    except TypeError:
        return UNKNOWN


def _dict(scope: Scope, node: ast.Dict) -> Any:
    found: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            spread = evaluate(scope, value)
            if not isinstance(spread, dict):
                raise Undecided(f"{scope.module.path}:{node.lineno}: spreads what is not known")
            found.update(spread)
            continue
        where = evaluate(scope, key)
        if where is UNKNOWN:
            raise Undecided(f"{scope.module.path}:{key.lineno}: a key that is not known")
        found[where] = evaluate(scope, value)
    return found


def _joined(scope: Scope, node: ast.JoinedStr) -> Any:
    text = ""
    for part in node.values:
        if isinstance(part, ast.Constant):
            text += str(part.value)
        elif isinstance(part, ast.FormattedValue):
            value = evaluate(scope, part.value)
            if isinstance(value, Member):
                value = value.value
            if not isinstance(value, (str, int, float, type(None))):
                return UNKNOWN
            shape = evaluate(scope, part.format_spec) if part.format_spec is not None else ""
            if shape is UNKNOWN:
                return UNKNOWN
            text += repr(value) if part.conversion == ord("r") else format(value, shape)
    return text


def _bool(scope: Scope, node: ast.BoolOp) -> Any:
    stop = isinstance(node.op, ast.Or)
    unknown = False
    value: Any = UNKNOWN
    for part in node.values:
        value = evaluate(scope, part)
        known = truth(value)
        if known is None:
            unknown = True
        elif known is stop:
            return UNKNOWN if unknown and not isinstance(value, bool) else value
    return UNKNOWN if unknown else value


def _unary(scope: Scope, node: ast.UnaryOp) -> Any:
    value = evaluate(scope, node.operand)
    if isinstance(node.op, ast.Not):
        known = truth(value)
        return UNKNOWN if known is None else not known
    if isinstance(value, (int, float)):
        return -value if isinstance(node.op, ast.USub) else (+value if isinstance(node.op, ast.UAdd) else ~int(value))
    return UNKNOWN


def _compare(scope: Scope, node: ast.Compare) -> Any:
    left = evaluate(scope, node.left)
    unknown = False
    for op, part in zip(node.ops, node.comparators, strict=True):
        right = evaluate(scope, part)
        result = compare(op, left, right)
        if result is False:
            return False
        unknown = unknown or result is UNKNOWN
        left = right
    return UNKNOWN if unknown else True


def _if(scope: Scope, node: ast.IfExp) -> Any:
    known = truth(evaluate(scope, node.test))
    return UNKNOWN if known is None else evaluate(scope, node.body if known else node.orelse)


def _named(scope: Scope, node: ast.NamedExpr) -> Any:
    value = evaluate(scope, node.value)
    scope.names[node.target.id] = value
    return value


def _lambda(scope: Scope, node: ast.Lambda) -> Any:
    return Function(node, scope.module, scope, scope.owner, defaults=statements.defaults(scope, node.args))


def _subscript(scope: Scope, node: ast.Subscript) -> Any:
    value = evaluate(scope, node.value)
    if isinstance(node.slice, ast.Slice):
        parts = [node.slice.lower, node.slice.upper, node.slice.step]
        bounds = [None if part is None else evaluate(scope, part) for part in parts]
        known = isinstance(value, (str, list, tuple)) and all(bound is None or isinstance(bound, int) for bound in bounds)
        return value[slice(*bounds)] if known else UNKNOWN
    key = evaluate(scope, node.slice)
    if isinstance(value, (External, type)):
        return generic(value, key if isinstance(key, tuple) else (key,))
    return item(scope, value, key)


def item(scope: Scope, value: Any, key: Any) -> Any:
    """`value[key]`. Raises Raised for a known container that has no such item."""
    if key is UNKNOWN or value is UNKNOWN:
        return UNKNOWN
    if isinstance(value, Class):
        for member in classes.members(scope.module.program, value):
            if member.name == key:
                return member
        return UNKNOWN if not isinstance(key, str) else generic(value, (key,))
    if isinstance(value, Record) and value.kind == "environ":
        raise Raised("KeyError", key)
    if isinstance(value, (dict, list, tuple, str)):
        try:
            return value[key]
        except (KeyError, IndexError, TypeError) as error:
            raise Raised(type(error).__name__, key) from error
    return UNKNOWN


def _comprehend(scope: Scope, generators: list[ast.comprehension], emit: Callable[[Scope], None]) -> None:
    if not generators:
        emit(scope)
        return
    first, rest = generators[0], generators[1:]
    for value in iterate(scope, evaluate(scope, first.iter)):
        assign(scope, first.target, value)
        keep = [truth(evaluate(scope, test)) for test in first.ifs]
        if False in keep:
            continue
        if None in keep:
            raise Undecided(f"{scope.module.path}:{first.iter.lineno}: a filter that is not known")
        _comprehend(scope, rest, emit)


def _comprehension(scope: Scope, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Any:
    found: list[Any] = []
    _comprehend(scope.inner(), node.generators, lambda inside: found.append(evaluate(inside, node.elt)))
    return hashed(found) if isinstance(node, ast.SetComp) else found


def _dict_comprehension(scope: Scope, node: ast.DictComp) -> Any:
    found: dict[Any, Any] = {}

    def emit(inside: Scope) -> None:
        found[evaluate(inside, node.key)] = evaluate(inside, node.value)

    _comprehend(scope.inner(), node.generators, emit)
    return UNKNOWN if UNKNOWN in found else found


def assign(scope: Scope, target: ast.expr, value: Any) -> None:
    """Binds a target. Raises Undecided where a container that is not known would have to change."""
    if isinstance(target, ast.Name):
        scope.names[target.id] = value
    elif isinstance(target, (ast.Tuple, ast.List)):
        stars = [index for index, part in enumerate(target.elts) if isinstance(part, ast.Starred)]
        values = [UNKNOWN] * len(target.elts) if value is UNKNOWN else iterate(scope, value)
        if stars and value is not UNKNOWN:
            head, tail = stars[0], len(target.elts) - stars[0] - 1
            values = [*values[:head], values[head : len(values) - tail], *values[len(values) - tail :]]
        if len(values) != len(target.elts):
            raise Undecided(f"{scope.module.path}:{target.lineno}: cannot unpack")
        for part, one in zip(target.elts, values, strict=True):
            assign(scope, part.value if isinstance(part, ast.Starred) else part, one)
    elif isinstance(target, ast.Subscript):
        where, key = evaluate(scope, target.value), evaluate(scope, target.slice)
        if key is not UNKNOWN and isinstance(where, (dict, list)):
            where[key] = value
        elif isinstance(where, (dict, list)):
            raise Undecided(f"{scope.module.path}:{target.lineno}: sets a key that is not known")
    elif isinstance(target, ast.Attribute):
        classes.set_attribute(evaluate(scope, target.value), target.attr, value)


def _call(scope: Scope, node: ast.Call) -> Any:
    function = evaluate(scope, node.func)
    if isinstance(function, External) and function.name == "builtins.super":
        return classes.superclass(scope)
    args = elements(scope, node.args)
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        value = evaluate(scope, keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
        elif isinstance(value, dict):
            kwargs.update(value)
        else:
            raise Undecided(f"{scope.module.path}:{node.lineno}: spreads what is not known")
    return calls.call(scope.module.program, function, args, kwargs)


_KINDS: dict[type[ast.expr], Callable[[Scope, Any], Any]] = {
    ast.Constant: lambda _scope, node: node.value,
    ast.Name: lambda scope, node: scope.get(node.id),
    ast.Attribute: _attribute,
    ast.List: lambda scope, node: elements(scope, node.elts),
    ast.Tuple: lambda scope, node: tuple(elements(scope, node.elts)),
    ast.Set: lambda scope, node: hashed(elements(scope, node.elts)),
    ast.Dict: _dict,
    ast.JoinedStr: _joined,
    ast.BoolOp: _bool,
    ast.UnaryOp: _unary,
    ast.BinOp: lambda scope, node: binary(node.op, evaluate(scope, node.left), evaluate(scope, node.right)),
    ast.Compare: _compare,
    ast.IfExp: _if,
    ast.NamedExpr: _named,
    ast.Lambda: _lambda,
    ast.Subscript: _subscript,
    ast.ListComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _dict_comprehension,
    ast.Call: _call,
    ast.Starred: lambda scope, node: evaluate(scope, node.value),
}


# -- operators


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
    if isinstance(op, (ast.Pow, ast.LShift)) and not (isinstance(right, (int, float)) and abs(right) <= 1024):
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
