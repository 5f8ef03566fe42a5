"""The environment variables that a package's Python source reads, for an engine that keeps no registry of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from servelint.harvest.sources import Tree

_WRITERS = frozenset(("setenv", "putenv", "unsetenv", "delenv"))
_TYPES = {"bool": "bool", "int": "int", "float": "float", "list_int": "list", "choice": "str"}
"""`env_to_int` and the like: what the function's name says of the value"""


def environment(
    tree: Tree, package: str, prefixes: tuple[str, ...], report: Callable[[str], None] = lambda _: None
) -> dict[str, dict[str, Any]]:
    """Variable -> type, default and choices, each where every place that reads it says the same.

    package: the folder read, with a slash at its end. prefixes: what the engine's own variables start with.
    """
    said: dict[str, list[dict[str, Any]]] = {}
    for path in tree.paths(package):
        text = tree.read(path) or ""
        if not any(prefix in text for prefix in prefixes):
            continue
        try:
            module = ast.parse(text)
        except (SyntaxError, ValueError) as error:
            report(f"{path}: {error}")
            continue
        for name, entry in _reads(module):
            if name.startswith(prefixes):
                said.setdefault(name, []).append(entry)
    return {name: _agreed(entries) for name, entries in sorted(said.items())}


def _agreed(entries: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in ("type", "default", "choices"):
        values = [entry[key] for entry in entries if key in entry]
        if values and all(value == values[0] and type(value) is type(values[0]) for value in values):
            found[key] = values[0]
    return found


def _reads(module: ast.Module) -> Iterator[tuple[str, dict[str, Any]]]:
    """(variable, what this place says of it): `getenv("X")`, `environ["X"]`, `"X" in environ`, `env_to_int("X")`, and so on."""
    constants = {
        node.targets[0].id: node.value.value
        for node in module.body
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }

    def named(node: ast.expr) -> str | None:
        value = node.value if isinstance(node, ast.Constant) else constants.get(node.id) if isinstance(node, ast.Name) else None
        return value if isinstance(value, str) and value.isidentifier() else None

    wrapped = _conversions(module)
    for node in ast.walk(module):
        name: str | None = None
        entry: dict[str, Any] = {}
        if isinstance(node, ast.Call) and node.args:
            function = ast.unparse(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
            if "env" in function.lower() and function.rpartition(".")[2] not in _WRITERS:
                name = named(node.args[0])
                entry = _said(function.rpartition(".")[2], node, wrapped.get(id(node)))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and "environ" in ast.unparse(node.value):
            name = named(node.slice)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            name = named(node.left) if "environ" in ast.unparse(node.comparators[0]) else None
        if name is not None:
            yield name, entry


def _conversions(module: ast.Module) -> dict[int, str]:
    """id of a call -> `int` or `float` where that is the very thing the call's result is handed to."""
    return {
        id(node.args[0]): node.func.id
        for node in ast.walk(module)
        if isinstance(node, ast.Call)
        and len(node.args) == 1
        and isinstance(node.func, ast.Name)
        and node.func.id in ("int", "float")
    }


def _said(reader: str, call: ast.Call, converted: str | None) -> dict[str, Any]:
    """Type, default and choices from a reading call; a default only as the type that the source uses it with."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    given = call.args[1] if len(call.args) > 1 else keywords.get("default")
    kind = next((word for part, word in _TYPES.items() if reader.endswith(f"to_{part}")), converted)
    entry: dict[str, Any] = {} if kind in (None, "str") else {"type": kind}
    try:
        default = None if given is None else ast.literal_eval(given)
    except ValueError:
        default = None
    if converted in ("int", "float") and isinstance(default, str):
        try:
            default = int(default) if converted == "int" else float(default)
        except ValueError:
            default = None
    if isinstance(default, (bool, int, float, str)):
        entry["default"] = default
    if reader.endswith("to_choice") and (len(call.args) > 2 or "choices" in keywords):
        try:
            choices = ast.literal_eval(call.args[2] if len(call.args) > 2 else keywords["choices"])
        except ValueError:
            choices = None
        if isinstance(choices, (list, tuple, set)):
            entry["choices"] = sorted(choices, key=str) if isinstance(choices, set) else list(choices)
    return entry
