"""What stands at the cursor when a shell asks to complete a command line: argcomplete asks, here are the answers.

A shell's function (`servelint completions SHELL`) runs servelint with the line in its environment. Only the modules of the
command in that line are imported.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from importlib import import_module

import argcomplete
from argcomplete.completers import DirectoriesCompleter, FilesCompleter, SuppressCompleter

from servelint.cli import COMMANDS
from servelint.cli.completions import SHELLS
from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines.releases import known_releases

Completer = Callable[..., Iterable[str]]


def answer() -> None:
    """Print the completions of the line that the environment has, and end the process."""
    argcomplete.autocomplete(parser(os.environ.get("COMP_LINE", "")), always_complete_options="long")


def parser(line: str) -> argparse.ArgumentParser:
    """A parser of the whole command line; of its commands only the one in the line has options."""
    words = line.split()
    top = argparse.ArgumentParser(prog="servelint", allow_abbrev=False)
    top.add_argument("--version", action="store_true", help="print the version")
    commands = top.add_subparsers(dest="name")
    for name, text in COMMANDS.items():
        if name not in words[1:2]:
            commands.add_parser(name, help=text)
        elif "--" in words[2:]:  # what follows is a command of somebody else, or names of files
            commands.add_parser(name, add_help=False).add_argument("words", nargs="*")
        elif name in _OTHERS:
            _OTHERS[name](commands.add_parser(name, help=text, allow_abbrev=False), words[2:])
        else:
            own = _made_by(name, words[2:])
            for action in own._actions:
                completer = _COMPLETERS.get(action.dest)
                if completer is not None and action.choices is None:
                    _complete(action, completer)
            commands.add_parser(name, help=text, parents=[own], add_help=False, allow_abbrev=False)
    return top


def _made_by(name: str, words: list[str]) -> argparse.ArgumentParser:
    """The parser that a command reads its words with."""
    command = import_module(f"servelint.cli.{name}")
    made: argparse.ArgumentParser = getattr(command, _SECOND.get((name, *words[:1]), "parser"))()
    return made


def _complete(action: argparse.Action, completer: Completer) -> None:
    action.completer = completer  # type: ignore[attr-defined]


def _rules(**_: object) -> list[str]:
    """The ids of rules, and the areas that they are in."""
    from servelint.rules.load import headings

    ids = list(headings(()))
    return [*dict.fromkeys([f"{rule.partition('/')[0]}/*" for rule in ids]), *ids]


def _releases(prefix: str = "", **_: object) -> list[str]:
    """`ENGINE=`, and the releases of an engine after that, the newest first."""
    engine, sign, _release = prefix.partition("=")
    if sign:
        return [f"{engine}={release}" for release in reversed(_known(engine))]
    return [f"{name}=" for name in ENGINE_NAMES if _known(name)]


def _known(engine: str) -> list[str]:
    from servelint.engines import catalog as catalogs

    catalog = catalogs.load(engine) if engine in ENGINE_NAMES else None
    return catalog.releases if catalog is not None else known_releases(engine)


def _cataloged() -> list[str]:
    from servelint.engines import catalog as catalogs

    return [engine for engine in ENGINE_NAMES if catalogs.load(engine) is not None]


def _gpus(**_: object) -> list[str]:
    from servelint import hardware

    return hardware.names()


def _explain(own: argparse.ArgumentParser, words: list[str]) -> None:
    """A rule, or an engine and an option or a variable of it."""
    _complete(own.add_argument("--rules", metavar="FOLDER", help="a folder of rules of your own"), DirectoriesCompleter())
    _complete(own.add_argument("what"), lambda **_: [*_cataloged(), *_rules()])
    engine = words[0] if words else ""
    if engine in ENGINE_NAMES and len(words) < 4:
        from servelint.engines import catalog as catalogs

        catalog = catalogs.load(engine)
        if catalog is not None:
            _complete(own.add_argument("variable", nargs="?"), lambda **_: catalog.variables())
            for spelling in catalog.spellings():
                if spelling.startswith("--") and spelling not in ("--help", "--rules"):
                    own.add_argument(spelling, action="store_true")


def _engines(own: argparse.ArgumentParser, words: list[str]) -> None:
    own.add_argument("what", choices=("list", "show", "harvest"))
    if words[:1] == ["show"]:
        own.add_argument("engine", choices=_cataloged())
        _complete(own.add_argument("release", nargs="?"), lambda **_: _known(words[1]) if len(words) > 1 else [])
    elif words[:1] == ["harvest"]:
        own.add_argument("engine", choices=[one.id for one in ENGINES.values() if one.harvested])
        _complete(own.add_argument("release", nargs="?"), SuppressCompleter())
        for option in ("--from", "--output", "--catalog"):
            own.add_argument(option)


def _completions(own: argparse.ArgumentParser, _words: list[str]) -> None:
    own.add_argument("shell", choices=SHELLS)


_SECOND: dict[tuple[str, ...], str] = {("rules", "test"): "test_parser", ("advise", "calibrate"): "calibrate_parser"}
"""Second words of commands that have options of their own."""
_OTHERS = {"explain": _explain, "engines": _engines, "completions": _completions}
"""Commands that read their words themselves."""
_COMPLETERS: dict[str, Completer] = {
    "select": _rules,
    "extend_select": _rules,
    "ignore": _rules,
    "engine_version": _releases,
    "to": _releases,
    "gpu": _gpus,
    "gpu_count": SuppressCompleter(),
    "changed_since": SuppressCompleter(),
    "command": SuppressCompleter(),
    "rules": DirectoriesCompleter(),
    "folders": DirectoriesCompleter(),
    "paths": FilesCompleter(),
}
"""What completes an option or an argument; anything else takes one of its choices, or the name of a file."""
