"""Calls: of the tree's functions and classes, of natives, of builtin types and of the methods of plain values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from servelint.harvest.evaluate import classes, expressions, statements
from servelint.harvest.evaluate.builtin import Scope, convert
from servelint.harvest.evaluate.values import (
    MISSING,
    UNKNOWN,
    Class,
    External,
    Function,
    Generic,
    Instance,
    Native,
    Raised,
    Record,
    Undecided,
)

if TYPE_CHECKING:
    from servelint.harvest.pysource import Program

_DEPTH = 60
_TAKES_UNKNOWN = frozenset(
    ("append", "insert", "add", "setdefault", "get", "pop", "remove", "discard", "index", "count", "print")
)
_CHANGES = frozenset(("extend", "update", "sort", "clear", "__setitem__"))


def call(program: Program, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What calling a value gives. Raises Raised and Undecided."""
    if isinstance(function, Function):
        return _function(program, function, args, kwargs)
    if isinstance(function, Native):
        return _native(program, function, args, kwargs)
    if isinstance(function, Class):
        return classes.instantiate(program, function, args, kwargs)
    if isinstance(function, Generic):
        return call(program, function.origin, args, kwargs)
    if isinstance(function, type):
        members = classes.members(program, args[0]) if args and isinstance(args[0], Class) else []
        return convert(function, *([members, *args[1:]] if members else args), **kwargs)
    if isinstance(function, External):
        return _external(program, function.name, args, kwargs)
    if isinstance(function, Record) and function.kind == "partial":
        attributes = function.attributes
        return call(program, attributes["func"], [*attributes["args"], *args], {**attributes["keywords"], **kwargs})
    if isinstance(function, Instance):
        return call(program, classes.attribute(program, function, "__call__"), args, kwargs)
    return UNKNOWN


