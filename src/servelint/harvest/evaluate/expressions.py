"""Evaluation of expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from servelint.harvest.evaluate import calls, classes, operators, statements
from servelint.harvest.evaluate.builtin import generic, sequence
from servelint.harvest.evaluate.scope import Scope
from servelint.harvest.evaluate.values import (
    MISSING,
    UNKNOWN,
    Class,
    External,
    Function,
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


def _constant(_scope: Scope, node: ast.Constant) -> Any:
    return node.value


def _name(scope: Scope, node: ast.Name) -> Any:
    return scope.get(node.id)


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
    if isinstance(value, Class):
        members = classes.members(scope.module.program, value)
        if members:
            return list(members)
    try:
        return sequence(value)
    except LookupError:
        raise Undecided(f"{scope.module.path}: iterates over what is not known") from None


def _list(scope: Scope, node: ast.List) -> Any:
    return elements(scope, node.elts)


def _tuple(scope: Scope, node: ast.Tuple) -> Any:
    return tuple(elements(scope, node.elts))


def _set(scope: Scope, node: ast.Set) -> Any:
    return hashed(elements(scope, node.elts))


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


def _binary(scope: Scope, node: ast.BinOp) -> Any:
    return operators.binary(node.op, evaluate(scope, node.left), evaluate(scope, node.right))


def _compare(scope: Scope, node: ast.Compare) -> Any:
    left = evaluate(scope, node.left)
    unknown = False
    for op, part in zip(node.ops, node.comparators, strict=True):
        right = evaluate(scope, part)
        result = operators.compare(op, left, right)
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
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.List: _list,
    ast.Tuple: _tuple,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.JoinedStr: _joined,
    ast.BoolOp: _bool,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
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
