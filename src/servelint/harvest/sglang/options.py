"""The options of an SGLang release, by evaluating its `ServerArgs.add_cli_args`, with the keys of JSON values."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from servelint.harvest.archives import HarvestError
from servelint.harvest.declared import Recorder
from servelint.harvest.evaluate import classes, statements
from servelint.harvest.evaluate.builtin import Scope
from servelint.harvest.evaluate.values import MISSING, UNKNOWN, Class, External, Field, Function, Generic, Native, Record, plain
from servelint.harvest.pysource import Module, Program
from servelint.harvest.sglang.names import registry_answers
from servelint.harvest.sources import Tree

_MODULE = "sglang.srt.server_args"
_UTILS = "sglang.srt.arg_groups.arg_utils"


def options(tree: Tree, program: Program, report: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """The options by canonical name. Raises HarvestError where the release has no ServerArgs."""
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
        scope.names[name] = recorder.parser()  # no longer known after a branch that could not be decided
        program.guarded(partial(statements.execute, scope, statement))


def _dest(option: dict[str, Any]) -> str:
    first = next((name for name in option["names"] if name.startswith("--")), option["names"][0])
    return str(option.get("dest") or first.lstrip("-").replace("-", "_"))


def _levels(module: Module) -> set[str]:
    """The values that a release looks up in `logging` right after parsing (from 0.5.11): any other text stops the start."""
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


# -- JSON options


_GRAPH = "sglang.srt.model_executor.cuda_graph_config"
_EVENTS = "sglang.srt.disaggregation.kv_events"


def json_options(program: Program, options: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Key -> the object's description; the options that take it get its name."""
    found: dict[str, dict[str, Any]] = {}
    for name, described in (("cuda-graph-config", _cuda_graph(program)), ("kv-events-config", _kv_events(program))):
        if name in options and described:
            found[name] = described
            options[name]["json"] = name
    return found


def _cuda_graph(program: Program) -> dict[str, Any]:
    """Phases, each an object of its own; the option's converter refuses an unknown phase and an unknown key."""
    module = program.module(_GRAPH)
    if module is None:
        return {}
    allowed = plain(module.resolve("ALLOWED_KEYS_PER_PHASE"))
    backends = plain(module.resolve("ALLOWED_BACKENDS_PER_PHASE")) if module.defines("ALLOWED_BACKENDS_PER_PHASE") else {}
    settings = module.resolve("PhaseConfig")
    if not isinstance(allowed, dict) or not isinstance(settings, Class):
        return {}
    keys = _keys(program, program.fields(settings))
    phases: dict[str, Any] = {}
    for phase, names in allowed.items():
        inner = {name: dict(keys.get(name, {})) for name in names}
        for entry in inner.values():
            entry.pop("default", None)  # what applies where it is not given depends on the phase
        if isinstance(backends, dict) and isinstance(backends.get(phase), list) and "backend" in inner:
            inner["backend"]["choices"] = backends[phase]
        phases[phase] = {"type": "object", "extra": "reject", "keys": inner}
    return {"extra": "reject", "keys": phases}


def _kv_events(program: Program) -> dict[str, Any]:
    """A pydantic model, which passes over keys that it does not know."""
    model = program.value(_EVENTS, "KVEventsConfig")
    return {"extra": "ignore", "keys": _keys(program, program.fields(model))} if isinstance(model, Class) else {}


def _keys(program: Program, fields: Iterable[Field]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for field in fields:
        entry: dict[str, Any] = {}
        kind, choices = _kind(classes.annotation(program, field))
        if kind is not None:
            entry["type"] = kind
        if choices is not None:
            entry["choices"] = choices
        if field.default is MISSING:
            entry["required"] = True
        if (default := plain(field.default)) is not UNKNOWN and default is not None:
            entry["default"] = default
        found[field.name] = entry
    return found


def _kind(annotation: Any) -> tuple[str | None, list[Any] | None]:
    """(type, choices) of an annotation; Optional counts as what it wraps."""
    if isinstance(annotation, type):
        return annotation.__name__, None
    if isinstance(annotation, Generic):
        if annotation.origin == External("typing.Literal"):
            choices = list(annotation.args)
            return type(choices[0]).__name__, choices
        if annotation.origin == External("typing.Union"):
            inner = [_kind(one) for one in annotation.args if one is not type(None)]
            return inner[0] if len(inner) == 1 else (None, None)
        if isinstance(annotation.origin, type):
            return annotation.origin.__name__, None
    return None, None
