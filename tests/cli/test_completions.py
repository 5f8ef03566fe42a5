"""Completions, asked for by the shells themselves."""

from __future__ import annotations

import os
import re
import select
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
compopt() { printf 'compopt %s\\n' "${*: -1}"; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_servelint_completion servelint
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
autoload -Uz compinit && compinit -u -D
eval "$(servelint completions zsh)"
test "$_comps[servelint]" = _servelint_completion || exit 9
_describe() { print -rl -- "${completions_with_descriptions[@]}" }
compadd() { print -rl -- "${completions[@]}" }
_path_files() { print -rl -- "$words[CURRENT]"*(/:s,%,/,) }
words=("$@") CURRENT=$#
_servelint_completion
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
            "TERM": "dumb",
        }
        self.env.pop("COMP_WORDBREAKS", None)

    def ask(self, shell: str, line: str) -> list[str]:
        """What a shell offers for a line with the cursor at its end, without what it says of each."""
        if shutil.which(shell) is None:
            pytest.skip(f"{shell} is not here")
        # bash breaks words at `=`
        words = re.split(r" +", line) if shell == "zsh" else re.findall(r"=|[^ =]+|(?<= )$", line)
        call = {
            "bash": ["bash", "--norc", "-c", BASH, "bash", *words],
            "zsh": ["zsh", "-f", "-c", ZSH, "zsh", *words],
            "fish": ["fish", "--no-config", "-c", FISH, line],
        }[shell]
        ran = subprocess.run(call, cwd=self.folder, env=self.env, capture_output=True, text=True)
        assert ran.stderr == ""
        tail = {"bash": " ", "zsh": ":", "fish": "\t"}[shell]
        return [one.partition(tail)[0] for one in ran.stdout.splitlines() if one and not one.startswith("compopt nospace")]


@pytest.fixture
def shells(tmp_path: Path) -> Shells:
    return Shells(tmp_path)


@pytest.mark.parametrize("shell", SHELLS)
class TestEachShell:
    def test_commands(self, shell: str, shells: Shells) -> None:
        assert shells.ask(shell, "servelint ") == list(COMMANDS)
        assert shells.ask(shell, "servelint upg") == ["upgrade"]

    def test_options_and_choices(self, shell: str, shells: Shells) -> None:
        assert shells.ask(shell, "servelint check --extend-s") == ["--extend-select"]
        assert sorted(shells.ask(shell, "servelint check --format ")) == sorted(FORMATS)

    def test_rules(self, shell: str, shells: Shells) -> None:
        wanted = [rule for rule in headings(()) if rule.startswith("vllm/hybrid-mtp")]
        assert sorted(shells.ask(shell, "servelint check --ignore vllm/hybrid-mtp")) == sorted(wanted)

    def test_a_line_that_makes_no_sense(self, shell: str, shells: Shells) -> None:
        assert shells.ask(shell, "servelint check --no-such-opt") == []
        assert shells.ask(shell, "servelint no-such-command ") in ([], list(COMMANDS))


class TestBash:
    """An interactive bash, into which keys are typed. A function prints the words of the completed line."""

    SETTING = (
        "PS1='R''EADY> '; bind 'set enable-bracketed-paste off'; eval \"$(servelint completions bash)\";"
        " servelint() { printf '<%s>' \"$@\"; echo END; }"
    )

    def typed(self, keys: str, shells: Shells) -> str:
        if shutil.which("bash") is None:
            pytest.skip("bash is not here")
        import pty

        keyboard, terminal = pty.openpty()
        command = ["bash", "--norc", "--noprofile", "-i"]
        with subprocess.Popen(
            command, cwd=shells.folder, env=shells.env, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True
        ) as process:
            os.close(terminal)
            os.write(keyboard, self.SETTING.encode() + b"\n")
            self.read(keyboard, b"READY> ")
            os.write(keyboard, keys.encode() + b"\n")
            printed = self.read(keyboard, b"END\r\n")
            process.kill()
        os.close(keyboard)
        return printed.rpartition("END")[0].rpartition("\n")[2]

    @staticmethod
    def read(keyboard: int, last: bytes) -> str:
        found = b""
        while last not in found and select.select([keyboard], [], [], 60)[0]:
            found += os.read(keyboard, 1 << 16)
        return found.decode()

    @pytest.mark.parametrize(
        ("keys", "words"),
        [
            ("servelint upg\tdeploy", "<upgrade><deploy>"),
            (
                "servelint check --extend-s\tvllm/hybrid-mtp-dr\t",
                "<check><--extend-select><vllm/hybrid-mtp-drops-cached-block>",
            ),
            ("servelint check --engine-version lmd\t0.18.\t", "<check><--engine-version><lmdeploy=0.18.0>"),
            ("servelint check --engine-version=lmdep\t0.18.\t", "<check><--engine-version=lmdeploy=0.18.0>"),
            ("servelint check --select sgl\t\\*\t", "<check><--select><sglang/*>"),
            ("servelint check deplo\t", "<check><deployment/>"),
            ("servelint check --rules deplo\t", "<check><--rules><deployment/>"),
            ("servelint check --settings sett\t", "<check><--settings><settings.toml>"),
        ],
    )
    def test_what_is_completed(self, keys: str, words: str, shells: Shells) -> None:
        (shells.folder / "deployment").mkdir()
        (shells.folder / "settings.toml").touch()
        assert self.typed(keys, shells) == words


