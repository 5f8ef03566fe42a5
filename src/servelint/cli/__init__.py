"""The command line: `servelint COMMAND`. A command is imported when it runs, for start-up takes most of the time of a check."""

from __future__ import annotations

import errno
import gc
import os
import sys
from _thread import _local
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from servelint.cli.command import Command

COMMANDS = {
    "check": "lint files, folders, standard input or one command line",
    "scan": "lint many repositories and write one row for each finding",
    "launches": "list the launches that servelint finds",
    "rules": "list the rules, or test your own rules",
    "explain": "show the page of a rule, or the history of an engine's option or variable",
    "engines": "list the engines, show what a release accepts, or harvest a release",
    "models": "show where facts of models and GPUs come from, or describe a model of your own",
    "memory": "plan GPU memory: whether each launch fits, and with how much room",
    "upgrade": "show what an engine upgrade changes for your launches",
    "translate": "print the nearest launch of another engine, option by option",
    "advise": "recommend whether and how to use speculative decoding",
    "exec": "lint a command, then exec it",
    "admission": "serve a validating admission webhook for Kubernetes",
    "lsp": "serve editors: diagnostics, quick fixes, hover",
    "mcp": "serve coding assistants: tools that check, explain, plan and compare",
    "cache": "show or delete the results that check keeps",
    "completions": "print the completion script for bash, zsh or fish",
    "help": "show the help of a command",
}
"""Name of a command -> its summary."""

COMPLETE_VARIABLE = "_SERVELINT_COMPLETE"
"""The variable by which a shell asks for completions."""

_ELSEWHERE = {"explain": "rules:explain", "help": "command:show_help"}
"""Commands that are not `run` in the module of their own name."""

_OF_CLICK: dict[str, dict[str, object]] = {
    "base64": {},
    "glob": {},
    "inspect": {},
    # types of parameters that servelint does not have
    "datetime": {"datetime": object},
    "uuid": {"UUID": object},
    # servelint speaks English
    "gettext": {"gettext": str, "ngettext": lambda one, many, count: one if count == 1 else many},
    "threading": {"local": _local},
}
"""Modules that click imports, and a check does not use -> the names that click takes from them, or what does instead."""

_OF_YAML: dict[str, dict[str, object]] = {
    "base64": {},
    "datetime": {},
    "ruamel.yaml": {},
    # errors of what servelint does not use of the C part: writing, and making objects
    "ruamel.yaml.constructor": {"ConstructorError": Exception},
    "ruamel.yaml.emitter": {"EmitterError": Exception},
    "ruamel.yaml.representer": {"RepresenterError": Exception},
    "ruamel.yaml.serializer": {"SerializerError": Exception},
}
"""The same for ruamel.yaml."""

_USUAL = gc.get_threshold()
_OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""A run is short and keeps most of what it makes: Python's default has the collector look at it a hundred times for nothing."""


