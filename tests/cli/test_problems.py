"""Settings that cannot be read end every command that asks for them, with their place and status 2."""

from __future__ import annotations

import pytest

from tests.running import Workspace

COMMANDS = (
    ("check", "run.sh"),
    ("launches", "run.sh"),
    ("memory", "run.sh"),
    ("rules",),
    ("translate", "--to", "sglang", "run.sh"),
    ("upgrade", "--to", "vllm=0.33.0", "run.sh"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_settings_that_cannot_be_read(workspace: Workspace, command: tuple[str, ...]) -> None:
    workspace.file("run.sh", "pip install vllm==0.20.0\nvllm serve Qwen/Qwen3-8B\n")
    workspace.file("servelint.toml", "profile = 1\n")
    ran = workspace.run(*command)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("servelint.toml:1:11: profile ")
