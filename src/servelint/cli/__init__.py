"""The command line. Each command is a module of its own and is imported only when it is asked for."""

from __future__ import annotations

import os
import sys

COMMANDS = {
    "check": "lint files, folders, standard input or one command line",
    "scan": "lint many repositories: folders, git stores, archives; each finding a row",
    "launches": "list the launches that servelint sees, normalised",
    "rules": "list the rules",
    "explain": "print a rule's page, or the life of an option or a variable",
    "engines": "list, show and harvest what the engines accept",
    "memory": "plan the GPU memory of launches: will they start, with how much room",
    "upgrade": "tell what an engine upgrade would change for the launches",
    "advise": "tell whether to speculate, how, and at how many requests that turns round",
    "exec": "lint a command, then become it",
    "admission": "judge what is written to a Kubernetes cluster: a validating webhook",
    "lsp": "serve an editor: findings while typing, quick fixes, what options mean",
    "completions": "print what completes all this in bash, zsh or fish",
}

_USAGE = """usage: servelint COMMAND [options]

{commands}

servelint COMMAND --help tells more. servelint --version prints the version.
"""


def main(argv: list[str] | None = None) -> int:
    """Run a command; gives the exit status.

    0 nothing to report, 1 findings, 2 wrong usage or a file that could not be read, 3 an error in servelint itself
    """
    args = sys.argv[1:] if argv is None else argv
    if "_ARGCOMPLETE" in os.environ:
        return _complete()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _run(args)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # the reader of our output went away; point stdout elsewhere so that the interpreter's own flush is quiet
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        # not 1, which says that launches were looked at: who takes that for "findings" would let a broken linter pass
        if os.environ.get("SERVELINT_TRACEBACK"):
            raise
        from servelint.cli.told import tell

        tell(f"servelint: an error in servelint itself: {type(error).__name__}: {error}; SERVELINT_TRACEBACK=1 shows where")
        return 3


def _complete() -> int:
    """Answer a shell that completes a command line (servelint.cli.completing); whatever goes wrong, it gets no answer."""
    try:
        import gc

        gc.disable()  # the process ends with the answer
        from servelint.cli import completing

        completing.answer()
    except Exception:
        return 1
    return 1


def _run(args: list[str]) -> int:
    if not args or args[0] in ("-h", "--help", "help"):
        listed = "\n".join([f"  {name:<11} {text}" for name, text in COMMANDS.items()])
        print(_USAGE.format(commands=listed), end="", file=sys.stdout if args else sys.stderr)
        return 0 if args else 2
    if args[0] in ("-V", "--version"):
        from servelint import __version__

        print(f"servelint {__version__}")
        return 0
    if args[0] not in COMMANDS:
        from servelint.cli.told import tell

        tell(f"servelint: {args[0]!r} is not a command; use one of {', '.join(COMMANDS)}")
        return 2
    from importlib import import_module

    status: int = import_module(f"servelint.cli.{args[0]}").run(args[1:])
    return status
