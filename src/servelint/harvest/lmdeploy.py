"""LMDeploy: what `lmdeploy serve api_server` of a release accepts, by evaluating `SubCliServe.add_parser_api_server`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from servelint.harvest.archives import HarvestError
from servelint.harvest.declared import Recorder
from servelint.harvest.evaluate.values import UNKNOWN, Class, Function, Native, Record
from servelint.harvest.pysource import Program, variables_read
from servelint.harvest.sources import Tree

_CLI = "lmdeploy.cli.cli"
_SERVE = "lmdeploy.cli.serve"
_UTILS = "lmdeploy.cli.utils"
_QUANT_POLICY = "lmdeploy.messages.QuantPolicy"
_PREFIXES = ("LMDEPLOY_", "TM_")
_LEVELS = ("CRITICAL", "FATAL", "ERROR", "WARN", "WARNING", "INFO", "DEBUG", "NOTSET")
"""The keys of Python's own `logging._nameToLevel`"""
_MANAGERS = {"ToolParserManager": "tool-call-parsers", "ReasoningParserManager": "reasoning-parsers"}
_OLDER_REASONING = "LEGACY_REASONING_PARSER_NAMES"
"""A local variable in 0.13 and 0.14"""
_SUPPORTED = "SUPPORTED_ARCHS"
_NAMED_BY = {"speculative-algorithm": "speculative-methods", "model-format": "quantization"}
"""option -> the kind of name that its choices are"""


def snapshot(tree: Tree, report: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """What one release accepts. Raises HarvestError where it has no such command, or one that cannot be read."""
    program = Program(tree, {"logging._nameToLevel": dict.fromkeys(_LEVELS, 0)})
    declared = _declared(tree, program, report)
    options = {name: option for name, option in declared.items() if option["names"][0].startswith("-")}
    positionals = [
        {"name": name.replace("-", "_"), **{key: value for key, value in option.items() if key != "names"}}
        for name, option in declared.items()
        if name not in options
    ]
    if len(positionals) != 1 or len(options) < 2:
        raise HarvestError(f"lmdeploy {tree.release}: the options of api_server cannot be read")
    policies = _policies(program, options)
    named = {kind: _table(options[name].get("choices", [])) for name, kind in _NAMED_BY.items() if name in options}
    return {
        "engine": "lmdeploy",
        "release": tree.release,
        "options": options,
        "positionals": positionals,
        "json": {},
        "env": variables_read(tree, "lmdeploy/", _PREFIXES, report),
        "names": {
            **named,
            **_parsers(tree, report),
            "kv-cache-dtypes": policies,
            "turbomind-architectures": _architectures(tree, report),
        },
    }


def _declared(tree: Tree, program: Program, report: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    recorder = Recorder(program, report)

    def parser(*_: Any, **__: Any) -> Record:
        record = recorder.parser()
        record.attributes.update(
            {name: Native(name, parser, raw=True) for name in ("add_argument_group", "add_subparsers", "add_parser")},
            set_defaults=Native("set_defaults", lambda **_: None, raw=True),
            _group_actions=[],
        )
        return record

    program.externals[f"{_CLI}.CLI"] = Record("CLI", {"subparsers": parser()})
    serve = program.lookup(f"{_SERVE}.SubCliServe")
    fill = program.attribute(serve, "add_parser_api_server") if isinstance(serve, Class) else UNKNOWN
    if not isinstance(fill, Function):
        raise HarvestError(f"lmdeploy {tree.release} has no {_SERVE}.SubCliServe.add_parser_api_server")
    program.report = report
    program.call(fill)
    return recorder.options()


def _policies(program: Program, options: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What `--quant-policy` takes. Where the release has a converter for it, the option's type gets the option's name."""
    option = options.get("quant-policy")
    if option is None:
        return {}
    if "choices" in option:
        return _table([str(choice) for choice in option["choices"]])
    helper = program.lookup(f"{_UTILS}.ArgumentHelper")
    function = program.attribute(helper, "quant_policy") if isinstance(helper, Class) else UNKNOWN
    policy = program.lookup(_QUANT_POLICY)
    if not isinstance(function, Function) or not isinstance(policy, Class) or option.get("type") in (None, "int"):
        return {}
    option["type"] = "quant_policy"
    members = program.members(policy)
    found = {str(member.value): {"alias_of": member.name.lower()} for member in members}
    found.update({member.name.lower(): {} for member in members})
    for node in ast.walk(function.node):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Subscript)
            and isinstance(node.value, ast.Attribute)
        ):
            name, member = node.targets[0].slice, ast.unparse(node.value).split(".")[1].lower()
            if isinstance(name, ast.Constant) and member in found:
                found[str(name.value)] = {"alias_of": member}
    return dict(sorted(found.items()))


def _parsers(tree: Tree, report: Callable[[str], None]) -> dict[str, dict[str, dict[str, Any]]]:
    """The names under which classes are registered as tool-call and reasoning parsers."""
    found: dict[str, set[str]] = {}
    for path in tree.paths("lmdeploy/serve/"):
        text = tree.read(path) or ""
        if not any(manager in text for manager in _MANAGERS):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                for manager, name in (pair for decorator in node.decorator_list for pair in _registers(decorator)):
                    found.setdefault(_MANAGERS[manager], set()).add(name)
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).upper() == _OLDER_REASONING:
                try:
                    found.setdefault("reasoning-parsers", set()).update(ast.literal_eval(node.value))
                except (ValueError, TypeError):
                    report(f"{path}: {_OLDER_REASONING} is not known")
    return {kind: _table(sorted(names)) for kind, names in found.items()}


def _architectures(tree: Tree, report: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """The architectures that TurboMind supports; conditional where `is_supported` looks at more than the name."""
    path = "lmdeploy/turbomind/supported_models.py"
    found: dict[str, dict[str, Any]] = {}
    conditional: set[str] = set()
    for node in ast.parse(tree.read(path) or "").body:
        named = ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else ""
        if named.lstrip("_") == _SUPPORTED and isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            found = {keyword.arg: {} for keyword in node.value.keywords if keyword.arg is not None and not _is_false(keyword)}
        elif isinstance(node, ast.FunctionDef) and node.name == "is_supported":
            conditional = {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    if not found:
        report(f"{path}: {_SUPPORTED} is not known")
    return {name: {"conditional": True} if name in conditional else {} for name in sorted(found)}


def _is_false(keyword: ast.keyword) -> bool:
    """Whether the list of 0.2.4 to 0.3.0 names an architecture to say that it is not supported."""
    return isinstance(keyword.value, ast.Constant) and keyword.value.value is False


def _registers(decorator: ast.expr) -> list[tuple[str, str]]:
    """(manager, name) pairs of `@ToolParserManager.register_module(["a", "b"])`."""
    if not isinstance(decorator, ast.Call) or not isinstance(decorator.func, ast.Attribute):
        return []
    manager = ast.unparse(decorator.func.value)
    given = decorator.args[0] if decorator.args else next((one.value for one in decorator.keywords if one.arg == "name"), None)
    if manager not in _MANAGERS or decorator.func.attr != "register_module" or given is None:
        return []
    names = ast.literal_eval(given)
    return [(manager, name) for name in ([names] if isinstance(names, str) else names)]


def _table(names: list[Any]) -> dict[str, dict[str, Any]]:
    return {str(name): {} for name in names if name is not None}
