"""TensorRT-LLM: what `trtllm-serve [serve]` of a release accepts.

The options are what the click decorators of the function declare. The keys of the YAML file of `--config` are the fields of the
pydantic classes of the LLM API. A release whose package has only the command line has no keys.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

from servelint.harvest.archives import HarvestError
from servelint.harvest.evaluate.values import MISSING, UNKNOWN, Class, External, Field, Function, plain
from servelint.harvest.pysource import Module, Program, variables_read
from servelint.harvest.sources import Tree
from servelint.harvest.vllm.options import JsonOptions, alternatives

_SERVE = "tensorrt_llm.commands.serve"
_PREFIXES = ("TLLM_", "TRTLLM_", "TRT_LLM_")
_CHOICES = ("Choice", "ChoiceWithAlias")
_NAMED_BY = {"reasoning-parser": "reasoning-parsers", "tool-parser": "tool-call-parsers", "backend": "backends"}
"""option -> the kind of name that its choices are"""
_CONFIG = "config"
_CANONICAL = {
    "extra-llm-api-options": _CONFIG,
    "tp-size": "tensor-parallel-size",
    "pp-size": "pipeline-parallel-size",
    "cp-size": "context-parallel-size",
    "ep-size": "moe-expert-parallel-size",
    "cluster-size": "moe-cluster-parallel-size",
    "kv-cache-free-gpu-memory-fraction": "free-gpu-memory-fraction",
    "hf-revision": "revision",
}
"""The first spelling of an option in some releases -> its name in the catalog, which is its field in the LLM API."""
_ARGUMENTS = "tensorrt_llm.llmapi.llm_args"
_BACKENDS = {"pytorch": "TorchLlmArgs", "tensorrt": "TrtLlmArgs"}
_TAGS = {
    "speculative_config": ("decoding_type", "decoding-types"),
    "sparse_attention_config": ("algorithm", "sparse-attention"),
}
"""A field with one of several classes -> (the key that chooses the class, the kind of name of its values)"""


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
    options["help"] = {"names": ["--help"], "kind": "flag"}
    named: dict[str, Any] = {
        kind: {str(choice): {} for choice in options[name]["choices"]}
        for name, kind in _NAMED_BY.items()
        if "choices" in options.get(name, {})
    }
    keys, tagged = _file_keys(program, ast.unparse(module.tree))
    if keys and _CONFIG in options:
        options[_CONFIG]["json"] = _CONFIG
    return {
        "engine": "trtllm",
        "release": tree.release,
        "options": options,
        "positionals": positionals,
        "json": keys,
        "env": variables_read(tree, "tensorrt_llm/", _PREFIXES, report),
        "names": {**named, **tagged},
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
        if isinstance(decorator, ast.Call) and ((name := _called(decorator)) == "argument" or name.endswith("option")):
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
        if (kind := known.get(name, name)) is not None:
            option["type"] = kind


def _listed(value: Any) -> Any:
    """A sequence as a list; a mapping of aliases as its keys."""
    if isinstance(value, dict):
        return list(value)
    return list(value) if isinstance(value, (tuple, set, frozenset, type({}.keys()))) else value


def _canonical(names: list[str]) -> str:
    first = next((name for name in names if name.startswith("--")), names[0]).lstrip("-").replace("_", "-")
    return _CANONICAL.get(first, first)


# -- the keys of the YAML file


def _file_keys(program: Program, serve: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The keys of the file and of the objects in it, and names: the words that choose a class, each with the keys of the class.

    A key that one backend alone has says so under "backends".
    """
    module = program.module(_ARGUMENTS)
    entries: dict[str, Any] = {}
    names: dict[str, Any] = {}
    classes = {backend: program.value(_ARGUMENTS, name) for backend, name in _BACKENDS.items()}
    classes = {backend: arguments for backend, arguments in classes.items() if isinstance(arguments, Class)}
    for backend, arguments in classes.items():
        found = _Fields(program)
        found.entry(_CONFIG, arguments, "config", "constructor")
        for key, (tag, kind) in _TAGS.items():
            words = found.choose(f"{_CONFIG}.{key}", tag)
            names.update({kind: words} if words else {})
        for key, body in found.entries[_CONFIG]["keys"].items():
            body["backends"] = [backend]
            if (known := entries.get(_CONFIG, {"keys": {}})["keys"].get(key)) is not None:
                known["backends"].append(backend)
        for entry, body in found.entries.items():
            kept = entries.setdefault(entry, body)
            kept["keys"] = {**body["keys"], **kept["keys"]}
    for key, body in entries.get(_CONFIG, {"keys": {}})["keys"].items():
        if key in _made(module) and isinstance(body["type"], list):
            body["type"] = [one for one in body["type"] if one != "null"]
        if len(body["backends"]) == len(classes):
            del body["backends"]
    if entries:
        for taken in sorted(set(_TAKEN.findall(serve))):
            entries[_CONFIG]["keys"].setdefault(taken, {"type": "any"}).pop("backends", None)
    return {name: {"extra": entry["extra"], "keys": entry["keys"]} for name, entry in entries.items()}, names


