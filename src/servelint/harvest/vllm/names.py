"""Names that vLLM takes in free-text options (speculative methods, parsers, quantizations, attention backends), and those of
the model architectures that it implements."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from servelint.harvest.pysource import UNKNOWN, Class, External, Generic, Module, Program, plain

_CONFIGS = ("vllm.config.speculative", "vllm.config.cache", "vllm.config")
_BACKENDS = (
    ("vllm.v1.attention.backends.registry", "AttentionBackendEnum"),
    ("vllm.attention.backends.registry", "AttentionBackendEnum"),
    ("vllm.attention.backends.registry", "_Backend"),
    ("vllm.platforms.interface", "_Backend"),
    ("vllm.attention.selector", "_Backend"),
)
_MODELS = (("vllm.model_executor.models.registry", "_VLLM_MODELS"), ("vllm.model_executor.models", "_MODELS"))


@dataclasses.dataclass(frozen=True, slots=True)
class Registry:
    """A manager class whose table is filled while the modules of a package are imported."""

    packages: tuple[str, ...]
    manager: str
    table: str


TOOL_PARSERS = Registry(("vllm.tool_parsers", "vllm.entrypoints.openai.tool_parsers"), "ToolParserManager", "tool_parsers")
REASONING_PARSERS = Registry(
    ("vllm.reasoning", "vllm.entrypoints.openai.reasoning_parsers"), "ReasoningParserManager", "reasoning_parsers"
)


def fill(program: Program) -> None:
    """Gives the parser managers what importing their packages would register, so that choices made from them are known."""
    for registry in (TOOL_PARSERS, REASONING_PARSERS):
        package, names = registered(program, registry)
        manager = package.resolve(registry.manager) if package is not None else None
        if isinstance(manager, Class):
            manager.attributes[registry.table] = dict.fromkeys(names)


def registered(program: Program, registry: Registry) -> tuple[Module | None, list[str]]:
    """The package that holds a registry in this release, and the names registered in it, in order."""
    for dotted in registry.packages:
        package = program.module(dotted)
        if package is None or not package.defines(registry.manager):
            continue
        names: list[str] = []
        for name in package.names:
            table = package.resolve(name) if name.endswith("_TO_REGISTER") else None
            names += table if isinstance(table, dict) else []
        for module in _imported(program, package):
            names += _decorated(module, registry.manager)
        return package, list(dict.fromkeys(names))
    return None, []


def _imported(program: Program, package: Module) -> list[Module]:
    found: dict[str, Module] = {}
    for node in package.tree.body:
        module = program.module(package.absolute(node)) if isinstance(node, ast.ImportFrom) else None
        if module is not None and module.name.startswith(f"{package.name}."):
            found[module.name] = module
    return list(found.values())


def _decorated(module: Module, manager: str) -> list[str]:
    """The names under which a module's classes register themselves."""
    names: list[str] = []
    for node in module.tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == f"{manager}.register_module":
                given = [*decorator.args, *(word.value for word in decorator.keywords if word.arg == "name")]
                value = module.value(given[0]) if given else node.name
                names += value if isinstance(value, list) else [value]
    return [name for name in names if isinstance(name, str)]


def names(program: Program, options: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The "names" of a snapshot. `options` are the release's: old ones list some of these names as choices."""
    found: dict[str, Any] = {
        "speculative-methods": _methods(program),
        "tool-call-parsers": registered(program, TOOL_PARSERS)[1] or options.get("tool-call-parser", {}).get("choices", []),
        "reasoning-parsers": registered(program, REASONING_PARSERS)[1],
        "quantization": _quantization(program) or options.get("quantization", {}).get("choices", []),
        "attention-backends": _backends(program),
        "kv-cache-dtypes": _literal(program, "CacheDType") or options.get("kv-cache-dtype", {}).get("choices", []),
        "architectures": _architectures(program),
    }
    return {kind: values for kind, values in found.items() if values}


def _literal(program: Program, name: str) -> list[Any]:
    """The values of a Literal of the config modules, flat; nothing where the release has none of that name."""
    for dotted in _CONFIGS:
        module = program.module(dotted)
        value = module.resolve(name) if module is not None and module.defines(name) else None
        if isinstance(value, Generic) and isinstance(value.origin, External) and value.origin.name == "typing.Literal":
            return list(value.args)
    return []


def _methods(program: Program) -> dict[str, dict[str, str]]:
    """Speculative methods; from 0.11.0 every member of MTPModelTypes but `mtp` itself is rewritten to `mtp`."""
    aliases = _literal(program, "MTPModelTypes")
    known = _literal(program, "SpeculativeMethod")
    rewritten = "mtp" in aliases and _rewrites(program)
    return {name: {"alias_of": "mtp"} if rewritten and name in aliases and name != "mtp" else {} for name in known}


def _rewrites(program: Program) -> bool:
    module = program.module("vllm.config.speculative")
    return module is not None and "self.method = 'mtp'" in ast.unparse(module.tree)


def _quantization(program: Program) -> list[str]:
    module = program.module("vllm.model_executor.layers.quantization")
    for name in ("QuantizationMethods", "QUANTIZATION_METHODS"):
        value = module.resolve(name) if module is not None and module.defines(name) else UNKNOWN
        value = value.args if isinstance(value, Generic) else value
        literal = plain(list(value)) if isinstance(value, (dict, list, tuple)) else UNKNOWN
        if isinstance(literal, list):
            return literal
    return []


def _architectures(program: Program) -> list[str]:
    """The architectures of the model registry, the Transformers backend's own stand-ins among them."""
    for dotted, name in _MODELS:
        module = program.module(dotted)
        value = module.resolve(name) if module is not None and module.defines(name) else None
        if isinstance(value, dict):
            return sorted(key for key in value if isinstance(key, str))
    return []


def _backends(program: Program) -> list[str]:
    for dotted, name in _BACKENDS:
        module = program.module(dotted)
        value = module.resolve(name) if module is not None and module.defines(name) else None
        members = program.members(value) if isinstance(value, Class) else []
        if members:
            return [member.name for member in members]
    return []
