"""The environment variables that a release reads: the registry in `srt/environ.py`, and reads anywhere in the package."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

from servelint.harvest.pysource import UNKNOWN, Module, Native, Program, Record, plain
from servelint.harvest.sources import Tree

_REGISTRY = "sglang.srt.environ"
_REGISTRY_FILE = "sglang/srt/environ.py"
_GONE = re.compile(r"\b(?:removed|deprecated|no longer|ignored)\b", re.IGNORECASE)
_NAME = re.compile(r"(?:SGLANG|SGL)_[A-Z0-9_]+")
_QUOTED = re.compile(rf"""["']{_NAME.pattern}["']""")
_KINDS = (("Bool", "bool"), ("Int", "int"), ("Float", "float"), ("JSON", "json"), ("Tuple", "list"), ("Str", "str"))
_READERS = {"get_bool_env_var": "bool", "get_int_env_var": "int", "get_float_env_var": "float"}
_WRITES = ("setenv", "delenv", "setdefault", "pop", "putenv", "unsetenv")


def descriptors(module: Module | None) -> dict[str, dict[str, Any]]:
    """The variables of the registry with their types and defaults; those that a descriptor reads under an older name too."""
    found: dict[str, dict[str, Any]] = {}
    for node in module.tree.body if module else []:
        if module is None or not isinstance(node, ast.ClassDef) or node.name != "Envs":
            continue
        for statement in node.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
                for target in statement.targets:
                    if isinstance(target, ast.Name):
                        found.update(_described(module, target.id, statement.value))
    return found


def _described(module: Module, name: str, call: ast.Call) -> dict[str, dict[str, Any]]:
    kind = ast.unparse(call.func)
    entry: dict[str, Any] = {}
    known = next((word for part, word in _KINDS if kind.startswith(f"Env{part}")), None)
    if known is not None:
        entry["type"] = known
    given = call.args[0] if call.args else next((one.value for one in call.keywords if one.arg == "default"), None)
    default = plain(module.value(given)) if given is not None else UNKNOWN
    if default is not UNKNOWN and default is not None:
        entry["default"] = default
    found = {name: entry}
    for keyword in call.keywords:
        older = module.value(keyword.value) if keyword.arg == "deprecated_name" else None
        if isinstance(older, str):
            text = f"Environment variable '{older}' is deprecated; use '{name}' instead."
            found[older] = {**entry, "deprecated": text}
    return found


def registry_answers(program: Program) -> dict[str, Any]:
    """For the evaluator: `envs.X.get()` answers X's default, as where the variable is not set."""
    known = descriptors(program.module(_REGISTRY))
    if not known:
        return {}

    def field(default: Any) -> Record:
        return Record("EnvField", {"get": Native("get", lambda: default), "is_set": Native("is_set", lambda: False)})

    return {f"{_REGISTRY}.envs": Record("Envs", {name: field(entry.get("default")) for name, entry in known.items()})}


def environment(tree: Tree, program: Program, report: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """Variable -> type, default, deprecated, each where the source says it."""
    module = program.module(_REGISTRY)
    found = descriptors(module)
    for path in tree.paths("sglang/"):
        text = tree.read(path) or ""
        if path != _REGISTRY_FILE and "/test/" not in path and _QUOTED.search(text):
            try:
                parsed = ast.parse(text)
            except (SyntaxError, ValueError) as error:
                report(f"{path}: {error}")
                continue
            nodes = list(ast.walk(parsed))
            for name, entry in [*_reads(nodes), *_refusals(nodes)]:
                held = found.setdefault(name, {})
                for key, value in entry.items():
                    held.setdefault(key, value)
    for name, text in _deprecations(tree, report).items():
        found.setdefault(name, {})["deprecated"] = text
    return dict(sorted(found.items()))


def _reads(nodes: list[ast.AST]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(variable, what the read says of it) for each place of a file that looks a variable up by its full name."""
    constants = {
        node.targets[0].id: node.value.value
        for node in nodes
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }

    def named(node: ast.expr) -> str | None:
        value = node.value if isinstance(node, ast.Constant) else constants.get(node.id) if isinstance(node, ast.Name) else None
        return value if isinstance(value, str) and _NAME.fullmatch(value) else None

    for node in nodes:
        if isinstance(node, ast.Call) and node.args:
            name = named(node.args[0])
            if name is not None and isinstance(node.func, (ast.Name, ast.Attribute)):
                function = ast.unparse(node.func)
                short = function.rpartition(".")[2]
                if short not in _WRITES and ("env" in function.lower() or short in _READERS):
                    yield name, _said(short, node)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            name = named(node.slice)
            if name is not None and "env" in ast.unparse(node.value).lower():
                yield name, {}
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            name = named(node.left)
            if name is not None and "environ" in ast.unparse(node.comparators[0]):
                yield name, {}


def _said(reader: str, call: ast.Call) -> dict[str, Any]:
    """Type and default that a reading function's name and second argument give."""
    given = call.args[1] if len(call.args) > 1 else next((one.value for one in call.keywords if one.arg == "default"), None)
    default = given.value if isinstance(given, ast.Constant) and isinstance(given.value, (str, int, float, bool)) else None
    entry: dict[str, Any] = {}
    kind = _READERS.get(reader)
    if kind is not None:
        entry["type"] = kind
    if kind == "bool" and (given is None or isinstance(default, str)):
        default = str(default).lower() in ("true", "1")
    if default is not None:
        entry["default"] = default
    return entry


def _refusals(nodes: list[ast.AST]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(variable, deprecated) for each warning of a set variable: `if os.getenv("X") is not None: logger.warning(...)`."""
    for node in nodes:
        for statement in node.body if isinstance(node, ast.If) else ():
            call = statement.value if isinstance(statement, ast.Expr) else None
            if not isinstance(node, ast.If) or not isinstance(call, ast.Call) or not call.args:
                continue
            warns = isinstance(call.func, ast.Attribute) and call.func.attr in ("warn", "warning", "warning_once")
            text = call.args[0].value if warns and isinstance(call.args[0], ast.Constant) else None
            if isinstance(text, str) and _GONE.search(text):
                asked = {name for name, _ in _reads(list(ast.walk(node.test)))}
                yield from ((name, {"deprecated": text}) for name in sorted(asked) if name in text)


def _deprecations(tree: Tree, report: Callable[[str], None]) -> dict[str, str]:
    """Variable -> the warning that the registry gives where it is set, by evaluating what the registry runs at import."""
    held: dict[str, str] = {}
    said: list[str] = []
    environ = {
        "os.environ": held,
        "os.getenv": Native("get", held.get),
        "warnings.warn": Native("warn", lambda message, *_, **__: said.append(str(message))),
    }
    program = Program(tree, environ, report)
    module = program.module(_REGISTRY)
    if module is None:
        return {}
    runs = [node.value for node in module.tree.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    runs = [call for call in runs if isinstance(call.func, ast.Name)]
    constants = {node.value for node in ast.walk(module.tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    found: dict[str, str] = {}
    for name in sorted(one for one in constants if _NAME.fullmatch(one)) + [_PREFIXED] * bool(runs):
        said.clear()
        for call in runs:
            held.clear()
            held[name] = "1"
            module.value(call)
        texts = [text for text in said if name in text]
        if texts:
            found["SGL_*" if name == _PREFIXED else name] = (
                texts[0].replace(_PREFIXED, "SGL_*").replace(f"SGLANG{_PREFIXED[3:]}", "SGLANG_*")
            )
    return found


_PREFIXED = "SGL_ANY_OTHER"
"""Stands for any variable with the older prefix."""
