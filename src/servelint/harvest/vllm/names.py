"""What a vLLM release knows by name: its environment variables, and names that free-text options take.

Variables come from the table of vllm.envs and from reads of os.environ in the package. `converter` says how the text is read
where that can fail or is not obvious: "int", "float", "json", "bool(int)" (a word such as `true` stops the start), "1" (only
that text is true), "words" (the words that are true are in `true`). Names are those of speculative methods, parsers,
quantizations, attention backends and model architectures, and those that the start-up code compares others with.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from functools import partial
from typing import Any

from servelint.harvest.evaluate.values import MISSING, UNKNOWN, Class, External, Function, Generic, Instance, plain
from servelint.harvest.pysource import Module, Program
from servelint.harvest.sources import Tree
from servelint.harvest.vllm.options import closed

_INTERFACES = {
    "lora": ("SupportsLoRA", "supports_lora"),
    "pp": ("SupportsPP", "supports_pp"),
    "eagle3": ("SupportsEagle3", "supports_eagle3"),
    "eplb": ("MixtureOfExperts", "set_eplb_state"),
}
_PACKED, _STACKED = "packed_modules_mapping", "bitsandbytes_stacked_params_mapping"

# -- environment variables


_READ = re.compile(
    r"(?:environ\.get\(|environ\.pop\(|getenv\(|environ\[)\s*[\"'](?P<name>VLLM_[A-Z0-9_]+)[\"'](?P<after>\s*\]\s*=(?!=))?"
    r"|[\"'](?P<tested>VLLM_[A-Z0-9_]+)[\"'] (?:not )?in os\.environ"
)
_TYPES = {bool: "bool", int: "int", float: "float", str: "str", list: "list", dict: "json"}
_NOTE = re.compile(r"\bdeprecated\b", re.IGNORECASE)


def environment(tree: Tree, program: Program) -> dict[str, dict[str, Any]]:
    """The variables that a release reads, with what is known of each."""
    found: dict[str, dict[str, Any]] = {}
    if (module := program.module("vllm.envs")) is not None:
        table = module.resolve("environment_variables")
        texts = _texts(module)
        declared = _declared(module)
        for name, reader in table.items() if isinstance(table, dict) else []:
            found[name] = _variable(program, reader, texts.get(name), declared.get(name))
    for path in tree.paths("vllm/"):
        for match in _READ.finditer((tree.read(path) or "") if path.endswith(".py") else ""):
            name = match["name"] or match["tested"]
            if match["after"] is None:
                found.setdefault(name, {})
    return dict(sorted(found.items()))


def _texts(module: Module) -> dict[str, ast.expr]:
    """The expression that reads each variable, from the display of the table."""
    for node in module.tree.body:
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if isinstance(value, ast.Dict) and "environment_variables" in ast.unparse(node).partition("{")[0]:
            pairs = zip(value.keys, value.values, strict=True)
            return {str(key.value): item for key, item in pairs if isinstance(key, ast.Constant)}
    return {}


def _declared(module: Module) -> dict[str, str]:
    """The annotation of each variable under `if TYPE_CHECKING`."""
    found = {}
    for block in module.tree.body:
        for node in block.body if isinstance(block, ast.If) else []:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = ast.unparse(node.annotation)
    return found


def _variable(program: Program, reader: Any, expression: ast.expr | None, annotation: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    text = ast.unparse(expression) if expression is not None else ""
    default = plain(program.call(reader))
    if default is not UNKNOWN:
        found["default"] = default
    kind = next((one for one in ("bool", "int", "float", "str") if annotation and re.search(rf"\b{one}\b", annotation)), None)
    if kind is None and default is not UNKNOWN and default is not None:
        kind = _TYPES.get(type(default))
    if kind is not None:
        found["type"] = kind
    if isinstance(reader, Function) and isinstance(closed(reader, "choices"), (list, tuple, Function)):
        choices = closed(reader, "choices")
        choices = plain(program.call(choices) if isinstance(choices, Function) else choices)
        if isinstance(choices, list) and choices:
            found["choices"] = choices
            found.update({"ignore_case": True} if closed(reader, "case_sensitive") is False else {})
            found.update({"list": True} if "list_with" in text or "set_with" in text else {})
    found.update(_converter(text))
    if "deprecated" in text.partition("(")[0] or (isinstance(reader, Function) and "_deprecated" in text):
        notes = [node.value for node in ast.walk(expression or ast.Pass()) if isinstance(node, ast.Constant)]
        said = [" ".join(note.split()) for note in notes if isinstance(note, str) and (_NOTE.search(note) or " " in note)]
        found["deprecated"] = said[0] if said else True
    return found


def _converter(text: str) -> dict[str, Any]:
    if (words := re.search(r"\.lower\(\) in \((?P<words>[^)]*)\)", text)) is not None:
        return {"converter": "words", "true": re.findall(r"'([^']*)'", words["words"])}
    if (single := re.search(r"\.lower\(\) == '(?P<word>\w+)'", text)) is not None:
        return {"converter": "words", "true": [single["word"]]}
    for pattern, name in (
        (r"\bbool\(int\(", "bool(int)"),
        (r"maybe_convert_bool\(", "bool(int)"),
        (r"maybe_convert_int\(|\bint\(", "int"),
        (r"\bfloat\(", "float"),
        (r"json\.loads\(", "json"),
        (r"== '1'", "1"),
    ):
        if re.search(pattern, text):
            return {"converter": name}
    return {}


# -- names


_CONFIGS = ("vllm.config.speculative", "vllm.config.cache", "vllm.config")
_BACKENDS = (
    ("vllm.v1.attention.backends.registry", "AttentionBackendEnum"),
    ("vllm.attention.backends.registry", "AttentionBackendEnum"),
    ("vllm.attention.backends.registry", "_Backend"),
    ("vllm.platforms.interface", "_Backend"),
    ("vllm.attention.selector", "_Backend"),
)
_QUANTIZATION = "vllm.model_executor.layers.quantization"
_ONLINE = "vllm.config.quantization"
_CONNECTORS = "vllm.distributed.kv_transfer.kv_connector.factory"
_OFFLOADING = "vllm.v1.kv_offload.factory"
_TIERS = "vllm.v1.kv_offload.tiering.factory"
_ORACLES = "vllm.model_executor.layers.fused_moe.oracle"
_EXPERTS = ("unquantized", "fp8", "nvfp4", "mxfp4", "int8", "int_wna16")
_TARGETS = re.compile(r"eagle3_target_supported|aux_hidden_states_supported")
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
        "quantization": _capabilities(program, _quantization(program) or options.get("quantization", {}).get("choices", [])),
        "deprecated-quantization": _listed(program, _QUANTIZATION, "DEPRECATED_QUANTIZATION_METHODS"),
        "kv-connectors": _registered_here(program, _CONNECTORS, "register_connector"),
        "offload-specs": _registered_here(program, _OFFLOADING, "register_spec"),
        "offload-tiers": _registered_here(program, _TIERS, "register_tier"),
        "expert-backends": _expert_backends(program),
        "hidden-state-targets": _targets(program),
        "mtp-models": {name: {} for name in _mtp_models(program)},
        "histogram-families": sorted(_listed(program, "vllm.v1.metrics.buckets", "BUCKET_FAMILY_KEYS")),
        "attention-backends": _backends(program),
        "kv-cache-kinds": _kinds(program),
        "online-quantization": _online(program),
        "quantization-keys": _keys(program, _ONLINE, "QUANT_KEY_NAMES"),
        "kv-cache-dtypes": _literal(program, "CacheDType") or options.get("kv-cache-dtype", {}).get("choices", []),
        "architectures": _architectures(program),
    }
    return {kind: values for kind, values in found.items() if values}


def _literal(program: Program, name: str) -> list[Any]:
    """The values of a Literal of the config modules, flat; nothing where the release has none of that name."""
    for dotted in _CONFIGS:
        value = program.value(dotted, name)
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
    for name in ("QuantizationMethods", "QUANTIZATION_METHODS"):
        value = program.value(_QUANTIZATION, name)
        value = value.args if isinstance(value, Generic) else value
        literal = plain(list(value)) if isinstance(value, (dict, list, tuple)) else UNKNOWN
        if isinstance(literal, list):
            return literal
    return []


def _capabilities(program: Program, methods: list[str]) -> dict[str, dict[str, int]]:
    """Methods with the least compute capability that their config class asks for (75 is 7.5), where the source tells it.

    `by-option` is that of the class which the command line takes instead.
    """
    module = program.module(_QUANTIZATION)
    find = module.resolve("get_quantization_config") if module is not None else UNKNOWN
    short = program.value(_ONLINE, "_ONLINE_SHORTHANDS")
    online_least = (
        capability(program, program.call(find, ["online"])) if isinstance(short, (dict, list, tuple)) and short else None
    )
    found: dict[str, dict[str, int]] = {}
    for method in methods:
        least = capability(program, program.call(find, [method]))
        found[method] = {"capability": least} if least is not None else {}
        if online_least is not None and method in short and least != online_least:
            found[method]["by-option"] = online_least
    return found


def capability(program: Program, cls: Any, given: dict[str, Any] | None = None) -> int | None:
    """What `get_min_capability` of a quantization's config class gives; None where that is not a number above 0.

    Where it depends on the instance, it is that of one whose attributes are the defaults of `__init__`, and those given.
    """
    if not isinstance(cls, Class):
        return None
    method = program.attribute(cls, "get_min_capability")
    if isinstance(method, Function) and method.self_ is MISSING:
        method = program.attribute(Instance(cls, _defaults(program, cls) | (given or {})), "get_min_capability")
    found = program.call(method)
    return found if isinstance(found, int) and found > 0 else None


def _defaults(program: Program, cls: Class) -> dict[str, Any]:
    """The literal defaults of the parameters of a class's `__init__`."""
    made = program.attribute(cls, "__init__") if program.has(cls, "__init__") else None
    if not isinstance(made, Function) or isinstance(made.node, ast.Lambda):
        return {}
    given = made.node.args
    defaults = zip(reversed(given.args), reversed(given.defaults), strict=False)
    return {name.arg: default.value for name, default in defaults if isinstance(default, ast.Constant)}


