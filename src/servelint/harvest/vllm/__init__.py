"""What the command line of one vLLM release accepts: `vllm serve`, and `python -m vllm.entrypoints.openai.api_server` alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from servelint.harvest.declared import Reader
from servelint.harvest.evaluate.parser import Declared, Parser
from servelint.harvest.pysource import UNKNOWN, Class, Program
from servelint.harvest.sources import Tree
from servelint.harvest.vllm import machine, names, ranges
from servelint.harvest.vllm.converters import converter
from servelint.harvest.vllm.environment import environment
from servelint.harvest.vllm.json_options import JsonOptions

_ARGPARSE = ("vllm.utils.argparse_utils", "vllm.utils")


def snapshot(tree: Tree, report: Callable[[str], None] | None = None) -> dict[str, Any]:
    """The snapshot of a release; `report` is told what its source leaves undecided."""
    program, root = machine.load(tree, report)
    names.fill(program)
    parser = serve_parser(program, root)
    alone = server_parser(program)
    json_options = JsonOptions(program)
    reader = Reader(program, converter, inverse(program), json_options.link)
    options = {"help": reader.option(Declared(["-h", "--help"], {"action": "help"}))}
    options.update(reader.options(parser))
    ranges.mark(program, options)
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
        module = program.module(name)
        if module is not None and module.defines("make_arg_parser"):
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
        module = program.module(name)
        action = module.resolve("EnableDisableAction") if module is not None and module.defines("EnableDisableAction") else None
        if isinstance(action, Class):
            prefixes = program.attribute(action, "_inverse_prefixes")

    def spellings(name: str) -> list[str]:
        if not isinstance(prefixes, dict):
            return []
        return [other + name.removeprefix(prefix) for prefix, other in prefixes.items() if name.startswith(prefix)]

    return spellings
