"""Execution of statements: function bodies, and the top-level statements that a name needs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from servelint.harvest.evaluate import expressions
from servelint.harvest.evaluate.builtin import Scope
from servelint.harvest.evaluate.values import UNBOUND, UNKNOWN, Class, Function, Raised, Record, Undecided

if TYPE_CHECKING:
    from servelint.harvest.pysource import Module

_BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While)
_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


def bindings(body: list[ast.stmt]) -> dict[str, list[ast.stmt]]:
    """The statements of a body that bind each name or change its value, in order; "*" for `from x import *`."""
    found: dict[str, list[ast.stmt]] = {}
    for statement in body:
        for name in dict.fromkeys(_binds(statement)):
            found.setdefault(name, []).append(statement)
    bound = {name for name, nodes in found.items() if any(name in _binds(node, False) for node in nodes)}
    return {name: nodes for name, nodes in found.items() if name in bound}


def _binds(statement: ast.stmt, changes: bool = True) -> Iterator[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield alias.asname or (alias.name.partition(".")[0] if isinstance(statement, ast.Import) else alias.name)
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from _targets(target, changes)
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        yield from _targets(statement.target, changes)
    elif isinstance(statement, ast.Expr) and changes:
        call = statement.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            yield call.func.value.id
    elif isinstance(statement, _BLOCKS):
        if isinstance(statement, ast.For):
            yield from _targets(statement.target, changes)
        for inner in children(statement):
            yield from _binds(inner, changes)


def _targets(target: ast.expr, changes: bool) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _targets(part, changes)
    elif isinstance(target, ast.Starred) or (isinstance(target, ast.Subscript) and changes):
        yield from _targets(target.value, changes)


def children(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements directly inside a compound statement."""
    for name in ("body", "orelse", "finalbody"):
        yield from getattr(statement, name, [])
    for handler in getattr(statement, "handlers", []):
        yield from handler.body


