"""What an SGLang release knows by name: its environment variables, speculative algorithms, parsers and backends.

Variables come from the registry in `srt/environ.py` and from reads anywhere in the package.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

from servelint.harvest.evaluate.values import UNKNOWN, Class, Native, Record, plain
from servelint.harvest.pysource import Module, Program, namer
from servelint.harvest.sources import Tree
from servelint.harvest.vllm.names import capability

# -- environment variables


_VARIABLES = "sglang.srt.environ"
_REGISTRY_FILE = "sglang/srt/environ.py"
_GONE = re.compile(r"\b(?:removed|deprecated|no longer|ignored)\b", re.IGNORECASE)
_NAME = re.compile(r"(?:SGLANG|SGL)_[A-Z0-9_]+")
_QUOTED = re.compile(rf"""["']{_NAME.pattern}["']""")
_KINDS = (("Bool", "bool"), ("Int", "int"), ("Float", "float"), ("JSON", "json"), ("Tuple", "list"), ("Str", "str"))
_READERS = {"get_bool_env_var": "bool", "get_int_env_var": "int", "get_float_env_var": "float"}
_WRITES = ("setenv", "delenv", "setdefault", "pop", "putenv", "unsetenv")


def descriptors(module: Module | None) -> dict[str, dict[str, Any]]:
    """The variables of the registry with their types and defaults; those that a descriptor reads under an older name too."""
    found: dict[str, dict[str, Any]] = {}
    for node in module.tree.body if module else []:
        if module is None or not isinstance(node, ast.ClassDef) or node.name != "Envs":
            continue
        for statement in node.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
                for target in statement.targets:
                    if isinstance(target, ast.Name):
                        found.update(_described(module, target.id, statement.value))
    return found


def _described(module: Module, name: str, call: ast.Call) -> dict[str, dict[str, Any]]:
    kind = ast.unparse(call.func)
    entry: dict[str, Any] = {}
    known = next((word for part, word in _KINDS if kind.startswith(f"Env{part}")), None)
    if known is not None:
        entry["type"] = known
    given = call.args[0] if call.args else next((one.value for one in call.keywords if one.arg == "default"), None)
    default = plain(module.value(given)) if given is not None else UNKNOWN
    if default is not UNKNOWN and default is not None:
        entry["default"] = default
    found = {name: entry}
    for keyword in call.keywords:
        older = module.value(keyword.value) if keyword.arg == "deprecated_name" else None
        if isinstance(older, str):
            text = f"Environment variable '{older}' is deprecated; use '{name}' instead."
            found[older] = {**entry, "deprecated": text}
    return found


def registry_answers(program: Program) -> dict[str, Any]:
    """For the evaluator: `envs.X.get()` answers X's default, as where the variable is not set."""
    known = descriptors(program.module(_VARIABLES))
    if not known:
        return {}

    def field(default: Any) -> Record:
        return Record("EnvField", {"get": Native("get", lambda: default), "is_set": Native("is_set", lambda: False)})

    return {f"{_VARIABLES}.envs": Record("Envs", {name: field(entry.get("default")) for name, entry in known.items()})}


def environment(tree: Tree, program: Program, report: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """Variable -> type, default, deprecated, each where the source has it."""
    found = descriptors(program.module(_VARIABLES))
    for path in tree.paths("sglang/"):
        text = tree.read(path) or ""
        if path != _REGISTRY_FILE and "/test/" not in path and _QUOTED.search(text):
            try:
                parsed = ast.parse(text)
            except (SyntaxError, ValueError) as error:
                report(f"{path}: {error}")
                continue
            nodes = list(ast.walk(parsed))
            for name, entry in [*_reads(nodes), *_refusals(nodes)]:
                held = found.setdefault(name, {})
                for key, value in entry.items():
                    held.setdefault(key, value)
    for name, text in _deprecations(tree, report).items():
        found.setdefault(name, {})["deprecated"] = text
    return dict(sorted(found.items()))


def _reads(nodes: list[ast.AST]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(variable, what the read says of it) for each place of a file that looks a variable up by its full name."""
    named = namer(nodes, _NAME.fullmatch)
    for node in nodes:
        if isinstance(node, ast.Call) and node.args:
            name = named(node.args[0])
            if name is not None and isinstance(node.func, (ast.Name, ast.Attribute)):
                function = ast.unparse(node.func)
                short = function.rpartition(".")[2]
                if short not in _WRITES and ("env" in function.lower() or short in _READERS):
                    yield name, _entry(short, node)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            name = named(node.slice)
            if name is not None and "env" in ast.unparse(node.value).lower():
                yield name, {}
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            name = named(node.left)
            if name is not None and "environ" in ast.unparse(node.comparators[0]):
                yield name, {}


def _entry(reader: str, call: ast.Call) -> dict[str, Any]:
    """Type and default that a reading function's name and second argument give."""
    given = call.args[1] if len(call.args) > 1 else next((one.value for one in call.keywords if one.arg == "default"), None)
    default = given.value if isinstance(given, ast.Constant) and isinstance(given.value, (str, int, float, bool)) else None
    entry: dict[str, Any] = {}
    kind = _READERS.get(reader)
    if kind is not None:
        entry["type"] = kind
    if kind == "bool" and (given is None or isinstance(default, str)):
        default = str(default).lower() in ("true", "1")
    if default is not None:
        entry["default"] = default
    return entry


def _refusals(nodes: list[ast.AST]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(variable, deprecated) for each warning of a set variable: `if os.getenv("X") is not None: logger.warning(...)`."""
    for node in nodes:
        for statement in node.body if isinstance(node, ast.If) else ():
            call = statement.value if isinstance(statement, ast.Expr) else None
            if not isinstance(node, ast.If) or not isinstance(call, ast.Call) or not call.args:
                continue
            warns = isinstance(call.func, ast.Attribute) and call.func.attr in ("warn", "warning", "warning_once")
            text = call.args[0].value if warns and isinstance(call.args[0], ast.Constant) else None
            if isinstance(text, str) and _GONE.search(text):
                tested = {name for name, _ in _reads(list(ast.walk(node.test)))}
                yield from ((name, {"deprecated": text}) for name in sorted(tested) if name in text)


def _deprecations(tree: Tree, report: Callable[[str], None]) -> dict[str, str]:
    """Variable -> the warning that the registry gives where it is set, by evaluating what the registry runs at import."""
    held: dict[str, str] = {}
    warned: list[str] = []
    environ = {
        "os.environ": held,
        "os.getenv": Native("get", held.get),
        "warnings.warn": Native("warn", lambda message, *_, **__: warned.append(str(message))),
    }
    module = Program(tree, environ, report).module(_VARIABLES)
    if module is None:
        return {}
    runs = [node.value for node in module.tree.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    runs = [call for call in runs if isinstance(call.func, ast.Name)]
    constants = {node.value for node in ast.walk(module.tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    found: dict[str, str] = {}
    for name in sorted(one for one in constants if _NAME.fullmatch(one)) + [_PREFIXED] * bool(runs):
        warned.clear()
        for call in runs:
            held.clear()
            held[name] = "1"
            module.value(call)
        if texts := [text for text in warned if name in text]:
            found["SGL_*" if name == _PREFIXED else name] = (
                texts[0].replace(_PREFIXED, "SGL_*").replace(f"SGLANG{_PREFIXED[3:]}", "SGLANG_*")
            )
    return found


_PREFIXED = "SGL_ANY_OTHER"
"""Stands for any variable with the older prefix."""


# -- names


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
        if (choices := options.get(option, {}).get("choices")) is not None:
            found[name] = [choice for choice in choices if choice is not None]
    if methods := _algorithms(program, options.get("speculative-algorithm")):
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
    tables = [program.value(_QUANTIZATION, name) for name in _METHODS]
    classes = {method: cls for table in tables if isinstance(table, dict) for method, cls in table.items()}
    found: dict[str, dict[str, int]] = {method: {} for method in methods}
    for method, cls in classes.items():
        least = capability(program, cls, {f"use_{method}": True})  # one class has fp8 and mxfp8
        if least is not None and isinstance(method, str):
            found[method] = {"capability": least}
    return found


def _adaptive_steps(program: Program) -> list[str]:
    """The steps that adaptive speculative decoding chooses among by default, whatever the batch."""
    table = program.value(_ADAPTIVE, _ADAPTIVE_TABLE)
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
    reserved = program.value(_REGISTRY, "_RESERVED_ALIASES")
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
    """The member that a release puts instead of an alias: `if x == "NEXTN": x = "EAGLE"`."""
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
