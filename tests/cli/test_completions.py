"""Completions, asked for by the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from servelint.cli import COMMANDS
from servelint.cli.completions import SHELLS
from servelint.core.settings import FORMATS
from servelint.engines import catalog as catalogs
from servelint.rules.load import headings
from tests.running import Workspace

pytestmark = pytest.mark.book  # a shell each, and the same under every Python

BASH = """
eval "$(servelint completions bash)"
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
_python_argcomplete servelint
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
autoload -Uz compinit && compinit -u -D
eval "$(servelint completions zsh)"
test "$_comps[servelint]" = _python_argcomplete || exit 9
_describe() { print -rl -- "${completions[@]}" }
BUFFER=$1 CURSOR=${#1} words=(servelint)
_python_argcomplete
"""
FISH = "servelint completions fish | source; complete -C $argv[1]"


class Shells:
    """Shells in whose PATH this servelint stands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()
        (folder / "bin" / "servelint").write_text(f'#!/bin/sh\nexec {sys.executable} -m servelint "$@"\n')
        (folder / "bin" / "servelint").chmod(0o755)
        self.env = {**os.environ, "PATH": f"{folder}/bin{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)}
        self.env |= {
            "PYTHONPATH": os.pathsep.join([os.path.abspath(path) for path in sys.path if path]),
            "XDG_CONFIG_HOME": str(folder),
        }
        self.env.pop("COMP_WORDBREAKS", None)

    def ask(self, shell: str, line: str) -> list[str]:
        """What a shell offers for a line with the cursor at its end, without what it says of each."""
        if shutil.which(shell) is None:
            pytest.skip(f"{shell} is not here")
        options = {"bash": ["--norc", "-c", BASH, "bash"], "zsh": ["-f", "-c", ZSH, "zsh"], "fish": ["--no-config", "-c", FISH]}
        ran = subprocess.run([shell, *options[shell], line], cwd=self.folder, env=self.env, capture_output=True, text=True)
        assert ran.stderr == ""
        tail = {"bash": " ", "zsh": ":", "fish": "\t"}[shell]
        return [one.partition(tail)[0] for one in ran.stdout.splitlines() if one]


@pytest.fixture
def shells(tmp_path: Path) -> Shells:
    return Shells(tmp_path)


@pytest.mark.parametrize("shell", SHELLS)
class TestEachShell:
    def test_commands(self, shell: str, shells: Shells) -> None:
        assert set(COMMANDS) <= set(shells.ask(shell, "servelint "))
        assert shells.ask(shell, "servelint upg") == ["upgrade"]

    def test_options_and_choices(self, shell: str, shells: Shells) -> None:
        assert shells.ask(shell, "servelint check --extend-s") == ["--extend-select"]
        assert sorted(shells.ask(shell, "servelint check --format ")) == sorted(FORMATS)

    def test_rules(self, shell: str, shells: Shells) -> None:
        wanted = [rule for rule in headings(()) if rule.startswith("vllm/hybrid-mtp")]
        assert sorted(shells.ask(shell, "servelint check --ignore vllm/hybrid-mtp")) == sorted(wanted)

    def test_files(self, shell: str, shells: Shells) -> None:
        (shells.folder / "deployment").mkdir()
        assert shells.ask(shell, "servelint check deplo") == ["deployment/"]

    def test_a_line_that_makes_no_sense(self, shell: str, shells: Shells) -> None:
        assert shells.ask(shell, "servelint check --no-such-opt") == []
        assert shells.ask(shell, "servelint 'che") in ([], ["check"], ["'check"])


class TestAnswers:
    """What is offered where; asked by bash, which splits words at `=`."""

    def test_areas(self, shells: Shells) -> None:
        assert shells.ask("bash", "servelint check --select sglang/")[0] == "sglang/\\*"
        assert "container/no-gpu" in shells.ask("bash", "servelint explain cont")

    @pytest.mark.parametrize("start", ["check --engine-version", "upgrade --to", "exec --engine-version"])
    def test_engines_and_their_releases(self, start: str, shells: Shells) -> None:
        assert shells.ask("bash", f"servelint {start} l") == ["llama.cpp=", "lmdeploy="]
        catalog = catalogs.load("vllm")
        assert catalog is not None
        newest = [release for release in reversed(catalog.releases) if release.startswith("0.1")]
        assert shells.ask("bash", f"servelint {start} vllm=0.1") == newest

    def test_gpus(self, shells: Shells) -> None:
        found = shells.ask("bash", "servelint check --gpu a1")
        assert "a100-80gb" in found
        assert shells.ask("bash", "servelint check --gpu-count ") == []

    def test_releases_of_the_catalog(self, shells: Shells) -> None:
        assert shells.ask("bash", "servelint engines sh") == ["show"]
        assert shells.ask("bash", "servelint engines show sgl") == ["sglang"]
        assert "b9305" in shells.ask("bash", "servelint engines show llama.cpp b93")

    def test_options_and_variables_of_an_engine(self, shells: Shells) -> None:
        assert shells.ask("bash", "servelint explain vllm --swap") == ["--swap-space"]
        assert "SGLANG_ENABLE_SPEC_V2" in shells.ask("bash", "servelint explain sglang SGLANG_ENABLE_SPEC")

    def test_the_command_after_two_dashes_is_not_ours(self, shells: Shells) -> None:
        assert shells.ask("bash", "servelint exec -- vllm serve --dry") == []
        assert shells.ask("bash", "servelint exec --dry") == ["--dry-run"]

    def test_nothing_is_said_where_it_fails(self, shells: Shells) -> None:
        (shells.folder / "argcomplete.py").write_text("raise RuntimeError('broken')")
        ran = subprocess.run(
            [sys.executable, "-m", "servelint"],
            env={**shells.env, "PYTHONPATH": f"{shells.folder}{os.pathsep}{shells.env['PYTHONPATH']}", "_ARGCOMPLETE": "1"},
            capture_output=True,
        )
        assert (ran.returncode, ran.stdout, ran.stderr) == (1, b"", b"")


@pytest.mark.parametrize("args", [(), ("tcsh",), ("bash", "zsh")])
def test_a_shell_is_named(args: tuple[str, ...], workspace: Workspace) -> None:
    ran = workspace.run("completions", *args)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("usage: servelint completions bash|zsh|fish\n")