def main(argv: list[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: the words after the program's name; those of the process where it is None.

    Returns:
        The exit status: 0 nothing to report, 1 findings, 2 wrong usage or a file that could not be read, 3 an error in
        servelint itself, 130 interrupted.
    """
    args = sys.argv[1:] if argv is None else argv
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    try:
        if os.environ.get(COMPLETE_VARIABLE):
            return _complete()
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # it was closed before the start: >&-
                setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        status = _run(args)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # nothing reads the output now; point stdout elsewhere so that the interpreter's own flush is quiet
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        # not 1, which means findings: a broken linter would pass for one that works
        if os.environ.get("SERVELINT_TRACEBACK"):
            raise
        from servelint.cli.output import print_stderr
        from servelint.core.data import DataError

        if isinstance(error, OSError) and error.filename is None and error.errno in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            print_stderr(f"servelint: the output cannot be written: {error.strerror}")
            return 2
        if isinstance(error, DataError):
            print_stderr(f"servelint: {error}")
            return 2

        print_stderr(
            f"servelint: an error in servelint itself: {type(error).__name__}: {error}; SERVELINT_TRACEBACK=1 shows where"
        )
        return 3
    finally:
        if argv is None:
            gc.freeze()  # the process ends: to look through all that it holds once more takes a tenth of a check
        collect_garbage_as_usual()


def program() -> NoReturn:
    """Run the command of the process and end it; where nothing waits for that, without taking its objects apart one by one."""
    import atexit

    status = main()
    threads = sys.modules.get("threading")
    waiting = getattr(atexit, "_ncallbacks", lambda: 1)() or (threads is not None and threads.active_count() > 1)
    if not waiting:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (AttributeError, OSError, ValueError):
            sys.exit(status)
        os._exit(status)
    sys.exit(status)


def collect_garbage_as_usual() -> None:
    """Have the garbage collector run as often as before `main`, for a command that runs for long."""
    gc.set_threshold(*_USUAL)


def root() -> Command:
    """Return the command `servelint` with all of its subcommands."""
    import click

    from servelint.cli.command import Options, command, flag

    def print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted and not context.resilient_parsing:
            from servelint import __version__

            print(f"servelint {__version__}")
            if context.params.get("verbose"):
                from servelint.cli.engines import describe

                print(describe(verbose=False))
            context.exit()

    class Version(Options, title="version"):
        version: bool = flag("-V", "--version", help="print the version", expose_value=False, callback=print_version)
        verbose: bool = flag(
            "--verbose", help="with --version: and the date and the newest releases of the data", is_eager=True
        )

    @command(
        "servelint",
        Version,
        about="Lint the files that launch LLM inference servers.",
        examples=["servelint check deploy/", "servelint help check", "servelint explain vllm --swap-space"],
        usage=["servelint COMMAND [options]"],
        subcommands={
            name: (f"servelint.cli.{_ELSEWHERE.get(name, f'{name}:run')}", summary) for name, summary in COMMANDS.items()
        },
    )
    def run(_: Version) -> int:
        from servelint.cli.output import print_stderr

        print_stderr(click.get_current_context().get_help().rstrip("\n"))
        return 2

    return run


def _run(args: list[str]) -> int:
    _import_click()
    import click
    from click.exceptions import Exit

    from servelint.cli.output import print_stderr
    from servelint.core.data import VARIABLE, DataError, active

    top = root()
    try:
        active()
    except DataError as error:
        if args[:2] != ["engines", "update"]:
            print_stderr(f"servelint: {error}")
            return 2
        os.environ[VARIABLE] = ""  # what repairs it works with the data of the package
    try:
        with top.make_context("servelint", list(args)) as context:
            status: int = top.invoke(context)
            return status
    except Exit as end:
        return end.exit_code
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx is not None else "servelint"
        print_stderr(f"{path}: {'' if path == 'servelint' else 'error: '}{error.format_message()}")
        return error.exit_code


def _import_click() -> None:
    """Import click, and see to it that it and ruamel.yaml import no more than a check uses."""
    stand_ins = _stand_in(_OF_CLICK)
    import click  # noqa: F401

    for name, module in stand_ins.items():
        if sys.modules.get(name) is module:
            del sys.modules[name]  # the next import may need all of it
    _stand_in(_OF_YAML)


def _stand_in(modules: dict[str, dict[str, object]]) -> dict[str, ModuleType]:
    found: dict[str, ModuleType] = {name: _StandIn(name) for name in modules if name not in sys.modules}
    for name, module in found.items():
        vars(module).update(modules[name])
    sys.modules.update(found)
    return found


class _StandIn(ModuleType):
    """A module of which some names are known; it is imported when another of its names is first used."""

    def __getattr__(self, name: str) -> object:
        if name == "__path__":  # `from module import name` asks whether it is a package
            parent, _, own = self.__name__.rpartition(".")
            if own != "yaml":
                raise AttributeError(name)
            above = import_module(parent)
            setattr(above, own, self)
            return [os.path.join(folder, own) for folder in above.__path__]
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        module = import_module(self.__name__)
        for part, found in vars(self).items():
            if isinstance(found, ModuleType):
                vars(module).setdefault(part, found)
        vars(self).update(vars(module))
        return getattr(module, name)


def _complete() -> int:
    """Answer a shell that completes a command line; it gets no answer where anything goes wrong."""
    try:
        from servelint.cli import completions

        return completions.answer(root())
    except Exception:
        return 1