def _listed(program: Program, dotted: str, name: str) -> list[Any]:
    """The items of a module's list, as plain values."""
    value = program.value(dotted, name)
    literal = plain(list(value)) if isinstance(value, (list, tuple, set, frozenset)) else UNKNOWN
    return literal if isinstance(literal, list) else []


def _keys(program: Program, dotted: str, name: str) -> list[str]:
    module = program.module(dotted)
    value = module.resolve(name) if module is not None and module.defines(name) else None
    return [key for key in value if isinstance(key, str)] if isinstance(value, dict) else []


def _kinds(program: Program) -> list[str]:
    """The kinds of KV cache groups: the values of KVCacheSpecKind."""
    module = program.module("vllm.v1.kv_cache_interface")
    enum = module.resolve("KVCacheSpecKind") if module is not None and module.defines("KVCacheSpecKind") else None
    values = [member.value for member in program.members(enum)] if isinstance(enum, Class) else []
    return [value for value in values if isinstance(value, str)]


def _online(program: Program) -> dict[str, dict[str, Any]]:
    """Short names of online quantization; `without-linear` where one has no spec of linear layers."""
    module = program.module(_ONLINE)
    node = module.tree if module is not None else ast.Module([], [])
    assigned = [one for one in node.body if isinstance(one, ast.AnnAssign)]
    tables = [one.value for one in assigned if ast.unparse(one.target) == "_ONLINE_SHORTHANDS"]
    return {
        key.value: {} if any(word.arg == "linear" for word in value.keywords) else {"without-linear": True}
        for table in tables
        if isinstance(table, ast.Dict)
        for key, value in zip(table.keys, table.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and isinstance(value, ast.Call)
    }


def _registered_here(program: Program, dotted: str, function: str) -> list[str]:
    """The names with which a factory's module calls its own method, as KVConnectorFactory.register_connector."""
    module = program.module(dotted)
    calls = [node.value for node in ast.walk(module.tree) if isinstance(node, ast.Expr)] if module is not None else []
    return [
        call.args[0].value
        for call in calls
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).endswith(f"Factory.{function}")
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    ]


