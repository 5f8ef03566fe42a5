"""What the command line of one vLLM release accepts: `vllm serve`, and `python -m vllm.entrypoints.openai.api_server` alike."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from servelint.harvest.declared import Declared, Parser, Reader, canonical
from servelint.harvest.evaluate.values import UNKNOWN, Class, Function, Instance, Native, Record
from servelint.harvest.pysource import Program, Text
from servelint.harvest.sources import Tree
from servelint.harvest.vllm import names
from servelint.harvest.vllm.names import environment
from servelint.harvest.vllm.options import JsonOptions, converter, docs

_ARGPARSE = ("vllm.utils.argparse_utils", "vllm.utils")


def snapshot(tree: Tree, report: Callable[[str], None] | None = None) -> dict[str, Any]:
    """The snapshot of a release; `report` gets what its source leaves undecided."""
    program, root = load(tree, report)
    names.fill(program)
    parser = serve_parser(program, root)
    alone = server_parser(program)
    json_options = JsonOptions(program)
    reader = Reader(program, converter, inverse(program), json_options.link)
    options = {"help": reader.option(Declared(["-h", "--help"], {"action": "help"}))}
    options.update(reader.options(parser))
    mark_bounds(program, options)
    positionals = reader.positionals(parser)
    if alone.declared:
        _mark(options, reader.options(alone))
        known = [positional["name"] for positional in reader.positionals(alone)]
        positionals = [one if one["name"] in known else {**one, "entry": "serve"} for one in positionals]
    return {
        "engine": "vllm",
        "release": tree.release,
        "options": options,
        "positionals": positionals,
        "json": dict(sorted(json_options.entries.items())),
        "env": environment(tree, program),
        "names": names.names(program, options),
    }


def serve_parser(program: Program, root: Parser) -> Parser:
    """The parser of `vllm serve`: from 0.7.0 the subcommand's own class makes it, before that main() of vllm.scripts."""
    module = program.module("vllm.entrypoints.cli.serve")
    command = module.resolve("ServeSubcommand") if module is not None else UNKNOWN
    if isinstance(command, Class):
        program.call(program.attribute(program.call(command), "subparser_init"), [root.value()])
    else:
        scripts = program.module("vllm.scripts")
        program.call(scripts.resolve("main") if scripts is not None else UNKNOWN)
    return root.commands.get("serve", Parser())


def server_parser(program: Program) -> Parser:
    """The parser of `python -m vllm.entrypoints.openai.api_server`, without declarations where that cannot be found."""
    parser = Parser()
    program.externals["sys.argv"] = ["api_server.py", "--help=all"]
    for name in ("vllm.entrypoints.cli.serve", "vllm.scripts"):
        if (module := program.module(name)) is not None and module.defines("make_arg_parser"):
            program.call(module.resolve("make_arg_parser"), [parser.value()])
            break
    return parser


def _mark(options: dict[str, dict[str, Any]], alone: dict[str, dict[str, Any]]) -> None:
    """Adds what only the older entry takes, and says of each option that one entry lacks which one takes it: `entry`."""
    for name, option in options.items():
        if name != "help" and name not in alone:
            option["entry"] = "serve"
    for name, option in alone.items():
        options.setdefault(name, {**option, "entry": "api_server"})


def inverse(program: Program) -> Callable[[str], list[str]]:
    """The spelling besides `--no-` with which this release's toggles negate an `--enable-x` or `--disable-x`."""
    prefixes: Any = UNKNOWN
    for name in _ARGPARSE:
        action = program.value(name, "EnableDisableAction")
        if isinstance(action, Class):
            prefixes = program.attribute(action, "_inverse_prefixes")

    def spellings(name: str) -> list[str]:
        if not isinstance(prefixes, dict):
            return []
        return [other + name.removeprefix(prefix) for prefix, other in prefixes.items() if name.startswith(prefix)]

    return spellings


# -- what the start-up code finds around it: Linux, CUDA, no plugin, an empty environment


_PARSERS = ("vllm.utils", "vllm.utils.argparse_utils")
_DOCS = ("vllm.config", "vllm.config.utils")
_LAZY = ("vllm.utils", "vllm.utils.import_utils")


def load(tree: Text, report: Callable[[str], None] | None = None) -> tuple[Program, Parser]:
    """A release's program, and the parser that its own `FlexibleArgumentParser()` gives."""
    root = Parser()
    externals: dict[str, Any] = {
        "sys.argv": ["vllm", "serve", "--help=all"],  # what each field's docstring says becomes the option's help
        "vllm.plugins.load_general_plugins": Native("load_general_plugins", lambda: None),
        "vllm.envs.is_set": Native("is_set", lambda _name: False),
    }
    program = Program(tree, externals, report)
    for module in _PARSERS:
        program.externals[f"{module}.FlexibleArgumentParser"] = Native("parser", lambda **_kwargs: root.value(), raw=True)
    for module in _DOCS:
        program.externals[f"{module}.get_attr_docs"] = Native("get_attr_docs", lambda cls: docs(program, cls), raw=True)
    for module in _LAZY:
        program.externals[f"{module}.LazyLoader"] = Native(
            "LazyLoader", lambda _name, _scope, module: program.lookup(module), raw=True
        )
    program.externals["vllm.platforms.current_platform"] = _platform(program)
    return program, root


def _platform(program: Program) -> Any:
    """The CUDA platform of the release, with what it would ask a driver for answered here."""
    attributes: dict[str, Any] = {"pre_register_and_update": Native("pre_register_and_update", lambda *_args: None, raw=True)}
    attributes["device_type"] = attributes["device_name"] = "cuda"
    for name in ("cuda", "cuda_alike"):
        attributes[f"is_{name}"] = Native(f"is_{name}", lambda: True)
    for name in ("rocm", "cpu", "tpu", "xpu", "hpu", "neuron", "openvino", "out_of_tree", "unspecified"):
        attributes[f"is_{name}"] = Native(f"is_{name}", lambda: False)
    cls = program.value("vllm.platforms.cuda", "NvmlCudaPlatform")
    return Instance(cls, attributes) if isinstance(cls, Class) else Record("Platform", attributes)


# -- bounds of numbers: those of the config fields that options become (`Field(ge=..., gt=..., le=..., lt=...)`)


BOUNDS = ("ge", "gt", "le", "lt")
_SOMETIMES = ("LoRAConfig", "MultiModalConfig")
"""Classes that are made only where LoRA is enabled, or the model is multimodal."""


def mark_bounds(program: Program, options: dict[str, dict[str, Any]]) -> None:
    """Add the bounds of their fields to the options of a release.

    A body gets the bounds, and the name of the config class (`config`) if vLLM makes that class for some launches only.
    """
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
            if bounds := _bounds(program, known[owner], key):
                option.update({**bounds, **({"config": owner} if owner in _SOMETIMES else {})})
                break


def _classes(node: ast.AST) -> dict[str, str]:
    """The config class whose fields each variable holds: `scheduler_kwargs = get_kwargs(SchedulerConfig)`."""
    return {
        one.targets[0].id: ast.unparse(one.value.args[0])
        for one in ast.walk(node)
        if isinstance(one, ast.Assign)
        and isinstance(one.targets[0], ast.Name)
        and isinstance(one.value, ast.Call)
        and ast.unparse(one.value.func) == "get_kwargs"
    }


def _fields(node: ast.AST, classes: dict[str, str]) -> dict[str, tuple[str, str]]:
    """The class and the field that each option is declared from: `add_argument("--x", **scheduler_kwargs["x"])`."""
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
