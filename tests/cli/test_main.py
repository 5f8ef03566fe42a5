"""The command itself: its commands, its version, and how it ends."""

from __future__ import annotations

import importlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import servelint
from servelint.cli import COMMANDS, _stand_in, main, root
from servelint.cli.command import Command, Group, suggestion
from servelint.cli.output import write_stdout
from tests.running import Workspace

USAGE = """\
usage: servelint COMMAND [options]

Lint the files that launch LLM inference servers.

commands:
  check        lint files, folders, standard input or one command line
  scan         lint many repositories and write one row for each finding
  launches     list the launches that servelint finds
  rules        list the rules, or test your own rules
  explain      show the page of a rule, or the history of an engine's option or variable
  engines      list the engines, show what a release accepts, or harvest a release
  models       show where facts of models and GPUs come from, or describe a model of your own
  memory       plan GPU memory: whether each launch fits, and with how much room
  upgrade      show what an engine upgrade changes for your launches
  translate    print the nearest launch of another engine, option by option
  advise       recommend whether and how to use speculative decoding
  exec         lint a command, then exec it
  admission    serve a validating admission webhook for Kubernetes
  lsp          serve editors: diagnostics, quick fixes, hover
  mcp          serve coding assistants: tools that check, explain, plan and compare
  cache        show or delete the results that check keeps
  completions  print the completion script for bash, zsh or fish
  help         show the help of a command

version:
  -V, --version  print the version
  --verbose      with --version: and the date and the newest releases of the data

help:
  -h, --help  show this page

examples:
  servelint check deploy/
  servelint help check
  servelint explain vllm --swap-space
"""
ENGINES = """\
usage: servelint engines harvest [options] [ENGINE] [RELEASE]

Read what a release accepts from its published source, and add it to the catalog.

source:
  ENGINE        an engine, such as vllm
  RELEASE       its release, or all to rebuild the catalog from every release
  --from PATH   read an archive, a folder, an installed package or a clone
  --unverified  read only the sources in a wheel, without its hash; faster for large wheels

output:
  --output FILE   write the snapshot there and leave the catalog alone
  --catalog FILE  the catalog to add to (default: that of servelint)

new releases:
  --new             harvest every release that the catalogs lack (of one ENGINE or of all)
  --available FILE  a JSON list of releases by engine, instead of the index
  --notes FILE      write what the releases change there, as Markdown
  --cap             in the rule files, end the ranges of rules whose evidence changed

help:
  -h, --help  show this page

servelint does not run the source. It compares the whole file with the hash in the package index,
unless you give --unverified.

examples:
  servelint engines harvest vllm 0.34.0
  servelint engines harvest vllm --from ./vllm --output snapshot.json
  servelint engines harvest --new --notes notes.md
"""
GROUPS = [
    *("input", "rules", "versions and hardware", "settings", "baseline and trust", "fixing", "output", "failing", "cache"),
    "help",
]


def commands() -> Iterator[tuple[str, Command]]:
    """Every command and subcommand, by the words that run it."""
    top = root()
    assert isinstance(top, Group)
    for name in top.subcommands:
        found = top.get_command(click.Context(top), name)
        assert isinstance(found, Command)
        yield name, found
        if isinstance(found, Group):
            for inner, (one, _) in found.subcommands.items():
                assert isinstance(one, Command)
                yield f"{name} {inner}", one


EVERY = list(commands())


@pytest.mark.parametrize("option", ["--help", "-h", "help"])
def test_help(option: str, workspace: Workspace) -> None:
    assert workspace.run(option) == (0, USAGE, "")


def test_without_a_command(workspace: Workspace) -> None:
    assert workspace.run() == (2, "", USAGE)


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(option: str, workspace: Workspace) -> None:
    assert workspace.run(option) == (0, f"servelint {servelint.__version__}\n", "")
    assert workspace.run(option, "check") == (0, f"servelint {servelint.__version__}\n", "")