def _expert_backends(program: Program) -> dict[str, dict[str, list[str]]]:
    """Values of --moe-backend with the formats of experts that take them.

    `map_*_backend` of each oracle has a table of them, and `select_*` passes over some ("not in ['auto', 'humming']").
    """
    found: dict[str, dict[str, list[str]]] = {}
    for kind in _EXPERTS:
        module = program.module(f"{_ORACLES}.{kind}")
        for node in ast.walk(module.tree) if module is not None else ():
            words: list[str] = []
            if isinstance(node, ast.FunctionDef) and node.name.startswith("map_"):
                tables = [one for one in ast.walk(node) if isinstance(one, ast.Dict)]
                words = [word for table in tables for key in table.keys if key is not None for word in _words(key)]
            elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotIn) and "auto" in _words(node.comparators[0]):
                words = [word for word in _words(node.comparators[0]) if word != "auto"]
            for word in words:
                experts = found.setdefault(word, {"experts": []})["experts"]
                experts += [] if kind in experts else [kind]
    return found


def _functions(program: Program, name: str) -> list[ast.FunctionDef]:
    """The functions of a name in the modules that may hold SpeculativeConfig."""
    modules = [program.module(dotted) for dotted in _CONFIGS]
    nodes = [node for module in modules if module is not None for node in ast.walk(module.tree)]
    return [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == name]