def _made(module: Module | None) -> set[str]:
    """The keys of which the command makes objects itself, so that none of them may be null."""
    for node in ast.walk(module.tree) if module is not None else ():
        if (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == "field_mapping"
            and isinstance(node.value, ast.Dict)
        ):
            return {key.value for key in node.value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
    return set()


_TAKEN = re.compile(r"llm_args\.pop\(['\"](\w+)")
"""A key that the command itself takes out of the file"""


class _Fields(JsonOptions):
    """The fields of the pydantic classes of the LLM API."""

    def policy(self, cls: Class, _how: str, _name: str) -> str:
        """What happens to an unknown key. A class that is not pydantic's is called with the keys as arguments.

        An extract says `unknown` where it does not have all keys of a class.
        """
        lineage = self.program.lineage(cls)
        for base in lineage:
            given = next((one for one in map(_extra, base.node.body) if one), "") if isinstance(base, Class) else ""
            if given:
                return {"forbid": "reject", "unknown": "open"}.get(given, "ignore")
        pydantic = any(isinstance(base, External) and base.name.endswith("BaseModel") for base in lineage)
        return "ignore" if pydantic else "reject"

    def _key(self, name: str, cls: Class, field: Field, stage: str, how: str) -> dict[str, Any]:
        key = super()._key(name, cls, field, stage, how)
        bodies = [base.node.body for base in self.program.lineage(cls) if isinstance(base, Class)]
        declared = next((one for body in bodies for one in body if _declares(one, field.name)), None)
        aliases = [
            word.value
            for call in ast.walk(declared or ast.Pass())
            if isinstance(call, ast.Call) and _called(call) == "AliasChoices"
            for word in call.args
            if isinstance(word, ast.Constant) and word.value != field.name
        ]
        if aliases:
            key["aliases"] = aliases
        types = {key["type"]} if isinstance(key["type"], str) else set(key["type"])
        if types & {"list", "object"} and not types & {"any", "str"} and not self._validators(cls, field.name, "before"):
            key["text"] = False
        if key.get("ignore_case"):
            key["choices"] = [choice for choice in key["choices"] if not isinstance(choice, int)]
        return key

    def value(self, annotation: Any, name: str, stage: str, how: str) -> dict[str, Any]:
        """The type of a value. Of several classes, the object has the keys of all."""
        found = super().value(annotation, name, stage, how)
        for one in alternatives(annotation):
            if isinstance(one, Class) and "json" in found and self.program.fields(one):
                self._join(name, self._alone(name, one))
        return found

    def _alone(self, name: str, cls: Class) -> dict[str, Any]:
        alone = _Fields(self.program)
        alone.entry(name, cls, "config", "constructor")
        return alone.entries

    def _join(self, name: str, others: dict[str, Any]) -> None:
        for entry, body in others.items():
            kept = self.entries.setdefault(entry, body)
            for key, one in body["keys"].items():
                same = kept["keys"].setdefault(key, one)
                if entry == name and same is not one:
                    same["choices"] = list(dict.fromkeys([*same.get("choices", []), *one.get("choices", [])]))
                    if not same["choices"]:
                        del same["choices"]
                    if "required" in same and "required" not in one:
                        del same["required"]
            for key in kept["keys"].keys() - body["keys"].keys():
                kept["keys"][key].pop("required", None)

    def choose(self, name: str, tag: str) -> dict[str, Any]:
        """The words that choose a class, by the table in `from_dict` of their common base, each with the keys of its class."""
        module = self.program.module(_ARGUMENTS)
        entry = self.entries.get(name)
        if module is None or entry is None:
            return {}
        words: dict[str, Any] = {}
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.FunctionDef) or node.name != "from_dict" or f".get('{tag}'" not in ast.unparse(node):
                continue
            for table in (one for one in ast.walk(node) if isinstance(one, ast.Dict)):
                for word, value in zip(table.keys, table.values, strict=True):
                    cls = module.value(value)
                    if isinstance(word, ast.Constant) and isinstance(word.value, str) and isinstance(cls, Class):
                        others = self._alone(name, cls)
                        self._join(name, others)
                        keys = others[name]["keys"]
                        words[word.value] = {
                            "keys": sorted(keys),
                            **({"required": needed} if (needed := [key for key in keys if keys[key].get("required")]) else {}),
                        }
        if words:
            entry["keys"][tag] = {"type": "str", "choices": list(words), "required": True}
        return words


def _extra(node: ast.stmt) -> str:
    """`forbid` or another policy, where a statement of a class sets it: in `class Config`, or in `model_config`."""
    if isinstance(node, ast.ClassDef) and node.name == "Config":
        return next((one for one in map(_assigned, node.body) if one), "")
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and "model_config" in ast.unparse(node).partition("=")[0]:
        found = _POLICY.search(ast.unparse(node))
        return found.group(1) if found is not None else ""
    return ""


_POLICY = re.compile(r"extra'?\s*[:=]\s*'(\w+)'")


def _assigned(node: ast.stmt) -> str:
    found = _POLICY.search(ast.unparse(node)) if isinstance(node, ast.Assign) else None
    return found.group(1) if found is not None else ""


def _declares(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name
