"""SKILL.md: its head is what assistants read first, and each of its commands runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from servelint.rules.load import rules
from tests.running import Workspace
from tests.syntax import yaml_texts

TEXT = (Path(__file__).parent.parent / "SKILL.md").read_text(encoding="utf-8")
BLOCKS = [line for block in re.findall(r"(?ms)^```\n(.*?)^```", TEXT) for line in block.splitlines()]
COMMANDS = list(dict.fromkeys([*BLOCKS, *re.findall(r"`(servelint [^`]+)`", TEXT)]))

COMPOSE = """\
services:
  llm:
    image: vllm/vllm-openai:v0.27.1
    command: --model Qwen/Qwen3-8B --swap-space 4
    gpus: all
"""


def test_the_head() -> None:
    _, head, body = TEXT.split("---\n", 2)
    data = yaml_texts.load(head)
    assert set(data) == {"name", "description"}
    assert re.fullmatch(r"[a-z0-9-]{1,64}", data["name"])
    assert 0 < len(data["description"]) <= 1024
    assert len(body.splitlines()) < 80


def test_it_has_commands() -> None:
    assert len(COMMANDS) > 10
    assert {shlex.split(command)[1] for command in COMMANDS} == {
        "advise", "check", "explain", "launches", "memory", "translate", "upgrade",
    }  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_runs(command: str, workspace: Workspace) -> None:
    workspace.file("deploy/compose.yml", COMPOSE)
    workspace.file(
        "server.log", "ValueError: Total number of attention heads (40) must be divisible by tensor parallel size (3).\n"
    )
    words = shlex.split(command)
    ran = workspace.run(*words[1:])
    broken = words[1] in ("check", "memory", "translate") and "deploy/compose.yml" in words and "--fix" not in words
    assert ran.status == int(broken), ran.err
    assert ran.out
    if words[1] == "check" and "agent" in words:
        assert ("; edit 4:35-4:50 " in ran.out) == broken
    if "--fix" in words:
        assert "--swap-space" not in (workspace.folder / "deploy" / "compose.yml").read_text()


def test_the_rules_that_it_names_exist() -> None:
    known = {rule.id for rule in rules()}
    assert set(re.findall(r"\bvllm/[a-z-]+", TEXT)) <= known
