"""The options of a release, by evaluating its `ServerArgs.add_cli_args` on a parser that records."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from servelint.harvest.errors import HarvestError
from servelint.harvest.evaluate import classes, statements
from servelint.harvest.evaluate.scope import Scope
from servelint.harvest.pysource import MISSING, UNKNOWN, Class, Function, Module, Native, Program, Record
from servelint.harvest.sglang.environment import registry_answers
from servelint.harvest.sglang.recorder import Recorder
from servelint.harvest.sources import Tree

_MODULE = "sglang.srt.server_args"
_UTILS = "sglang.srt.arg_groups.arg_utils"


def options(tree: Tree, program: Program, report: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """Canonical name -> what argparse was told. Raises HarvestError where the release has no ServerArgs."""
    module = program.module(_MODULE)
    node = _class_node(module)
    if module is None or node is None:
        raise HarvestError(f"sglang {tree.release} has no {_MODULE}.ServerArgs")
    declared = Class(node, module)
    program.externals[f"{_MODULE}.ServerArgs"] = declared
    program.externals.update(registry_answers(program))
    program.externals["msgspec.field"] = program.lookup("dataclasses.field")
    program.externals["sys.modules"] = {}  # the lists of parsers are those without a plugin that has registered its own
    program.externals.update(_record_answers(program, module, declared))
    recorder = Recorder(program, report)
    _run(program, declared, recorder)
    found = recorder.options()
    levels = _levels(module)
    for option in found.values():
        if _dest(option) in levels:
            option["type"] = "logging_level"
    for name in _written(declared.node):
        if not any(name in option["names"] for option in found.values()):
            report(f"{name}: its declaration was not reached")
    return found


def _written(node: ast.ClassDef) -> Iterator[str]:
    """The first spelling in every add_argument call of `add_cli_args`."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name == "add_cli_args":
            for call in ast.walk(method):
                named = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"
                if isinstance(call, ast.Call) and named and call.args and isinstance(call.args[0], ast.Constant):
                    yield str(call.args[0].value)


def _run(program: Program, declared: Class, recorder: Recorder) -> None:
    """The body of `add_cli_args`, statement by statement, so that one that cannot be followed does not cost the others."""
    add = program.attribute(declared, "add_cli_args")
    if not isinstance(add, Function) or isinstance(add.node, ast.Lambda):
        return
    name = add.node.args.args[-1].arg
    scope = Scope(add.module, owner=declared)
    for statement in add.node.body:
        scope.names[name] = recorder.parser()  # not known any more after a branch that could not be decided
        program.guarded(partial(statements.execute, scope, statement))


def _dest(option: dict[str, Any]) -> str:
    first = next((name for name in option["names"] if name.startswith("--")), option["names"][0])
    return str(option.get("dest") or first.lstrip("-").replace("-", "_"))


def _levels(module: Module) -> set[str]:
    """The values that a release looks up in `logging` right after parsing (from 0.5.11): what is no level ends the start."""
    found: set[str] = set()
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "prepare_server_args":
            for call in ast.walk(node):
                text = ast.unparse(call) if isinstance(call, ast.Call) else ""
                match = re.fullmatch(r"getattr\(logging, raw_args\.(\w+)\.upper\(\)\)", text)
                found.update([match.group(1)] if match else [])
    return found


def _class_node(module: Module | None) -> ast.ClassDef | None:
    """The class statement: later releases bind the name again to a record type made from it."""
    for node in module.tree.body if module else []:
        if isinstance(node, ast.ClassDef) and node.name == "ServerArgs":
            return node
    return None


def _record_answers(program: Program, module: Module, declared: Class) -> dict[str, Any]:
    """The questions that the release asks about its fields at run time (msgspec, dataclasses), answered from the source."""
    listed = module.resolve("_INPUT_NAMESPACES") if module.defines("_INPUT_NAMESPACES") else UNKNOWN
    sources = [one for one in listed if isinstance(one, Class)] if isinstance(listed, list) else [declared]
    fields = {one.name: one for source in sources for one in program.fields(source)}
    asked: list[str] = []

    def records(_: Any) -> list[Record]:
        return [Record("Field", {"name": name, "default": fields[name].default}) for name in asked]

    def hints(_: Any, **__: Any) -> dict[str, Any]:
        return {name: classes.annotation(program, fields[name]) for name in asked}

    def default(name: str) -> Any:
        return fields[name].default if name in fields and fields[name].default is not MISSING else UNKNOWN

    def add_all(parser: Any, cls: Any) -> None:
        for name in fields:  # one by one, so that one that cannot be read does not cost the others
            asked[:] = [name]
            program.call(add_fields, [parser, cls])

    add_fields = program.lookup(f"{_UTILS}.add_cli_args_from_dataclass")
    return {
        f"{_UTILS}.add_cli_args_from_dataclass": Native("add", add_all),
        f"{_UTILS}.record_fields": Native("add", records),
        f"{_UTILS}._field_default": Native("add", lambda record: record.attributes["default"]),
        "dataclasses.fields": Native("add", records),
        "typing.get_type_hints": Native("add", hints),
        f"{_MODULE}._declared_default": Native("add", default),
    }
