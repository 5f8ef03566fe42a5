"""Names that a release knows: speculative algorithms, parsers, backends."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from servelint.harvest.pysource import Class, Module, Program

_CHOICES = {
    "tool-call-parsers": "tool-call-parser",
    "reasoning-parsers": "reasoning-parser",
    "quantization": "quantization",
    "attention-backends": "attention-backend",
    "kv-cache-dtypes": "kv-cache-dtype",
}
_SPEC_INFO = "sglang.srt.speculative.spec_info"
_REGISTRY = "sglang.srt.speculative.spec_registry"
_SERVE = "sglang.cli.serve"
_SERVE_UTILS = "sglang.cli.utils"
_HOOKS = ("sglang.srt.arg_groups.speculative_hook", "sglang.srt.server_args", _SPEC_INFO)


def names(program: Program, options: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The lists that are choices of an option, and the algorithms with their aliases."""
    found: dict[str, Any] = {}
    for name, option in _CHOICES.items():
        choices = options.get(option, {}).get("choices")
        if choices is not None:
            found[name] = [choice for choice in choices if choice is not None]
    methods = _algorithms(program, options.get("speculative-algorithm"))
    if methods:
        found["speculative-methods"] = methods
    serve = _serve(program)
    if serve:
        found["serve"] = serve
    return found


def _serve(program: Program) -> dict[str, dict[str, Any]]:
    """What `sglang serve` reads itself, before the server's parser: how the model is named (exactly so), and --model-type."""
    module, utils = program.module(_SERVE), program.module(_SERVE_UTILS)
    if module is None or utils is None:
        return {}
    found: dict[str, dict[str, Any]] = {}
    for node in utils.tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in ("get_model_path", "try_get_model_path"):
            tests = (one for one in ast.walk(node) if isinstance(one, ast.Compare))
            found.update({word: {} for test in tests for word in _words(test) if word.startswith("--model")})
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef) and "--model-type" in _words(node):
            tests = (one for one in ast.walk(node) if isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.NotIn))
            choices = next((list(_words(test.comparators[0])) for test in tests), None)
            found["--model-type"] = {"choices": choices} if choices else {}
        if isinstance(node, ast.FunctionDef) and "positional" in node.name:
            found["positional"] = {}
    return found


def _algorithms(program: Program, option: dict[str, Any] | None) -> dict[str, dict[str, str]]:
    """The members of SpeculativeAlgorithm that the option takes, and the other names that it takes for them."""
    module = program.module(_SPEC_INFO)
    declared = module.resolve("SpeculativeAlgorithm") if module is not None else None
    if option is None or module is None or not isinstance(declared, Class):
        return {}
    members = [member.name for member in program.members(declared) if member.name != "NONE"] or _registered(module)
    registry = program.module(_REGISTRY)
    reserved = registry.resolve("_RESERVED_ALIASES") if registry is not None and registry.defines("_RESERVED_ALIASES") else ()
    aliases = sorted(reserved) if isinstance(reserved, (set, frozenset, tuple, list)) else []
    aliases = aliases or sorted(_compared(program) - {*members, "NONE"})
    taken = option.get("choices") or [*members, *aliases]
    found: dict[str, dict[str, str]] = {}
    for name in taken:
        target = None if name in members else _target(program, name, members)
        if name in members or target is not None:
            found[name] = {} if target is None else {"alias_of": target}
    return found


def _registered(module: Module) -> list[str]:
    """The algorithms that the module registers by name, where it keeps them in a registry of its own."""
    found: list[str] = []
    for node in module.tree.body:
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and "register" in ast.unparse(call.func) and call.args:
            name = module.value(call.args[0])
            if isinstance(name, str) and name != "NONE":
                found.append(name)
    return found


def _compared(program: Program) -> set[str]:
    """The names that a release compares the option's value with."""
    found: set[str] = set()
    for dotted in _HOOKS:
        module = program.module(dotted)
        for node in ast.walk(module.tree) if module is not None else ():
            if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith("speculative_algorithm"):
                found.update(word for word in _words(node) if word.isupper())
    return found


def _target(program: Program, alias: str, members: list[str]) -> str | None:
    """The member that a release puts in the place of an alias: `if x == "NEXTN": x = "EAGLE"`."""
    for dotted in _HOOKS:
        module = program.module(dotted)
        for node in ast.walk(module.tree) if module is not None else ():
            if isinstance(node, ast.If) and alias in _words(node.test):
                for part in (node.test, *node.body):
                    target = next((word for word in _words(part) if word in members), None)
                    if target is not None:
                        return target
            if isinstance(node, ast.If) and "_RESERVED_ALIASES" in ast.unparse(node.test):
                for statement in node.body:
                    if isinstance(statement, ast.Return) and isinstance(statement.value, ast.Attribute):
                        return statement.value.attr
    return None


def _words(node: ast.AST) -> Iterator[str]:
    return (one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str))