def flat(module: Module, body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a class body with those inside an `if` whose condition is known to hold."""
    for statement in body:
        if isinstance(statement, ast.If):
            known = expressions.truth(module.value(statement.test))
            yield from flat(module, statement.body if known else statement.orelse if known is False else [])
        else:
            yield statement


def top_level(module: Module, name: str, nodes: list[ast.stmt]) -> Any:
    """The value of a module's name, UNBOUND where no statement that runs binds it.

    The statements that bind or change the name run in order; all other names come from the module.
    """
    scope = Scope(module)
    last = nodes[-1]
    if isinstance(last, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
        nodes = [last]
    for node in nodes:
        execute(scope, node, name)
    return scope.names.get(name, UNBOUND)


def run(scope: Scope, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Any:
    """What a function's body returns; a list for a generator."""
    if _is_generator(node):
        scope.yields = []
    try:
        block(scope, node.body)
    except _Return as done:
        return done.value if scope.yields is None else scope.yields
    return scope.yields


def _is_generator(node: ast.AST) -> bool:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(child, (ast.FunctionDef, ast.Lambda, ast.ClassDef)) and _is_generator(child):
            return True
    return False


def block(scope: Scope, body: list[ast.stmt]) -> None:
    """Runs statements in order."""
    for statement in body:
        execute(scope, statement)


def execute(scope: Scope, node: ast.stmt, only: str | None = None) -> None:
    """Runs one statement. With `only`, a compound statement's parts that have nothing to do with that name are left out."""
    scope.module.program.step()
    if only is not None and only not in set(_binds(node)):
        return
    if (kind := _KINDS.get(type(node))) is not None:
        kind(scope, node, only)


def _inside(scope: Scope, body: list[ast.stmt], only: str | None) -> None:
    for statement in body:
        execute(scope, statement, only)


def _assign(scope: Scope, node: ast.Assign, _only: str | None) -> None:
    value = expressions.evaluate(scope, node.value)
    for target in node.targets:
        expressions.assign(scope, target, value)


def _annotated(scope: Scope, node: ast.AnnAssign, _only: str | None) -> None:
    if node.value is not None:
        expressions.assign(scope, node.target, expressions.evaluate(scope, node.value))


def _augmented(scope: Scope, node: ast.AugAssign, _only: str | None) -> None:
    old = expressions.evaluate(scope, node.target)
    value = expressions.evaluate(scope, node.value)
    if isinstance(old, list) and isinstance(node.op, ast.Add):
        old.extend(expressions.iterate(scope, value))
        return
    expressions.assign(scope, node.target, expressions.binary(node.op, old, value))


def _expression(scope: Scope, node: ast.Expr, _only: str | None) -> None:
    if isinstance(node.value, ast.Yield) and scope.yields is not None:
        scope.yields.append(None if node.value.value is None else expressions.evaluate(scope, node.value.value))
    elif isinstance(node.value, ast.YieldFrom) and scope.yields is not None:
        scope.yields += expressions.iterate(scope, expressions.evaluate(scope, node.value.value))
    elif not isinstance(node.value, ast.Constant):
        expressions.evaluate(scope, node.value)


def _if(scope: Scope, node: ast.If, only: str | None) -> None:
    if (known := expressions.truth(expressions.evaluate(scope, node.test))) is not None:
        _inside(scope, node.body if known else node.orelse, only)
        return
    place = f"{scope.module.path}:{node.lineno}: `if {ast.unparse(node.test)}`"
    inner = [child for part in (*node.body, *node.orelse) for child in ast.walk(part)]
    if any(isinstance(child, _LEAVES) for child in inner):
        raise Undecided(f"{place} is not known")
    scope.module.program.report(f"{place} is not known; left out")
    for name in set(_binds(node)) if only is None else {only}:
        scope.names[name] = UNKNOWN


def _for(scope: Scope, node: ast.For, _only: str | None) -> None:
    for value in expressions.iterate(scope, expressions.evaluate(scope, node.iter)):
        expressions.assign(scope, node.target, value)
        try:
            _inside(scope, node.body, None)
        except _Continue:
            continue
        except _Break:
            return
    _inside(scope, node.orelse, None)


def _while(scope: Scope, node: ast.While, _only: str | None) -> None:
    while True:
        known = expressions.truth(expressions.evaluate(scope, node.test))
        if known is None:
            raise Undecided(f"{scope.module.path}:{node.lineno}: a loop whose end is not known")
        if not known:
            return
        try:
            _inside(scope, node.body, None)
        except _Continue:
            continue
        except _Break:
            return


def _try(scope: Scope, node: ast.Try, only: str | None) -> None:
    try:
        _inside(scope, node.body, only)
        _inside(scope, node.orelse, only)
    except Raised as error:
        for handler in node.handlers:
            names = ["Exception"] if handler.type is None else _caught(handler.type)
            if {error.kind, "Exception", "BaseException"} & set(names):
                if handler.name:
                    scope.names[handler.name] = Record(error.kind, {"args": [error.message]})
                _inside(scope, handler.body, only)
                break
        else:
            raise
    finally:
        _inside(scope, node.finalbody, only)


def _caught(node: ast.expr) -> list[str]:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return [ast.unparse(part).rpartition(".")[2] for part in parts]


def _with(scope: Scope, node: ast.With, only: str | None) -> None:
    for item in node.items:
        if item.optional_vars is not None:
            expressions.assign(scope, item.optional_vars, UNKNOWN)
    _inside(scope, node.body, only)


def _return(scope: Scope, node: ast.Return, _only: str | None) -> None:
    raise _Return(None if node.value is None else expressions.evaluate(scope, node.value))


def _raise(scope: Scope, node: ast.Raise, _only: str | None) -> None:
    call = node.exc
    name = ast.unparse(call.func if isinstance(call, ast.Call) else call) if call is not None else "Exception"
    message = expressions.evaluate(scope, call.args[0]) if isinstance(call, ast.Call) and call.args else ""
    if message is UNKNOWN:
        message = f"at {scope.module.path}:{node.lineno}"
    raise Raised(name.rpartition(".")[2], message)


def _stop(error: type[Exception]) -> Callable[[Scope, Any, str | None], None]:
    def work(_scope: Scope, _node: ast.stmt, _only: str | None) -> None:
        raise error

    return work


def _function(scope: Scope, node: ast.FunctionDef, _only: str | None) -> None:
    names = [ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list]
    if "overload" not in names and not any(name in ("setter", "deleter") for name in names):
        function = Function(node, scope.module, scope, scope.owner)
        if scope.parent is not None and not scope.is_class:
            function.defaults = defaults(scope, node.args)
        scope.names[node.name] = function


def defaults(scope: Scope, spec: ast.arguments) -> dict[str, Any]:
    """The values of the parameters' defaults at the place where a function is defined."""
    positional = [*spec.posonlyargs, *spec.args]
    pairs = list(zip(positional[len(positional) - len(spec.defaults) :], spec.defaults, strict=True))
    pairs += [(arg, value) for arg, value in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if value is not None]
    return {arg.arg: expressions.evaluate(scope, value) for arg, value in pairs}


def _class(scope: Scope, node: ast.ClassDef, _only: str | None) -> None:
    scope.names[node.name] = Class(node, scope.module, scope)


def _import(scope: Scope, node: ast.Import, _only: str | None) -> None:
    program = scope.module.program
    for alias in node.names:
        first = alias.name.partition(".")[0]
        scope.names[alias.asname or first] = program.lookup(alias.name if alias.asname else first)


def _import_from(scope: Scope, node: ast.ImportFrom, only: str | None) -> None:
    module = scope.module.absolute(node)
    for alias in node.names:
        if alias.name != "*" and only in (None, alias.asname or alias.name):
            scope.names[alias.asname or alias.name] = scope.module.program.lookup(f"{module}.{alias.name}")


def _delete(scope: Scope, node: ast.Delete, _only: str | None) -> None:
    for target in node.targets:
        if isinstance(target, ast.Subscript):
            container, key = expressions.evaluate(scope, target.value), expressions.evaluate(scope, target.slice)
            if isinstance(container, dict) and key is not UNKNOWN:
                if key not in container:
                    raise Raised("KeyError", key)
                del container[key]
        elif isinstance(target, ast.Name):
            scope.names.pop(target.id, None)


_KINDS: dict[type[ast.stmt], Callable[[Scope, Any, str | None], None]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.If: _if,
    ast.For: _for,
    ast.While: _while,
    ast.Try: _try,
    ast.With: _with,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Break: _stop(_Break),
    ast.Continue: _stop(_Continue),
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Delete: _delete,
}