def _targets(program: Program) -> list[str]:
    """Parts of the model types that may have drafts on hidden states (EAGLE-3), as SpeculativeConfig lists or compares them."""
    compared: list[str] = []
    for dotted in _CONFIGS:
        module = program.module(dotted)
        for node in ast.walk(module.tree) if module is not None else ():
            if isinstance(node, ast.Assign) and _TARGETS.fullmatch(ast.unparse(node.targets[0])):
                return _words(node.value)
            if isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]).endswith("hf_text_config.model_type"):
                compared += _words(node.left) if isinstance(node.ops[0], ast.NotIn) else []
    return compared


def _mtp_models(program: Program) -> list[str]:
    """Architectures and model types with whose own layers it drafts: SpeculativeConfig.hf_config_override rewrites them."""
    found: list[str] = []
    for function in _functions(program, "hf_config_override"):
        for node in ast.walk(function):
            if isinstance(node, ast.If) and any(_makes_a_draft(one) for one in node.body):
                found += _compared(node.test)
    return sorted(set(found))


def _compared(test: ast.expr) -> list[str]:
    """The words of a test without those that it passes to functions (`getattr(hf_config, "decoder", None)`)."""
    calls = [one for one in ast.walk(test) if isinstance(one, ast.Call)]
    passed = {word for call in calls for one in call.args for word in _words(one)}
    return [word for word in _words(test) if not word.endswith("mtp") and word not in passed]


def _makes_a_draft(node: ast.stmt) -> bool:
    """Whether a statement is `hf_config.model_type = "deepseek_mtp"`."""
    if not isinstance(node, ast.Assign) or not ast.unparse(node.targets[0]).endswith(".model_type"):
        return False
    return any(word.endswith("mtp") for word in _words(node.value))


def _words(node: ast.AST) -> list[str]:
    return [one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _architectures(program: Program) -> dict[str, dict[str, list[str]]]:
    """The architectures of the model registry, the Transformers backend's own stand-ins among them.

    `lacks` has what the class of an architecture does not declare: "lora", "pp" (pipeline parallelism), "eagle3" (hidden states
    for drafts), "eplb" (experts that can be moved), "bitsandbytes". It is left out where not all bases of the class are known.
    """
    loader = program.module("vllm.model_executor.model_loader.loader")
    stacked = loader is not None and _STACKED in ast.unparse(loader.tree)
    for dotted, name in _MODELS:
        value = program.value(dotted, name)
        if isinstance(value, dict):
            known = sorted(key for key in value if isinstance(key, str))
            packed = _STACKED if stacked else _PACKED
            return {key: _lacks(program, value[key], packed) for key in known}
    return {}


def _lacks(program: Program, entry: Any, packed: str) -> dict[str, list[str]]:
    """What the class of a row of the registry does not declare: (module, class)."""
    if not isinstance(entry, (tuple, list)) or len(entry) < 2 or not all(isinstance(one, str) for one in entry):
        return {}
    dotted = entry[-2] if entry[-2].startswith("vllm.") else f"vllm.model_executor.models.{entry[-2]}"
    cls, module = program.value(dotted, entry[-1]), program.module(dotted)
    bases = program.guarded(partial(program.lineage, cls)) if isinstance(cls, Class) else UNKNOWN
    if module is None or not isinstance(bases, list) or not all(isinstance(getattr(one, "name", None), str) for one in bases):
        return {}
    names = {one.name.rpartition(".")[2] for one in bases}
    declared = {name for one in bases if isinstance(one, Class) for name in _declares(one.node)}
    interfaces = program.module("vllm.model_executor.models.interfaces")
    found = [
        what
        for what, (base, flag) in _INTERFACES.items()
        if interfaces is not None and interfaces.defines(base) and base not in names and flag not in declared
    ]
    if packed not in declared and f"self.{packed}" not in ast.unparse(module.tree):
        found.append("bitsandbytes")
    return {"lacks": found} if found else {}


def _declares(node: ast.ClassDef) -> list[str]:
    """The names that the body of a class gives a value."""
    found = [one.name for one in node.body if isinstance(one, ast.FunctionDef)]
    for one in node.body:
        if isinstance(one, ast.Assign):
            found += [target.id for target in one.targets if isinstance(target, ast.Name)]
        elif isinstance(one, ast.AnnAssign) and one.value is not None and isinstance(one.target, ast.Name):
            found.append(one.target.id)
    return found


def _backends(program: Program) -> list[str]:
    for dotted, name in _BACKENDS:
        value = program.value(dotted, name)
        members = program.members(value) if isinstance(value, Class) else []
        if members:
            return [member.name for member in members]
    return []
