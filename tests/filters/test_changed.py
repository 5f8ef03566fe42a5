"""`check --changed-since`: findings of what has changed (tests/test_history.py goes through a whole history)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.repository import Repository
from tests.running import Workspace

RUN = "vllm serve m --gpu-memory-utilization 1.5\n"
COMPOSE = """\
x-common: &common
  image: vllm/vllm-openai:v0.27.1
services:
  a:
    <<: *common
    command: --model m --swap-space 4
  b:
    image: vllm/vllm-openai:v0.27.1
    command: --model m --swap-space 4
"""


@pytest.fixture
def repository(workspace: Workspace) -> Repository:
    return Repository(workspace.folder)


def found(workspace: Workspace, *args: str) -> list[str]:
    data: Any = workspace.run("check", "--changed-since", "HEAD", "--select", "vllm/*", "--format", "json", *args).data
    return [f"{one['path']}:{one['start']['line']}" for one in data["findings"]]


def edit(name: str, old: str, new: str) -> None:
    text = Path(name).read_text()
    assert old in text
    Path(name).write_text(text.replace(old, new))


def test_what_stands_elsewhere_in_the_file(workspace: Workspace, repository: Repository) -> None:
    workspace.file("compose.yml", COMPOSE)
    repository.commit("a")
    edit("compose.yml", "v0.27.1\nservices", "v0.27.0\nservices")
    assert found(workspace) == ["compose.yml:6"]


def test_a_line_taken_out_above_a_command(workspace: Workspace, repository: Repository) -> None:
    workspace.file("run.sh", "export VLLM_USE_V1=0\npip install vllm==0.27.1\n" + RUN + "echo done\n")
    repository.commit("a")
    edit("run.sh", "echo done\n", "")
    assert found(workspace) == []
    edit("run.sh", "export VLLM_USE_V1=0\n", "")
    assert found(workspace) == ["run.sh:2"]


def test_a_file_that_a_script_reads(workspace: Workspace, repository: Repository) -> None:
    workspace.file("env.sh", "# ours\nPORT=8000\nOTHER=1\n")
    workspace.file("run.sh", ". ./env.sh\nvllm serve m --port $PORT --gpu-memory-utilization 1.5\n")
    repository.commit("a")
    edit("env.sh", "OTHER=1", "OTHER=2")
    assert found(workspace) == []
    edit("env.sh", "PORT=8000", "PORT=9000")
    assert found(workspace) == ["run.sh:2"]


def test_a_file_that_git_ignores_is_as_it_was(workspace: Workspace, repository: Repository) -> None:
    workspace.file(".gitignore", ".env\n")
    workspace.file(".env", "UTIL=1.5\n")
    workspace.file("compose.yml", COMPOSE.replace("--swap-space 4", "--gpu-memory-utilization ${UTIL}"))
    repository.commit("a")
    edit(".gitignore", ".env", ".env*")
    assert found(workspace) == []


def test_a_model_in_a_folder_beside(workspace: Workspace, repository: Repository) -> None:
    workspace.file("model/config.json", '{"num_attention_heads": 32, "architectures": ["LlamaForCausalLM"]}')
    workspace.file("run.sh", "pip install vllm==0.27.1\nvllm serve ./model --tensor-parallel-size 3\n")
    repository.commit("a")
    assert found(workspace) == []
    workspace.file("run.sh", "pip install vllm==0.27.1\nvllm serve ./model --tensor-parallel-size 5\n")
    assert found(workspace) == ["run.sh:2"]


def test_a_file_that_was_none_before(workspace: Workspace, repository: Repository) -> None:
    workspace.file("compose.yml", "services: [\n# vllm\n")
    repository.commit("a")
    workspace.file("compose.yml", COMPOSE)
    assert found(workspace) == ["compose.yml:6", "compose.yml:9"]


def test_a_path_outside_the_repository_is_told(workspace: Workspace, repository: Repository, tmp_path_factory: Any) -> None:
    other = tmp_path_factory.mktemp("other") / "run.sh"
    other.write_text(RUN)
    assert found(workspace, str(other)) == [f"{other}:1"]


def test_fixes_only_what_is_told(workspace: Workspace, repository: Repository) -> None:
    workspace.file("compose.yml", COMPOSE)
    repository.commit("a")
    edit("compose.yml", "  b:\n    image: vllm/vllm-openai:v0.27.1\n", "  b:\n    image: vllm/vllm-openai:v0.27.0\n")
    ran = workspace.run("check", "--changed-since", "HEAD", "--fix", "--unsafe-fixes")
    text = Path("compose.yml").read_text()
    assert (ran.status, text.count("--swap-space 4")) == (0, 1), ran
    assert text.index("--swap-space 4") < text.index("  b:")


@pytest.mark.parametrize("args", [["--command", "vllm serve m"], ["-"]])
def test_is_for_files(args: list[str], workspace: Workspace, repository: Repository) -> None:
    ran = workspace.run("check", "--changed-since", "HEAD", *args)
    assert (ran.status, ran.err) == (2, "servelint check: error: --changed-since is for files\n")


def test_no_such_revision(workspace: Workspace, repository: Repository) -> None:
    ran = workspace.run("check", "--changed-since", "nope")
    assert ran.status == 2
    assert ran.err.startswith("servelint check: error: --changed-since: git knows no revision 'nope'; a shallow clone")