class TestSuggestions:
    @pytest.mark.parametrize(
        ("args", "said"),
        [
            (("chekc",), "servelint: 'chekc' is not a command; did you mean check?"),
            (("--verison",), "servelint: no such option: --verison; did you mean --version?"),
            (("rules", "tset"), "servelint rules: error: 'tset' is not a command; did you mean test?"),
            (("advise", "calibrat"), "servelint advise: error: 'calibrat' is not a command; did you mean calibrate?"),
            (("engines", "shwo"), "servelint engines: error: 'shwo' is not a command; did you mean show?"),
            (("help", "launch"), "servelint: 'launch' is not a command; did you mean launches?"),
            (("check", "--fomat", "json"), "servelint check: error: no such option: --fomat; did you mean --format?"),
            (("rules", "test", "--hlep"), "servelint rules test: error: no such option: --hlep; did you mean --help?"),
            (
                ("exec", "--fail-opn", "--", "true"),
                "servelint exec: error: no such option: --fail-opn; did you mean --fail-open?",
            ),
            (
                ("check", "--fail-on", "warnings"),
                (
                    "servelint check: error: "
                    '"warnings" is not a valid value for --fail-on'
                    " (choose from error, warning, info, never); did you mean warning?"
                ),
            ),
            (
                ("launches", "--format", "JSON"),
                (
                    "servelint launches: error: "
                    '"JSON" is not a valid value for --format (choose from text, json); did you mean json?'
                ),
            ),
            (
                ("completions", "bsh"),
                (
                    "servelint completions: error: "
                    '"bsh" is not a valid value for SHELL (choose from bash, zsh, fish); did you mean bash?'
                ),
            ),
        ],
        ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
    )
    def test_a_word_that_is_nearly_right(self, args: tuple[str, ...], said: str, workspace: Workspace) -> None:
        assert workspace.run(*args) == (2, "", said + "\n")

    def test_a_command_that_is_like_none(self, workspace: Workspace) -> None:
        assert workspace.run("xyzzy") == (2, "", f"servelint: 'xyzzy' is not a command; use one of {', '.join(COMMANDS)}\n")

    def test_nothing_is_suggested_for_an_option_that_is_like_none(self, workspace: Workspace) -> None:
        assert workspace.run("check", "--zzz").err == "servelint check: error: no such option: --zzz\n"
        assert suggestion("zzz", ["--format"]) == ""


class TestWrongWords:
    @pytest.mark.parametrize(
        ("args", "said"),
        [
            (("check", "--format"), "--format needs a value"),
            (("check", "--output", "--quiet"), "--output needs a value"),
            (("check", "--fix=yes"), "--fix takes no value"),
            (("check", "-qz"), "no such option: -z"),
            (("upgrade", "."), "missing option: --to ENGINE=RELEASE"),
            (("lsp", "here"), "unexpected argument: here"),
            (("rules", "--severity", "error", "test", "x"), "unexpected argument: test"),
        ],
        ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
    )
    def test_are_told_in_one_line(self, args: tuple[str, ...], said: str, workspace: Workspace) -> None:
        assert workspace.run(*args) == (2, "", f"servelint {args[0]}: error: {said}\n")

    def test_a_value_that_begins_with_a_dash(self, workspace: Workspace) -> None:
        workspace.file("run.sh", "vllm serve m\n")
        assert workspace.run("check", "run.sh", "--output=-x.txt").status == 0
        assert (workspace.folder / "-x.txt").exists()
        assert workspace.run("check", "--stdin-filename", "-", "-").status == 0
        assert workspace.run("check", "--command", "-x vllm serve m").status == 0

    def test_options_may_stand_between_arguments(self, workspace: Workspace) -> None:
        workspace.file("a.sh", "vllm serve m\n")
        workspace.file("-b.sh", "vllm serve m\n")
        assert workspace.run("check", "a.sh", "--format", "json", "--", "-b.sh").data["files"] == 2


