"""`servelint completions SHELL`, and the answers to a shell that completes a command line. Click finds what is completed.

A shell's function runs servelint with the line in its environment (`_SERVELINT_COMPLETE`). Only the module of the command in
that line is imported.
"""

from __future__ import annotations

import os

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class, get_completion_class, shell_complete

from servelint.cli import COMPLETE_VARIABLE, root
from servelint.cli.command import Command, Group, Options, argument, command
from servelint.cli.output import write_stdout
from servelint.engines import ENGINE_NAMES
from servelint.engines import catalog as catalogs
from servelint.engines.releases import known_releases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from servelint.engines.catalog import Catalog

    Completer = Callable[[click.Context, str], Iterable[str]]

SHELLS = ("bash", "zsh", "fish")

_PROGRAM = "servelint"
_NOTES = """In the start-up file of the shell:
  bash  eval "$(servelint completions bash)"        (bash 4.4 or later)
  zsh   eval "$(servelint completions zsh)"         (after compinit)
  fish  servelint completions fish | source"""


class Shell(Options, title="arguments"):
    """For which shell."""

    shell: str = argument("SHELL", f"one of {', '.join(SHELLS)}", choices=SHELLS, needed=True)


@command(
    "completions",
    Shell,
    about="Print the script that completes commands, options, rules, releases and GPUs in a shell.",
    usage=[f"servelint completions {'|'.join(SHELLS)}"],
    notes=_NOTES,
    examples=["servelint completions bash > ~/.local/share/bash-completion/completions/servelint"],
)
def run(shell: Shell) -> int:
    """Print the script."""
    made = get_completion_class(shell.shell)
    assert made is not None  # noqa: S101 - click has one for each of SHELLS
    write_stdout(made(root(), {}, _PROGRAM, COMPLETE_VARIABLE).source())
    return 0


def answer(top: Command) -> int:
    """Print the completions of the line that the environment holds. Returns the exit status."""
    return shell_complete(top, {}, _PROGRAM, COMPLETE_VARIABLE, os.environ[COMPLETE_VARIABLE])


@add_completion_class
class _Bash(BashComplete):
    """Bash, which breaks words at `=`: `vllm=0.27` is three words, of which a completion replaces the last one."""

    source_template = BashComplete.source_template.replace(
        "COMPREPLY+=($value)", "COMPREPLY+=($value)\n            [[ $value == *= ]] && compopt -o nospace"
    )
    _replaced = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and the one at it, with those that bash broke put together."""
        args, incomplete = super().get_completion_args()
        words: list[str] = []
        for word in [*args, incomplete]:
            if words and (word == "=" or words[-1].endswith("=")) and words[-1] != "=":
                words[-1] += word
            else:
                words.append(word)
        whole = words.pop()
        value = whole.partition("=")[2] if whole.startswith("-") else whole
        if whole != incomplete:
            self._replaced = value[: value.rfind("=") + 1]
        return words, whole

    def format_completion(self, item: CompletionItem) -> str:
        """Return an item as the function in bash reads it, without what stands on the line already."""
        value = str(item.value).removeprefix(self._replaced).replace("*", r"\\*")  # `read` takes one of the backslashes
        return f"{item.type},{value}"


def of_command(context: click.Context, one: Command, incomplete: str) -> list[CompletionItem]:
    """Return the subcommands and the options that begin so; the options of an engine where `explain` names one."""
    if not incomplete.startswith("-"):
        return [CompletionItem(name, help=text) for name, text in one.summaries() if name.startswith(incomplete)]
    if (catalog := _catalog(context.params.get("topic"))) is not None:
        return [CompletionItem(name) for name in catalog.spellings() if name.startswith(incomplete)]
    options = [option for option in one.params if isinstance(option, click.Option)]
    return [CompletionItem(name, help=option.help) for option in options for name in option.opts if name.startswith(incomplete)]


def of_parameter(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return what the value of an option or of an argument may be: choices, names, or files."""
    choices: tuple[str, ...] = getattr(parameter, "choices", ())
    completer = _COMPLETERS.get(parameter.name or "")
    if choices or completer is not None:
        values = choices if choices or completer is None else completer(context, incomplete)
        return [CompletionItem(value) for value in values if value.startswith(incomplete)]
    kind = _KINDS.get(parameter.metavar or "")
    return [CompletionItem(incomplete, type=kind)] if kind is not None else []


def _rules(_: click.Context, __: str) -> list[str]:
    """Return the ids of rules, and the areas that they are in."""
    from servelint.rules.load import headings

    ids = list(headings(()))
    return [*dict.fromkeys([f"{rule.partition('/')[0]}/*" for rule in ids]), *ids]


def _releases(_: click.Context, incomplete: str) -> list[str]:
    """Return `ENGINE=`, and ENGINE=RELEASE after that, the newest first."""
    engine, sign, _release = incomplete.partition("=")
    if sign:
        return [f"{engine}={release}" for release in reversed(_known(engine))]
    return [f"{name}=" for name in ENGINE_NAMES if _known(name)]


def _catalog(engine: str | None) -> Catalog | None:
    return catalogs.load(engine) if engine in ENGINE_NAMES else None


def _known(engine: str) -> list[str]:
    catalog = _catalog(engine)
    return catalog.releases if catalog is not None else known_releases(engine)


def _engines(_: click.Context, __: str) -> list[str]:
    return [engine for engine in ENGINE_NAMES if catalogs.load(engine) is not None]


def _releases_of_engine(context: click.Context, _: str) -> list[str]:
    """Return the releases of the engine that `engines show` or `advise` names."""
    return list(reversed(_known(context.params.get("engine") or "")))


def _variables(context: click.Context, _: str) -> list[str]:
    """Return the environment variables of the engine that `explain` names."""
    catalog = _catalog(context.params.get("topic"))
    return list(catalog.variables()) if catalog is not None else []


def _gpus(_: click.Context, __: str) -> list[str]:
    from servelint import hardware

    return hardware.names()


def _topics(context: click.Context, incomplete: str) -> list[str]:
    return [*_engines(context, incomplete), *_rules(context, incomplete)]


def _subcommands(context: click.Context, _: str) -> list[str]:
    """Return the commands, or the subcommands of the command that `help` names."""
    words: tuple[str, ...] = context.params.get("words") or ()
    found: click.Command | None = context.find_root().command
    for word in words:
        found = found.get_command(context, word) if isinstance(found, Group) else None
    return list(found.subcommands) if isinstance(found, Group) else []


_COMPLETERS: dict[str, Completer] = {
    **dict.fromkeys(("select", "extend_select", "ignore"), _rules),
    **dict.fromkeys(("engine_version", "to"), _releases),
    "gpu": _gpus,
    "engine": _engines,
    "release": _releases_of_engine,
    "topic": _topics,
    "name": _variables,
    "words": _subcommands,
}
"""Name of an option or argument -> what completes it. What has choices is completed by them."""

_KINDS = {"FILE": "file", "PATH": "file", "SOURCE": "file", "RESULT": "file", "[FORMAT=]FILE": "file", "FOLDER": "dir"}
"""Metavar -> what the shell completes."""
