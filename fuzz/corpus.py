"""The texts that fuzzing starts from: the examples, and what the tests have of each format."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path
from textwrap import dedent
from typing import Any

from servelint.rules.compile import read_rules, rule_files
from tests.wrapping import CLOSE, OPEN, VERBS

ROOT = Path(__file__).parent.parent
LONGEST = 400
"""Characters. What is longer takes too long to read a million times."""

_ENGINE = re.compile(r"vllm|sglang|llama-server|llama\.cpp|lmdeploy|trtllm|text-generation")
_MARKS = re.compile(f"[{OPEN}{CLOSE}\u2038]")

_TESTS = {
    "compose": ("compose.yml", "docker-compose.yaml"),
    "container_run": ("run.sh",),
    "dockerfile": ("Dockerfile",),
    "helm": ("values.yaml", "templates/deployment.yaml"),
    "kubernetes": ("deployment.yaml",),
    "tasks": ("tasks.yaml",),
    "test_ansible": ("playbook.yml",),
    "test_clouds": ("serve.sky.yaml",),
    "test_github": ("workflow.yml",),
    "test_gitlab": (".gitlab-ci.yml",),
    "test_llama_swap": ("config.yaml",),
    "test_recipes": ("recipe.yaml",),
    "makefile": ("Makefile",),
    "justfile": ("justfile",),
    "batch": ("start.bat",),
    "systemd": ("llm.service",),
    "quadlet": ("llm.container",),
    "supervisor": ("supervisord.conf",),
    "procfile": ("Procfile",),
    "env_file": (".env",),
    "markdown": ("README.md",),
    "notebook": ("serve.ipynb",),
    "spec_config": ("spec.json",),
    "argv_json": ("recipe.json",),
    "engine_config": ("serve.yaml",),
    "test_commands": ("run.sh",),
    "test_installs": ("run.sh",),
    "test_shell_script": ("run.sh",),
    "test_process": ("run.sh",),
    "test_against_bash": ("run.sh",),
    "test_neighbours": ("run.sh",),
}
"""A part of a test module's path -> the names that a text of that format goes by."""


@lru_cache(maxsize=1)
def texts() -> dict[str, list[str]]:
    """File name -> texts of that format, without what is too long."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "examples").rglob("*")):
        if path.is_file():
            found.setdefault(path.name, []).append(path.read_text(encoding="utf-8"))
    for folder in ("readers", "syntax/shell"):
        for path in sorted((ROOT / "tests" / folder).rglob("test_*.py")):
            names = _names(path)
            for text in _strings(path):
                for name in names:
                    found.setdefault(name, []).append(text)
    return {name: sorted(set(listed)) for name, listed in sorted(found.items())}


def _names(path: Path) -> tuple[str, ...]:
    below = path.relative_to(ROOT / "tests").as_posix()
    if below.startswith("shell/"):
        return ("run.sh",)
    # the longest part says it most exactly
    fitting = sorted([part for part in _TESTS if part in below], key=len)
    return _TESTS[fitting[-1]] if fitting else ()


def _strings(path: Path) -> list[str]:
    """The texts in a test module that mention an engine."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = _MARKS.sub("", dedent(node.value).removeprefix("\n"))
            if _ENGINE.search(text) and len(text) <= LONGEST:
                found.append(text)
    return found


@lru_cache(maxsize=1)
def rules() -> dict[str, dict[str, Any]]:
    """Rule id -> its file's data, of rules with an example that is a command of an engine whose commands are known."""
    folder = str(ROOT / "rules")
    read = [data for path in rule_files(folder) for data in read_rules(path, folder)]
    return {data["id"]: data for data in read if data.get("engine") in VERBS}


@lru_cache(maxsize=1)
def runs() -> list[tuple[str, dict[str, Any]]]:
    """(engine, example) of each rule's examples that are short commands, those first whose rule has a fix."""
    found: list[tuple[bool, str, str, dict[str, Any]]] = []
    for name, data in rules().items():
        for kind in ("bad", "good"):
            for number, example in enumerate(data["examples"][kind]):
                run = _MARKS.sub("", str(example.get("run", "")))
                if run and len(run) <= LONGEST // 2 and "\n" not in run and "<<" not in run:
                    key = f"{name} {kind} {number:03}"
                    found.append((kind == "good" or "fix" not in data, key, data["engine"], {**example, "run": run}))
    found.sort(key=lambda one: one[:2])
    return [(engine, example) for _, _, engine, example in found]


@lru_cache(maxsize=1)
def fixable() -> int:
    """How many of `runs` come first because their rule has a fix and they are bad."""
    count = 0
    for data in rules().values():
        if "fix" in data:
            for example in data["examples"]["bad"]:
                run = _MARKS.sub("", str(example.get("run", "")))
                count += bool(run and len(run) <= LONGEST // 2 and "\n" not in run and "<<" not in run)
    return count