class TestHelp:
    def test_options_stand_in_groups(self, workspace: Workspace) -> None:
        lines = workspace.run("check", "--help").out.splitlines()
        assert [line[:-1] for line in lines if line.endswith(":") and not line.startswith(" ")] == [*GROUPS, "examples"]
        assert lines[0] == "usage: servelint check [options] [PATH]..."
        assert lines.index("fixing:") < lines.index("  --fix                   apply the safe fixes") < lines.index("output:")

    def test_a_page(self, workspace: Workspace) -> None:
        assert workspace.run("engines", "harvest", "--help") == (0, ENGINES, "")

    def test_subcommands_are_listed(self, workspace: Workspace) -> None:
        page = workspace.run("help", "rules").out
        assert "\ncommands:\n  test  run the examples of your own rules\n" in page

    @pytest.mark.parametrize(("name", "command"), EVERY, ids=[name for name, _ in EVERY])
    def test_every_command_has_a_page(self, name: str, command: Command, workspace: Workspace) -> None:
        page = workspace.run(*name.split(), "--help")
        assert (page.status, page.err) == (0, "")
        assert page.out.startswith(f"usage: servelint {name.split()[0]} ")
        assert "\nexamples:\n  servelint " in page.out
        assert max(len(line) for line in page.out.splitlines()) <= 100
        assert workspace.run(*name.split(), "-h") == page
        assert workspace.run("help", *name.split()) == page
        for group in command.groups:
            assert f"\n{group.title}:\n" in page.out
            for one in group.declared.values():
                (line,) = [line for line in page.out.splitlines() if f"{line}  ".startswith(f"  {one.row}  ")]
                assert one.help
                assert line.endswith(one.help) or len(one.row) > 40

    def test_what_has_no_subcommands(self, workspace: Workspace) -> None:
        assert workspace.run("help", "check", "x") == (2, "", "servelint help: error: servelint check has no subcommands\n")


@pytest.mark.parametrize("command", COMMANDS)
class TestEachCommand:
    def test_refuses_an_option_that_it_does_not_know(self, command: str, workspace: Workspace) -> None:
        ran = workspace.run(command, "--frobnicate")
        assert (ran.status, ran.out, ran.err) == (2, "", f"servelint {command}: error: no such option: --frobnicate\n")

    def test_takes_no_abbreviation(self, command: str, workspace: Workspace) -> None:
        # what is unique today need not be so in the next release
        assert workspace.run(command, "--hel").status == 2


