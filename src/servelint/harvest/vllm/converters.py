"""Names for the functions with which vLLM converts option values, and the config classes behind JSON-valued options."""

from __future__ import annotations

import ast
from typing import Any

from servelint.harvest.declared import builtin_type
from servelint.harvest.pysource import UNKNOWN, Class, Function, Native

Type = str | list[str]


def converter(value: Any) -> Type | None:
    """The name of a `type=` function.

    "none" stands for the words `None` and ``, which optional_type turns into None before it tries what it wraps.
    "json" is json.loads, or a config class made from a JSON object. "json_or_kvs" also takes `key=1,other=2`.
    A classmethod is `Class.method`, a lambda its own text.
    """
    if not isinstance(value, Function):
        return builtin_type(value)
    if value.name == "_optional_type":
        inner = _parsed(value)
        if inner is None:
            return None
        return ["none", *(inner if isinstance(inner, list) else [inner])]
    if value.name == "_parse_type":
        return _parsed(value)
    if value.name == "parse_dataclass":
        own = own_reader(value)
        return "json" if own is None or "in [" not in ast.unparse(own.node) else converter(own)
    if isinstance(value.node, ast.Lambda):
        inner_function = closed(value, "f")
        if isinstance(inner_function, Class):
            return "json"
        return converter(inner_function) if isinstance(inner_function, Function) else ast.unparse(value.node)
    if value.owner is not None:
        return f"{value.owner.name}.{value.name}"
    return value.name


def own_reader(function: Function) -> Function | None:
    """The `from_cli` of a config class, where this release's parse_dataclass asks for it and the class has one."""
    cls = closed(function, "cls")
    if "from_cli" not in ast.unparse(function.node) or not isinstance(cls, Class):
        return None
    found = cls.module.program.attribute(cls, "from_cli") if cls.module.program.has(cls, "from_cli") else None
    return found if isinstance(found, Function) else None


def _parsed(function: Function) -> Type | None:
    """What parse_type wraps; "json_or_kvs" for json.loads where this release's then falls back on comma separated pairs."""
    wrapped = closed(function, "return_type")
    place = function
    if function.name == "_optional_type" and function.module.defines("parse_type"):
        place = function.module.resolve("parse_type")
    if isinstance(wrapped, Native) and wrapped.name == "json.loads" and "nullable_kvs" in ast.unparse(place.node):
        return "json_or_kvs"
    return converter(wrapped)


def config_class(value: Any) -> Class | None:
    """The config class that a converter makes from a JSON object, None where it makes none."""
    if not isinstance(value, Function):
        return None
    if value.name in ("_optional_type", "_parse_type"):
        return config_class(closed(value, "return_type"))
    if value.name == "parse_dataclass":
        found = closed(value, "cls")
        return found if isinstance(found, Class) else None
    if isinstance(value.node, ast.Lambda):
        found = closed(value, "f")
        return found if isinstance(found, Class) else config_class(found)
    return value.owner if value.name in ("from_cli", "from_json") else None


def closed(function: Function, name: str) -> Any:
    """What a function finds under a name of its own defaults or of the functions around it."""
    if name in function.defaults:
        return function.defaults[name]
    scope = function.scope
    while scope is not None:
        if name in scope.names:
            return scope.names[name]
        scope = scope.parent
    return UNKNOWN
