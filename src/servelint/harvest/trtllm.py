"""TensorRT-LLM: what `trtllm-serve [serve]` of a release accepts, as the click decorators of its function declare it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from servelint.harvest.archives import HarvestError
from servelint.harvest.evaluate.values import MISSING, UNKNOWN, Function, plain
from servelint.harvest.pysource import Module, Program, variables_read
from servelint.harvest.sources import Tree

_SERVE = "tensorrt_llm.commands.serve"
_PREFIXES = ("TLLM_", "TRTLLM_", "TRT_LLM_")
_CHOICES = ("Choice", "ChoiceWithAlias")
_NAMED_BY = {"reasoning-parser": "reasoning-parsers", "tool-parser": "tool-call-parsers", "backend": "backends"}
"""option -> the kind of name that its choices are"""


def snapshot(tree: Tree, report: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """What one release accepts. Raises HarvestError where it has no such command."""
    program = Program(tree)
    module = program.module(_SERVE)
    command = next((node for node in module.tree.body if _is_serve(node)), None) if module else None
    if module is None or not isinstance(command, ast.FunctionDef):
        raise HarvestError(f"trtllm {tree.release} has no serve command in {_SERVE}")
    options: dict[str, dict[str, Any]] = {}
    positionals: list[dict[str, Any]] = []
    for kind, call, holder in _declarations(module, command.decorator_list):
        declared = _Declaration(call, holder, report)
        if kind == "argument":
            positionals.append(declared.positional())
        else:
            option = declared.option()
            if option["names"]:
                options[_canonical(option["names"])] = option
    help_names = ["--help"]
    options["help"] = {"names": help_names, "kind": "flag"}
    return {
        "engine": "trtllm",
        "release": tree.release,
        "options": options,
        "positionals": positionals,
        "json": {},
        "env": variables_read(tree, "tensorrt_llm/", _PREFIXES, report),
        "names": {
            kind: {str(name): {} for name in options[name].get("choices", [])}
            for name, kind in _NAMED_BY.items()
            if name in options and "choices" in options[name]
        },
    }


def _is_serve(node: ast.stmt) -> bool:
    """Whether a statement is the function under `@click.command("serve")`."""
    if not isinstance(node, ast.FunctionDef):
        return False
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and _called(decorator) == "command":
            first = decorator.args[0] if decorator.args else None
            return first.value == "serve" if isinstance(first, ast.Constant) else node.name == "serve"
    return False


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _declarations(module: Module, decorators: list[ast.expr]) -> Iterator[tuple[str, ast.Call, Module]]:
    """("option" or "argument", call, its module) in order, those that a decorator of the tree's own applies among them."""
    for decorator in decorators:
        if isinstance(decorator, ast.Call):
            name = _called(decorator)
            if name == "argument" or name.endswith("option"):
                yield name if name == "argument" else "option", decorator, module
                continue
        applied = module.value(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if isinstance(applied, Function) and isinstance(applied.node, ast.FunctionDef):
            for node in ast.walk(applied.node):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "option":
                    yield "option", node, applied.module


class _Declaration:
    """One `click.option(...)` or `click.argument(...)` call."""

    def __init__(self, call: ast.Call, module: Module, report: Callable[[str], None]) -> None:
        self._module = module
        self._report = report
        self._words = [value for arg in call.args if isinstance(value := module.value(arg), str)]
        self._settings = {one.arg: one.value for one in call.keywords if one.arg is not None}

    def _get(self, name: str) -> Any:
        """A keyword argument as a plain value; MISSING where it is not given, UNKNOWN where it cannot be known."""
        given = self._settings.get(name)
        return MISSING if given is None else plain(self._module.value(given))

    def positional(self) -> dict[str, Any]:
        found: dict[str, Any] = {"name": self._words[0] if self._words else "", "kind": "value"}
        required, nargs = self._get("required"), self._get("nargs")
        if nargs not in (MISSING, 1):
            found.update(kind="list", nargs="*" if nargs == -1 else nargs)
        elif required is False:
            found["kind"] = "optional"
        self._typed(found, found["name"])
        return found

    def option(self) -> dict[str, Any]:
        names: list[str] = []
        negatives: list[str] = []
        dest: str | None = None
        for word in self._words:
            if not word.startswith("-"):
                dest = word
                continue
            positive, slash, negative = word.partition("/")
            names.append(positive.strip())
            negatives += [negative.strip()] if slash else []
        option: dict[str, Any] = {"names": names}
        first = names[0] if names else "?"
        flag, multiple, nargs = (self._get(name) for name in ("is_flag", "multiple", "nargs"))
        if negatives:
            option.update(kind="toggle", negatives=negatives)
        elif flag is True or self._get("count") is True or self._get("flag_value") is not MISSING:
            option["kind"] = "flag"
        elif multiple is True:
            option["kind"] = "append"
        elif isinstance(nargs, int) and nargs != 1:
            option.update(kind="list", nargs=nargs)
        else:
            option["kind"] = "value"
        if any(value is UNKNOWN for value in (flag, multiple, nargs)):
            self._report(f"{first}: a form that is not known")
            del option["kind"]
        if option.get("kind") not in ("flag", "toggle"):
            self._typed(option, first)
        self._rest(option, first, dest)
        return option

    def _rest(self, option: dict[str, Any], first: str, dest: str | None) -> None:
        default = self._get("default")
        if default is UNKNOWN:
            self._report(f"{first}: a default that is not known")
        elif default is not MISSING and default is not None:
            option["default"] = default
        for setting in ("required", "hidden"):
            if self._get(setting) is True:
                option[setting] = True
        deprecated = self._get("deprecated")
        if deprecated not in (MISSING, UNKNOWN, False, None) or self._get("status") == "deprecated":
            option["deprecated"] = deprecated if isinstance(deprecated, str) else True
        if dest is not None and dest != _canonical(option["names"]).replace("-", "_"):
            option["dest"] = dest

    def _typed(self, option: dict[str, Any], first: str) -> None:
        """`type` and `choices`; click takes the type of the default where none is given."""
        given = self._settings.get("type")
        if given is None:
            default = self._get("default")
            if isinstance(default, (bool, int, float)):
                option["type"] = type(default).__name__
            return
        if isinstance(given, ast.Call) and _called(given) in _CHOICES:
            lists = [plain(_listed(self._module.value(arg))) for arg in given.args[:2]]
            if lists and all(isinstance(one, list) for one in lists):
                option["choices"] = [choice for one in lists for choice in one]
            else:
                self._report(f"{first}: choices that are not known: {ast.unparse(given)}")
            for keyword in given.keywords:
                if keyword.arg == "case_sensitive" and self._module.value(keyword.value) is False:
                    option["type"] = "casefold"
            return
        name = ast.unparse(given.func if isinstance(given, ast.Call) else given)
        known = {"str": None, "click.STRING": None, "click.INT": "int", "click.FLOAT": "float", "click.BOOL": "bool"}
        kind = known.get(name, name)
        if kind is not None:
            option["type"] = kind


def _listed(value: Any) -> Any:
    """A sequence as a list; a mapping of aliases as its keys."""
    if isinstance(value, dict):
        return list(value)
    return list(value) if isinstance(value, (tuple, set, frozenset, type({}.keys()))) else value


def _canonical(names: list[str]) -> str:
    first = next((name for name in names if name.startswith("--")), names[0])
    return first.lstrip("-").replace("_", "-")
