"""Names that a release knows: speculative algorithms, parsers, backends, and those that its code compares others with."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from servelint.harvest.pysource import Class, Module, Native, Program
from servelint.harvest.vllm.names import capability

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
_QUANTIZATION = "sglang.srt.layers.quantization"
_METHODS = ("BASE_QUANTIZATION_METHODS", "QUANTIZATION_METHODS")
_PLACES = ("sglang.srt.utils", "sglang.srt.utils.common", "sglang.utils")
_OTHER_DEVICES = (
    "is_cpu", "is_npu", "is_xpu", "is_mps", "is_hip", "is_hpu", "is_musa", "is_gfx95_supported", "mxfp_supported",
)  # fmt: skip
_ADAPTIVE = "sglang.srt.speculative.adaptive_spec_params"
_ADAPTIVE_TABLE = "DEFAULT_ADAPTIVE_CONFIG"
_MODEL_CONFIG = "sglang.srt.configs.model_config"
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
    found["serve"] = _serve(program)
    found["quantization"] = _capabilities(program, found.get("quantization", []))
    found["adaptive-steps"] = _adaptive_steps(program)
    found["mtp-models"] = {name: {} for name in _mtp_models(program)}
    return {kind: known for kind, known in found.items() if known}


def _capabilities(program: Program, methods: list[str]) -> dict[str, dict[str, int]]:
    """Methods with the least compute capability that their config class asks for (75 is 7.5), where the source tells it.

    Of an NVIDIA GPU: some methods have other classes elsewhere. What SGLang takes from vLLM is not known.
    """
    externals = {f"{place}.{name}": Native(name, lambda: False) for place in _PLACES for name in _OTHER_DEVICES}
    externals.update({f"{place}.is_cuda": Native("is_cuda", lambda: True) for place in _PLACES})
    program = Program(program.tree, externals)
    module = program.module(_QUANTIZATION)
    tables = [module.resolve(name) for name in _METHODS if module.defines(name)] if module is not None else []
    classes = {method: cls for table in tables if isinstance(table, dict) for method, cls in table.items()}
    found: dict[str, dict[str, int]] = {method: {} for method in methods}
    for method, cls in classes.items():
        least = capability(program, cls)
        if least is not None and isinstance(method, str):
            found[method] = {"capability": least}
    return found


def _adaptive_steps(program: Program) -> list[str]:
    """The steps that adaptive speculative decoding chooses among by default, whatever the batch."""
    module = program.module(_ADAPTIVE)
    table = module.resolve(_ADAPTIVE_TABLE) if module is not None and module.defines(_ADAPTIVE_TABLE) else None
    sizes = list(table.values()) if isinstance(table, dict) else []
    steps = {step for size in sizes if isinstance(size, dict) for step in size.get("candidate_steps", [])}
    return [str(step) for step in sorted(step for step in steps if isinstance(step, int))]


def _mtp_models(program: Program) -> list[str]:
    """Architectures that ModelConfig makes a draft's of (`...NextN`, `...MTP`), whose layers it drafts with."""
    module = program.module(_MODEL_CONFIG)
    found: set[str] = set()
    for node in ast.walk(module.tree) if module is not None else ():
        if isinstance(node, ast.If) and "is_draft_model" in ast.unparse(node.test) and module is not None:
            drafts = [word for one in node.body for word in _assigned(one) if word.endswith(("NextN", "MTP"))]
            found |= _tested(module, node.test) if drafts else set()
    return sorted(found)


def _assigned(node: ast.stmt) -> list[str]:
    """The words that a statement, or one inside it, assigns to `...architectures` or one of them."""
    return [
        word
        for one in ast.walk(node)
        if isinstance(one, ast.Assign) and "architectures" in ast.unparse(one.targets[0])
        for word in _words(one.value)
    ]


def _tested(module: Module, test: ast.expr) -> set[str]:
    """The architectures that a test compares the model's with, also in a list of the module's."""
    found: set[str] = set()
    for one in ast.walk(test):
        if not isinstance(one, ast.Compare) or "architectures" not in ast.unparse(one.left):
            continue
        for side in one.comparators:
            known = module.value(side)
            words = [known] if isinstance(known, str) else known if isinstance(known, (list, tuple, set, frozenset)) else []
            found |= {word for word in words if isinstance(word, str)}
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