def _external(program: Program, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    short = name.rpartition(".")[2]
    if name == "builtins.isinstance":
        return classes.is_instance(program, args[0], args[1])
    if name == "builtins.issubclass":
        return classes.is_subclass(program, args[0], args[1])
    if name in ("builtins.getattr", "builtins.hasattr"):
        try:
            found = classes.attribute(program, args[0], args[1]) if isinstance(args[1], str) else UNKNOWN
        except Raised:
            found = MISSING
        if short == "hasattr":
            return UNKNOWN if found is UNKNOWN else found is not MISSING
        return found if found is not MISSING else (args[2] if len(args) > 2 else UNKNOWN)
    if name == "builtins.setattr" and isinstance(args[1], str):
        return classes.set_attribute(args[0], args[1], args[2])
    if name in ("dataclasses.fields", "dataclasses.is_dataclass"):
        cls = args[0].owner if isinstance(args[0], Instance) else args[0]
        if short == "is_dataclass":
            return UNKNOWN if cls is UNKNOWN else isinstance(cls, Class) and classes.is_dataclass(program, cls)
        return classes.field_records(program, cls) if isinstance(cls, Class) else UNKNOWN
    if name == "typing.get_type_hints":
        cls = args[0]
        return (
            {one.name: classes.annotation(program, one) for one in program.fields(cls)} if isinstance(cls, Class) else UNKNOWN
        )
    if name in ("typing.is_typeddict", "typing_extensions.is_typeddict"):
        return isinstance(args[0], Class) and any(
            isinstance(base, External) and base.name == "typing.TypedDict" for base in classes.lineage(program, args[0])
        )
    if name == "functools.partial" and args:
        return Record("partial", {"func": args[0], "args": args[1:], "keywords": kwargs})
    if name.startswith("builtins.") and short.endswith(("Error", "Exception")):
        return Record(short, {"args": args})
    if short in ("FieldInfo",):
        return Record("FieldInfo", {"default": MISSING, "default_factory": None, "init": None, **kwargs})
    return UNKNOWN


def _native(program: Program, native: Native, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if native.raw:
        return native.call(*args, **kwargs)
    unknown = any(value is UNKNOWN for value in (*args, *kwargs.values()))
    if unknown and native.name in _CHANGES:
        raise Undecided(f"{native.name}() of what is not known")
    if unknown and native.name not in _TAKES_UNKNOWN:
        return UNKNOWN
    args = [_python(program, value, native) for value in args]
    kwargs = {name: _python(program, value, native) for name, value in kwargs.items()}
    if (
        native.name == "remove"
        and hasattr(native.call, "__self__")
        and expressions.contains(native.call.__self__, args[0]) is UNKNOWN
    ):
        return UNKNOWN
    try:
        return native.call(*args, **kwargs)
    except (Raised, Undecided):
        raise
    except (KeyError, ValueError, IndexError) as error:
        raise Raised(type(error).__name__, error) from error
    except (TypeError, AttributeError, LookupError, ArithmeticError):
        if native.name in _CHANGES or native.name in _TAKES_UNKNOWN:
            raise Undecided(f"{native.name}() of what is not known") from None
        return UNKNOWN


def _python(program: Program, value: Any, native: Native) -> Any:
    """A function of the tree as one that a native can call (`key=`, `map`); enum classes as their members."""
    if native.name in (
        "append",
        "add",
        "setdefault",
        "get",
        "update",
        "insert",
        "typing.cast",
        "typing.get_args",
        "typing.get_origin",
    ):
        return value
    if isinstance(value, Class) and native.name not in (
        "callable",
        "copy.deepcopy",
        "dataclasses.field",
        "pydantic.Field",
        "identity",
    ):
        return classes.members(program, value) or value
    if isinstance(value, Function) and native.name in ("sorted", "map", "filter", "min", "max", "sort", "re.sub", "regex.sub"):
        return lambda *args: call(program, value, list(args), {})
    return value


def _function(program: Program, function: Function, args: list[Any], kwargs: dict[str, Any]) -> Any:
    program.depth += 1
    if program.depth > _DEPTH:
        program.depth -= 1
        raise Undecided("calls nested too deeply")
    try:
        before, named = function.bound
        if function.self_ is not MISSING:
            before = (function.self_, *before)
        scope = Scope(function.module, {}, function.scope, function.owner)
        bind(scope, function, [*before, *args], {**named, **kwargs})
        if isinstance(function.node, ast.Lambda):
            return expressions.evaluate(scope, function.node.body)
        return statements.run(scope, function.node)
    finally:
        program.depth -= 1


def bind(scope: Scope, function: Function, args: list[Any], kwargs: dict[str, Any]) -> None:
    """Binds a call's arguments to the parameters' names. Raises Raised where they do not fit."""
    spec = function.node.args
    outer = Scope(function.module, {}, function.scope, function.owner)
    positional = [*spec.posonlyargs, *spec.args]
    defaults = dict(zip([arg.arg for arg in positional[len(positional) - len(spec.defaults) :]], spec.defaults, strict=True))
    defaults.update({arg.arg: value for arg, value in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if value is not None})
    rest = dict(kwargs)
    scope.names.update({name: value for name, value in function.defaults.items() if name not in rest})
    for index, arg in enumerate(positional):
        if index < len(args):
            scope.names[arg.arg] = args[index]
    if spec.vararg is not None:
        scope.names[spec.vararg.arg] = tuple(args[len(positional) :])
    elif len(args) > len(positional):
        raise Raised("TypeError", f"{function.name}() takes {len(positional)} positional arguments")
    for arg in (*positional, *spec.kwonlyargs):
        if arg.arg in rest:
            scope.names[arg.arg] = rest.pop(arg.arg)
        elif arg.arg not in scope.names:
            if arg.arg not in defaults:
                raise Raised("TypeError", f"{function.name}() needs {arg.arg}")
            scope.names[arg.arg] = expressions.evaluate(outer, defaults[arg.arg])
    if spec.kwarg is not None:
        scope.names[spec.kwarg.arg] = rest
