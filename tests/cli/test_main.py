"""The command itself: its commands, its version, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module

import pytest

import servelint
from servelint.cli import COMMANDS, main
from tests.running import Workspace

USAGE = """\
usage: servelint COMMAND [options]

  check       lint files, folders, standard input or one command line
  launches    list the launches that servelint sees, normalised
  rules       list the rules
  explain     print a rule's page, or the life of an option or a variable
  engines     list, show and harvest what the engines accept
  memory      plan the GPU memory of launches: will they start, with how much room
  upgrade     tell what an engine upgrade would change for the launches
  advise      tell whether to speculate, how, and at how many requests that turns round
  exec        lint a command, then become it
  admission   judge what is written to a Kubernetes cluster: a validating webhook
  lsp         serve an editor: findings while typing, quick fixes, what options mean
  completions print what completes all this in bash, zsh or fish

servelint COMMAND --help tells more. servelint --version prints the version.
"""


@pytest.mark.parametrize("option", ["--help", "-h", "help"])
def test_help(option: str, workspace: Workspace) -> None:
    assert workspace.run(option) == (0, USAGE, "")


def test_without_a_command(workspace: Workspace) -> None:
    assert workspace.run() == (2, "", USAGE)


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(option: str, workspace: Workspace) -> None:
    assert workspace.run(option) == (0, f"servelint {servelint.__version__}\n", "")


def test_a_command_that_is_none(workspace: Workspace) -> None:
    commands = "check, launches, rules, explain, engines, memory, upgrade, advise, exec, admission, lsp, completions"
    assert workspace.run("lint") == (2, "", f"servelint: 'lint' is not a command; use one of {commands}\n")


@pytest.mark.parametrize("command", COMMANDS)
class TestEachCommand:
    def test_has_a_page_of_help(self, command: str, workspace: Workspace) -> None:
        ran = workspace.run(command, "--help")
        assert ran.status == 0
        assert ran.out.startswith(f"usage: servelint {command} ")
        assert max(len(line) for line in ran.out.splitlines()) <= 100

    def test_refuses_an_option_that_it_does_not_know(self, command: str, workspace: Workspace) -> None:
        ran = workspace.run(command, "--frobnicate")
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.startswith((f"usage: servelint {command} ", f"servelint {command}: error: "))

    def test_takes_no_abbreviation(self, command: str, workspace: Workspace) -> None:
        # what is unique today need not be so in the next release
        assert workspace.run(command, "--hel").status == 2

    def test_is_a_module_of_its_own(self, command: str) -> None:
        assert callable(import_module(f"servelint.cli.{command}").run)


def test_as_a_module(workspace: Workspace) -> None:
    workspace.file("run.sh", "vllm serve m --gpu-memory-utilization 1.5\n")
    ran = subprocess.run([sys.executable, "-m", "servelint", "check", "run.sh"], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "error[vllm/gpu-memory-utilization-out-of-range]" in ran.stdout
    assert ran.stderr == ""


def test_a_reader_that_goes_away(workspace: Workspace) -> None:
    """`servelint rules | head -1` ends without a traceback."""
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(
        [sys.executable, "-m", "servelint", "rules"], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (2, "")


def test_an_output_that_knows_no_unicode(workspace: Workspace) -> None:
    workspace.file("run.sh", "vllm serve \u4e2d\u6587 --gpu-memory-utilization 1.5\n")
    ran = subprocess.run(
        [sys.executable, "-m", "servelint", "check", "run.sh"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert "1 | vllm serve \\u4e2d\\u6587 --gpu-memory-utilization 1.5" in ran.stdout


def test_an_interrupt(monkeypatch: pytest.MonkeyPatch, workspace: Workspace) -> None:
    def interrupted(args: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("servelint.cli.rules.run", interrupted)
    assert main(["rules"]) == 130
