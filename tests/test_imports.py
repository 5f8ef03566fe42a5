"""What a plain check does not import: start-up time is most of the time that it takes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from servelint.core.settings import FORMATS

NEVER = (
    "argparse",
    "ast",
    "click.shell_completion",
    "click.testing",
    "concurrent.futures",
    "dataclasses",
    "dis",
    "importlib.metadata",
    "jsonschema",
    "packaging",
    "pathspec",
    "pygls",
    "socket",
    "tree_sitter",
    "tree_sitter_bash",
    "typing_extensions",
    "urllib.request",
    "yaml",
)

NOT_FOR_A_FILE = {
    "_datetime",
    "_uuid",
    "gettext",
    "platform",
    "signal",
    "threading",
    "ruamel.yaml.main",
    "ruamel.yaml.scalarint",
}
"""What click and ruamel.yaml import, or the modules that they import."""

COMPOSE = """\
services:
  llm:
    image: vllm/vllm-openai:v0.20.0
    environment:
      HF_HOME: ${CACHE:-/cache}
    command: >-
      --model ${MODEL:-Qwen/Qwen3-8B}
      --gpu-memory-utilization 1.5
      --speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'
"""

PROGRAM = """
import sys
before = set(sys.modules)
from servelint.cli import main
status = main(sys.argv[1:])
import json
print(json.dumps([status, sorted(set(sys.modules) - before)]), file=sys.stderr)
"""


def imported(folder: Path, *args: str) -> tuple[int, list[str]]:
    """The exit status of a command, and the modules that it imports."""
    ran = subprocess.run([sys.executable, "-c", PROGRAM, *args], cwd=folder, capture_output=True, text=True, check=True)
    status, modules = json.loads(ran.stderr.splitlines()[-1])
    return status, modules


VERSIONS = ["packaging", "packaging.version"]
"""What reads a release that a person writes; ranges take more of it, and are compiled into the rule book."""


def needless(modules: list[str]) -> list[str]:
    return [name for name in modules if name.startswith(tuple(one + "." for one in NEVER)) or name in NEVER]


@pytest.mark.parametrize("format", [kind for kind in FORMATS if kind != "sarif"])
def test_a_check_of_a_compose_file(format: str, tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(COMPOSE)
    status, modules = imported(tmp_path, "check", "compose.yml", "--format", format)
    assert status == 1
    assert needless(modules) == []
    assert not NOT_FOR_A_FILE & set(modules) or format in ("html", "gitlab")
    assert "urllib.parse" not in modules or format in ("html", "markdown")
    assert "servelint.readers.compose" in modules
    assert {name for name in modules if name.startswith("servelint.cli.")} == {
        f"servelint.cli.{one}" for one in ("check", "command", "options", "output")
    }
    assert not any(name.startswith("servelint.syntax.shell.") and name != "servelint.syntax.shell.words" for name in modules)


@pytest.mark.parametrize(
    "command",
    [
        ["--version"],
        ["rules"],
        ["launches", "compose.yml"],
        ["check", "--select", "vllm/*", "."],
        ["exec", "--dry-run", "--", "env", "A=b", "vllm", "serve", "m"],
    ],
)
def test_other_commands(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(COMPOSE)
    assert needless(imported(tmp_path, *command)[1]) == []


def test_a_release_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(COMPOSE)
    assert needless(imported(tmp_path, "check", "--engine-version", "vllm=0.20.0", ".")[1]) == VERSIONS


ABOUT_SETTINGS = ("tomllib", "tomli", "servelint.files.toml_document", "servelint.settings.keys")


def test_settings_are_read_where_there_is_a_settings_file(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(COMPOSE)
    assert not set(ABOUT_SETTINGS) & set(imported(tmp_path, "check", "compose.yml")[1])
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\ndependencies = ['servelint']\n")
    assert not {"tomllib", "tomli"} & set(imported(tmp_path, "check", "compose.yml")[1])
    (tmp_path / "servelint.toml").write_text('profile = "strict"\n[engine-versions]\nvllm = "0.20.0"\n')
    modules = imported(tmp_path, "check", "compose.yml")[1]
    assert {"tomllib", "tomli"} & set(modules)
    assert needless(modules) == VERSIONS
    assert "difflib" not in modules


def test_gpus_are_known_where_one_is_named(tmp_path: Path) -> None:
    about_gpus = {"servelint.hardware", "servelint.memory"}
    (tmp_path / "compose.yml").write_text(COMPOSE)
    assert not about_gpus & set(imported(tmp_path, "check", "compose.yml")[1])
    (tmp_path / "compose.yml").write_text(COMPOSE.replace("command: >-", "command: >- # servelint: gpu=h100-80gb"))
    assert about_gpus - {"servelint.memory"} <= set(imported(tmp_path, "check", "compose.yml")[1])


def test_a_file_that_launches_nothing_is_not_parsed(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text("services: {web: {image: nginx}}\n")
    (tmp_path / "run.sh").write_text("echo hello\n")
    status, modules = imported(tmp_path, "check", ".", "--format", "json")
    assert status == 0
    assert not {"ruamel.yaml.error", "servelint.readers.compose", "servelint.readers.scripts"} & set(modules)


def test_a_shell_script_is_what_brings_tree_sitter(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("vllm serve m\n")
    every = imported(tmp_path, "check", "run.sh")[1]
    assert "ruamel.yaml.error" not in every
    modules = needless(every)
    roots = {name.partition(".")[0] for name in modules}
    assert roots == {"tree_sitter", "tree_sitter_bash"}


@pytest.mark.parametrize("module", ["calls", "classes", "expressions", "statements"])
def test_modules_that_call_each_other_are_imported_in_any_order(module: str) -> None:
    done = subprocess.run([sys.executable, "-c", f"import servelint.harvest.evaluate.{module}"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
