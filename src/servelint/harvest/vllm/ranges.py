"""The ranges of numeric options: the bounds of the config fields that they become (`Field(ge=..., gt=..., le=..., lt=...)`).

A body gets the bounds, and the name of the config class (`config`) where vLLM makes that class for some launches only.
"""

from __future__ import annotations

import ast
from typing import Any

from servelint.harvest.declared import canonical
from servelint.harvest.pysource import Class, Function, Program, Record

BOUNDS = ("ge", "gt", "le", "lt")
_SOMETIMES = ("LoRAConfig", "MultiModalConfig")
"""Classes that are made only where LoRA is enabled, or the model is multimodal."""


def mark(program: Program, options: dict[str, dict[str, Any]]) -> None:
    """Add the bounds of their fields to the options of a release."""
    module = program.module("vllm.engine.arg_utils")
    engine = module.resolve("EngineArgs") if module is not None else None
    method = program.attribute(engine, "add_cli_args") if isinstance(engine, Class) else None
    if module is None or not isinstance(method, Function):
        return
    classes = _classes(method.node)
    known = {name: module.resolve(name) for name in [*classes.values(), "VllmConfig"]}
    fields = _fields(method.node, classes)
    for name, option in options.items():
        holder, key = fields.get(name, (None, name.replace("-", "_")))
        for owner in [holder] if holder is not None else known:
            bounds = _bounds(program, known[owner], key)
            if bounds:
                option.update({**bounds, **({"config": owner} if owner in _SOMETIMES else {})})
                break


def _classes(node: ast.AST) -> dict[str, str]:
    """variable -> the config class whose fields it holds: `scheduler_kwargs = get_kwargs(SchedulerConfig)`."""
    return {
        one.targets[0].id: ast.unparse(one.value.args[0])
        for one in ast.walk(node)
        if isinstance(one, ast.Assign)
        and isinstance(one.targets[0], ast.Name)
        and isinstance(one.value, ast.Call)
        and ast.unparse(one.value.func) == "get_kwargs"
    }


def _fields(node: ast.AST, classes: dict[str, str]) -> dict[str, tuple[str, str]]:
    """option -> the class and the field that it is declared from: `add_argument("--x", **scheduler_kwargs["x"])`."""
    found: dict[str, tuple[str, str]] = {}
    for call in ast.walk(node):
        if not isinstance(call, ast.Call) or not ast.unparse(call.func).endswith(".add_argument"):
            continue
        names = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        for part in (one for word in call.keywords if word.arg is None for one in ast.walk(word.value)):
            if isinstance(part, ast.Subscript) and ast.unparse(part.value) in classes and isinstance(part.slice, ast.Constant):
                found[canonical(names)] = classes[ast.unparse(part.value)], str(part.slice.value)
    return found


def _bounds(program: Program, cls: Any, key: str) -> dict[str, Any]:
    if not isinstance(cls, Class):
        return {}
    for field in program.fields(cls):
        if field.name == key and isinstance(field.info, Record):
            given = field.info.attributes
            return {bound: given[bound] for bound in BOUNDS if isinstance(given.get(bound), (int, float))}
    return {}
