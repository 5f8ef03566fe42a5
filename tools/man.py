"""Write the manual page man/servelint.1 from the declarations of the command line: python tools/man.py [--check]

The wheel installs the page as share/man/man1/servelint.1. The same declarations make the same bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "man" / "servelint.1"
EXIT_STATUS = (
    ("0", "Nothing at or above the severity that fails."),
    ("1", "Findings, or what the command says of its own."),
    ("2", "Wrong usage, or a file that could not be read. The other files are still linted."),
    ("3", "An error in servelint itself."),
)
sys.path.insert(0, str(ROOT / "src"))

from servelint import __version__  # noqa: E402
from servelint.cli import root  # noqa: E402
from servelint.cli.command import Command, Group  # noqa: E402


def commands(top: Command, path: str = "servelint") -> Iterator[tuple[str, Command]]:
    """Every command and subcommand below a command, each with the words that run it, in the order of the help page."""
    if not isinstance(top, Group):
        return
    for name in top.subcommands:
        one = top.get_command(click.Context(top), name)
        assert isinstance(one, Command)
        yield f"{path} {name}", one
        yield from commands(one, f"{path} {name}")


def escaped(text: str) -> str:
    """A text of a page as roff has it. A minus sign is one that can be copied."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return "\n".join(f"\\&{line}" if line[:1] == "." else line for line in plain.splitlines())


def page() -> str:
    """The whole page."""
    top = root()
    lines = [f'.TH SERVELINT 1 "" "servelint {__version__}" "User Commands"', ".SH NAME"]
    lines += ["servelint \\- lint the files that launch LLM inference servers", ".SH SYNOPSIS", ".nf"]
    every = list(commands(top))
    usage = [line.removeprefix("usage:").strip() for path, one in every for line in one.usage_lines(path)]
    lines += [*[escaped(line) for line in dict.fromkeys(usage)], ".fi", ".SH DESCRIPTION", escaped(top.about)]
    lines += [".SH OPTIONS", *_options(top), ".TP", ".B \\-h, \\-\\-help", "show the help of the command", ".SH COMMANDS"]
    for path, one in every:
        lines += [f".SS {escaped(path.removeprefix('servelint '))}", *_command(one)]
    lines += [".SH EXIT STATUS", *[part for row in EXIT_STATUS for part in (".TP", f".B {row[0]}", row[1])]]
    lines += [".SH FILES", ".TP", ".I servelint.toml, pyproject.toml"]
    lines += ["Settings: the nearest file above each file that is linted."]
    lines += [".SH ENVIRONMENT", ".TP", ".I SERVELINT_*", "Settings, named as in a settings file."]
    lines += [".TP", ".I NO_COLOR, FORCE_COLOR", "Whether text on a terminal is coloured."]
    lines += [".SH EXAMPLES", ".nf", *[escaped(line) for line in top.examples], ".fi"]
    return "\n".join([*lines, ""])


def _command(one: Command) -> list[str]:
    lines = [escaped(one.about), *_options(one)]
    if one.notes:
        lines += [".PP", escaped(one.notes)]
    if one.examples:
        lines += [".PP", ".nf", *[escaped(line) for line in one.examples], ".fi"]
    return lines


def _options(one: Command) -> list[str]:
    lines: list[str] = []
    for group in one.groups:
        if group.title != "help":
            lines += [".PP", f".I {escaped(group.title)}"]
            for declared in group.declared.values():
                lines += [".TP", f".B {escaped(declared.row)}", escaped(declared.help or "")]
    return lines


def main(argv: list[str]) -> int:
    """Write the page; with --check, end with 1 if it is out of date."""
    text = page()
    if argv == ["--check"]:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
