"""tools/man.py: the manual page has every command and option, and is what man and mandoc take."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from servelint.cli import COMMANDS, root
from tests.tools.loading import loaded

man = loaded("man.py")
TEXT: str = man.PAGE.read_text(encoding="utf-8")


def test_the_page_is_what_the_command_line_declares() -> None:
    assert man.page() == TEXT, "run: python tools/man.py"
    assert man.main(["--check"]) == 0


def test_every_command_and_option_is_there() -> None:
    sections = re.findall(r"(?m)^\.SS (.*)$", TEXT)
    assert [name for name in sections if " " not in name] == list(COMMANDS)
    for one in [root(), *[found for _, found in man.commands(root())]]:
        for group in one.groups:
            for declared in group.declared.values():
                assert group.title == "help" or f"\n.B {man.escaped(declared.row)}\n" in TEXT


def test_its_structure() -> None:
    lines = TEXT.splitlines()
    assert lines[0].startswith('.TH SERVELINT 1 "" "servelint ')
    assert {line.split()[0] for line in lines if line[:1] == "."} == {
        ".TH",
        ".SH",
        ".SS",
        ".TP",
        ".PP",
        ".B",
        ".I",
        ".nf",
        ".fi",
    }
    heads = [line.removeprefix(".SH ") for line in lines if line.startswith(".SH ")]
    assert heads == [
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "OPTIONS",
        "COMMANDS",
        "EXIT STATUS",
        "FILES",
        "ENVIRONMENT",
        "EXAMPLES",
    ]
    assert re.findall(r"(?m)^\.(nf|fi)$", TEXT) == ["nf", "fi"] * (TEXT.count("\n.nf\n"))
    assert not [line for line in lines if line[:1] == "'" or "'" in line]
    assert TEXT.isascii()


@pytest.mark.parametrize(
    "program", [["mandoc", "-T", "lint", "-W", "error"], ["man", "--warnings=w", "-E", "UTF-8", "-l"]], ids=["mandoc", "man"]
)
def test_it_renders(program: list[str]) -> None:
    if shutil.which(program[0]) is None:
        pytest.skip(f"there is no {program[0]} here; its structure is tested above")
    env = {**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8", "MANPAGER": "cat"}
    ran = subprocess.run([*program, str(man.PAGE)], capture_output=True, text=True, check=False, env=env)
    assert (ran.returncode, ran.stderr) == (0, "")
    if program[0] == "man":
        assert "servelint check [options] [PATH]..." in ran.stdout
        assert "--engine-version ENGINE=RELEASE" in ran.stdout


def test_escapes() -> None:
    assert man.escaped(".a\\b -c 'd'\n.e") == "\\&.a\\eb \\-c \\(aqd\\(aq\n\\&.e"