class TestColor:
    WRONG = "vllm serve m --gpu-memory-utilization 1.5\n"

    @pytest.mark.parametrize(
        ("args", "variables", "terminal", "colored"),
        [
            ((), {}, False, False),
            ((), {}, True, True),
            ((), {"TERM": "dumb"}, True, False),
            ((), {"NO_COLOR": "1"}, True, False),
            ((), {"NO_COLOR": ""}, True, True),
            ((), {"FORCE_COLOR": "1"}, False, True),
            ((), {"FORCE_COLOR": "0"}, True, False),
            ((), {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
            (("--color", "auto"), {"NO_COLOR": "1"}, True, False),
            (("--color", "always"), {"NO_COLOR": "1"}, False, True),
            (("--color=never",), {"FORCE_COLOR": "1"}, True, False),
        ],
    )
    @pytest.mark.parametrize("command", ["check", "exec"])
    def test_when(
        self,
        command: str,
        args: tuple[str, ...],
        variables: dict[str, str],
        terminal: bool,
        colored: bool,
        workspace: Workspace,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        for name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm", **variables}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.stdout.isatty" if command == "check" else "sys.stderr.isatty", lambda: terminal)
        linted = ("--command", self.WRONG) if command == "check" else ("--", *self.WRONG.split())
        ran = workspace.run(command, *args, *linted)
        assert ran.status == 1
        assert ("\x1b[1;31merror[" in ran.out + ran.err) is colored

    def test_a_file_is_not_coloured(self, workspace: Workspace) -> None:
        workspace.run("check", "--color", "always", "--command", self.WRONG, "--output", "report.txt")
        assert "\x1b" not in (workspace.folder / "report.txt").read_text()


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


def test_marks_of_an_output_that_knows_no_unicode(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii", errors="backslashreplace"))
    write_stdout("[\u2588\u2593\u2591\u00b7] \u2026 \u4e2d\n")
    sys.stdout.flush()
    assert written.getvalue() == b"[#=-.] ~ \\u4e2d\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no device that is always full")
def test_an_output_that_takes_nothing(workspace: Workspace) -> None:
    workspace.file("run.sh", "vllm serve m --gpu-memory-utilization 1.5\n")
    full = "servelint: the output cannot be written: No space left on device\n"
    for where, status, said in ((">/dev/full", 2, full), (">&-", 1, ""), (">/dev/null 2>&-", 1, "")):
        command = f'"{sys.executable}" -m servelint check -q run.sh {where}'
        ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (status, said), where


def test_an_interrupt(monkeypatch: pytest.MonkeyPatch, workspace: Workspace) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("servelint.cli.rules.every", interrupted)
    assert main(["rules"]) == 130
    assert workspace.run("rules") == (130, "", "")


def test_a_process_that_ends_does_not_look_through_its_objects_again() -> None:
    ends = "import atexit, gc, sys; sys.argv = ['servelint', '-V']; atexit.register(lambda: print(gc.get_freeze_count() > 0))"
    program = f"{ends}; from servelint.cli import main; {{}}"
    for call, frozen in (("sys.exit(main())", "True"), ("sys.exit(main(['--version']))", "False")):
        ran = subprocess.run([sys.executable, "-c", program.format(call)], capture_output=True, text=True, check=True)
        assert ran.stdout.split()[-1] == frozen


@pytest.mark.parametrize("before", ["pass;", "import atexit; atexit.register(print, 'at the end');"])
def test_the_program_ends_with_its_status_and_all_of_its_output(before: str, tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("vllm serve m --gpu-memory-utilization 2\n" * 300)
    program = (
        f"{before} import sys; sys.argv = ['servelint', 'check', '--no-cache', 'run.sh']; from servelint.cli import program"
    )
    ran = subprocess.run([sys.executable, "-c", f"{program}; program()"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 1
    assert ran.stdout.count("error[vllm/gpu-memory-utilization-out-of-range]") == 300
    assert "in 300 launches" in ran.stdout
    assert ran.stdout.endswith("at the end\n") is ("atexit" in before)


LIBRARIES = """
from servelint.cli import main
main(["check", "--no-cache", "compose.yml"])
import base64, click, datetime, gettext, ruamel.yaml, ruamel.yaml.cyaml, threading, uuid
print(ruamel.yaml.YAML(typ="safe").load("[2001-01-01, !!binary YQ==]"), ruamel.yaml.error.YAMLError.__module__)
print(uuid.UUID(int=0), threading.active_count(), gettext.NullTranslations.__name__, click.INT.convert("1", None, None))
"""


def test_what_a_check_leaves_out_of_libraries_is_there_when_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text("services: {a: {image: vllm/vllm-openai, command: --model m}}\n")
    ran = subprocess.run([sys.executable, "-c", LIBRARIES], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-2:] == [
        "[datetime.date(2001, 1, 1), b'a'] ruamel.yaml.error",
        "00000000-0000-0000-0000-000000000000 1 NullTranslations 1",
    ]


class TestImportWhenUsed:
    @pytest.fixture(autouse=True)
    def module(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        (tmp_path / "used_late.py").write_text("import sys\nsys.executed = True\nONE = 1\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(sys, "executed", False, raising=False)
        yield
        sys.modules.pop("used_late", None)

    def test_is_executed_at_the_first_use(self) -> None:
        _stand_in({"used_late": {}})
        module = importlib.import_module("used_late")
        assert vars(sys)["executed"] is False
        assert module.ONE == 1
        assert vars(sys)["executed"] is True
        with pytest.raises(AttributeError):
            module.TWO  # noqa: B018

    def test_a_name_that_is_imported_from_it(self) -> None:
        _stand_in({"used_late": {}})
        assert vars(importlib.import_module("used_late"))["__name__"] == "used_late"
        names: dict[str, object] = {}
        exec("from used_late import ONE", names)
        assert names["ONE"] == 1

    def test_what_is_known_of_it_until_then(self) -> None:
        _stand_in({"used_late": {"ONE": "one"}})
        names: dict[str, object] = {}
        exec("from used_late import ONE", names)
        assert (names["ONE"], vars(sys)["executed"]) == ("one", False)
        assert importlib.import_module("used_late").sys is sys
        assert importlib.import_module("used_late").ONE == 1

    def test_one_that_is_imported_already_stays(self) -> None:
        before = importlib.import_module("used_late")
        _stand_in({"used_late": {}})
        assert sys.modules["used_late"] is before