class TestAnswers:
    """What is offered where; asked by bash, which breaks words at `=`."""

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
        assert shells.ask("bash", f"servelint {start}=vllm=0.1") == newest

    def test_gpus(self, shells: Shells) -> None:
        found = shells.ask("bash", "servelint check --gpu a1")
        assert "a100-80gb" in found
        assert shells.ask("bash", "servelint check --gpu-count ") == []

    def test_colors(self, shells: Shells) -> None:
        assert shells.ask("bash", "servelint exec --color a") == ["auto", "always"]

    def test_subcommands(self, shells: Shells) -> None:
        assert shells.ask("bash", "servelint rules ") == ["test"]
        assert shells.ask("bash", "servelint advise cal") == ["calibrate"]
        assert shells.ask("bash", "servelint help eng") == ["engines"]
        assert shells.ask("bash", "servelint help engines ") == ["list", "show", "update", "harvest", "anchors", "stack"]
        assert shells.ask("bash", "servelint help check ") == []
        assert shells.ask("bash", "servelint completions ") == list(SHELLS)

    def test_releases_of_the_catalog(self, shells: Shells) -> None:
        assert shells.ask("bash", "servelint engines sh") == ["show"]
        assert shells.ask("bash", "servelint engines show sgl") == ["sglang"]
        assert "b9305" in shells.ask("bash", "servelint engines show llama.cpp b93")

    def test_options_and_variables_of_an_engine(self, shells: Shells) -> None:
        assert shells.ask("bash", "servelint explain vllm --swap") == ["--swap-space"]
        assert shells.ask("bash", "servelint explain --ru") == ["--rules"]
        assert "SGLANG_ENABLE_SPEC_V2" in shells.ask("bash", "servelint explain sglang SGLANG_ENABLE_SPEC")

    @pytest.mark.parametrize(
        ("line", "kind"),
        [("check x", "default"), ("check --settings x", "default"), ("check --rules x", "dirnames"), ("scan x", "default")],
    )
    def test_paths_are_left_to_the_shell(self, line: str, kind: str, shells: Shells) -> None:
        assert shells.ask("bash", f"servelint {line}") == ["compopt"]
        ran = subprocess.run(
            [sys.executable, "-m", "servelint"],
            env={
                **shells.env,
                "_SERVELINT_COMPLETE": "bash_complete",
                "COMP_WORDS": f"servelint {line}",
                "COMP_CWORD": str(line.count(" ") + 1),
            },
            capture_output=True,
            text=True,
        )
        assert ran.stdout == ("dir,x\n" if kind == "dirnames" else "file,x\n")

    def test_the_command_after_two_dashes_is_not_ours(self, shells: Shells) -> None:
        assert shells.ask("bash", "servelint exec -- vllm serve --dry") == []
        assert shells.ask("bash", "servelint exec -- vllm --gpu ") == []
        assert shells.ask("bash", "servelint exec --dry") == ["--dry-run"]

    def test_nothing_is_said_where_it_fails(self, shells: Shells) -> None:
        (shells.folder / "click.py").write_text("raise RuntimeError('broken')")
        ran = subprocess.run(
            [sys.executable, "-m", "servelint"],
            env={
                **shells.env,
                "PYTHONPATH": f"{shells.folder}{os.pathsep}{shells.env['PYTHONPATH']}",
                "_SERVELINT_COMPLETE": "bash_complete",
            },
            capture_output=True,
        )
        assert (ran.returncode, ran.stdout, ran.stderr) == (1, b"", b"")

    def test_only_the_command_of_the_line_is_imported(self, shells: Shells) -> None:
        program = (
            "import sys; from servelint.cli import main; main();"
            " print([name for name in sys.modules if name.startswith('servelint.cli.')], file=sys.stderr)"
        )
        ran = subprocess.run(
            [sys.executable, "-c", program],
            env={**shells.env, "_SERVELINT_COMPLETE": "bash_complete", "COMP_WORDS": "servelint up", "COMP_CWORD": "1"},
            capture_output=True,
            text=True,
        )
        assert ran.stdout == "plain,upgrade\n"
        assert "servelint.cli.upgrade" not in ran.stderr
        assert "servelint.cli.completions" in ran.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_that_of_the_shell(shell: str, workspace: Workspace) -> None:
    ran = workspace.run("completions", shell)
    assert (ran.status, ran.err) == (0, "")
    assert f"_SERVELINT_COMPLETE={shell}_complete" in ran.out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "missing argument: SHELL"),
        (("tcsh",), '"tcsh" is not a valid value for SHELL (choose from bash, zsh, fish)'),
        (("bash", "zsh"), "unexpected argument: zsh"),
    ],
)
def test_a_shell_is_named(args: tuple[str, ...], said: str, workspace: Workspace) -> None:
    assert workspace.run("completions", *args) == (2, "", f"servelint completions: error: {said}\n")
