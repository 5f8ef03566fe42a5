"""`servelint upgrade`: what it prints and how it ends."""

from __future__ import annotations

import pytest

from tests.running import Workspace

COMPOSE = "services:\n  llm:\n    image: vllm/vllm-openai:v0.17.1\n    command: m --swap-space 4\n"


def test_text(workspace: Workspace) -> None:
    workspace.file("compose.yml", COMPOSE)
    ran = workspace.run("upgrade", "--to", "vllm=0.20.0")
    head, broken, *rest = ran.out.splitlines()
    assert ran.status == 1
    assert head == "compose.yml:4: vLLM 0.17.1 -> 0.20.0 (services.llm)"
    assert broken.startswith("  breaks  4:16 error[vllm/removed-option] --swap-space was removed in vLLM 0.18.0; vLLM 0.20.0 ")
    assert "  default --gpu-memory-utilization: 0.9 -> 0.92 (from 0.20.0)" in rest


def test_what_is_the_same_for_several_launches_is_written_once(workspace: Workspace) -> None:
    service = "image: vllm/vllm-openai:v0.17.1\n    command: m --port 1\n"
    text = f"services:\n  a:\n    {service}  b:\n    {service}  c:\n    {service.replace('--port 1', '--swap-space 4')}"
    workspace.file("compose.yml", text)
    ran = workspace.run("upgrade", "--to", "vllm=0.20.0")
    same, other = ran.out.split("\n\n")
    assert [line.partition(" (")[2] for line in same.splitlines()[:2]] == ["services.a)", "services.b)"]
    assert same.splitlines()[2].startswith("  default ")
    assert other.startswith("compose.yml:10: vLLM 0.17.1 -> 0.20.0 (services.c)\n  breaks  10:16 error[vllm/removed-option]")


def test_json(workspace: Workspace) -> None:
    workspace.file("compose.yml", COMPOSE)
    ran = workspace.run("upgrade", "--to", "vllm=v0.20.0", "--format", "json", "compose.yml")
    (one,) = ran.data["upgrades"]
    assert (ran.status, ran.data["skipped"], ran.data["errors"]) == (1, 0, [])
    assert {name: one[name] for name in ("path", "line", "name", "engine", "from", "to")} == {
        "path": "compose.yml",
        "line": 4,
        "name": "services.llm",
        "engine": "vllm",
        "from": "0.17.1",
        "to": "0.20.0",
    }
    assert [finding["rule"] for finding in one["breaks"]] == ["vllm/removed-option"]
    assert one["breaks"][0]["start"] == {"line": 4, "column": 16}
    assert (one["warns"], one["mends"], one["stays"]) == ([], [], [])
    assert {"option": "--gpu-memory-utilization", "before": 0.9, "after": 0.92, "since": "0.20.0"} in one["defaults"]


def test_nothing_changes(workspace: Workspace) -> None:
    workspace.file("compose.yml", COMPOSE.replace(" --swap-space 4", ""))
    ran = workspace.run("upgrade", "--to", "vllm=0.17.1")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.endswith(":4: vLLM 0.17.1 -> 0.17.1 (services.llm)\n  no known change\n")


def test_less_than_a_break_is_no_failure(workspace: Workspace) -> None:
    command = "sglang serve --model-path m --cuda-graph-max-bs 64"
    ran = workspace.run("upgrade", "--to", "sglang=0.5.16", "--engine-version", "sglang=0.5.12", "--command", command)
    assert ran.status == 0
    assert "\n  warns   1:29 warning[sglang/deprecated-option] --cuda-graph-max-bs is deprecated in SGLang 0.5.16" in ran.out


@pytest.mark.parametrize(
    ("command", "title"),
    [("vllm serve m --async-scheduling", "mends"), ("vllm serve m --no-such-option", "stays")],
)
def test_what_is_mended_and_what_stays(command: str, title: str, workspace: Workspace) -> None:
    ran = workspace.run("upgrade", "--to", "vllm=0.10.2", "--engine-version", "vllm=0.8.5", "--command", command)
    assert ran.status == 0
    assert f"\n  {title}   1:" in ran.out


def test_a_launch_without_a_release_is_counted(workspace: Workspace) -> None:
    workspace.file("run.sh", "vllm serve m\n")
    ran = workspace.run("upgrade", "--to", "vllm=0.20.0")
    assert (ran.status, ran.out) == (0, "")
    assert "no release; give --engine-version vllm=..." in ran.err


def test_a_launch_of_a_release_outside_the_catalog_names_one(workspace: Workspace) -> None:
    workspace.file("compose.yml", COMPOSE.replace("0.17.1", "0.5.0"))
    ran = workspace.run("upgrade", "--to", "vllm=0.20.0")
    assert (ran.status, ran.out) == (0, "")
    assert ran.err != ""
    assert "no release" not in ran.err


def test_other_engines_are_left_alone(workspace: Workspace) -> None:
    workspace.file("compose.yml", COMPOSE)
    ran = workspace.run("upgrade", "--to", "sglang=0.5.12")
    assert (ran.status, ran.out, ran.err) == (0, "", "servelint: no launch of SGLang found\n")


def test_a_file_that_cannot_be_read(workspace: Workspace) -> None:
    workspace.file("compose.yml", COMPOSE)
    workspace.file("bad.yml", "services: [vllm\n")
    ran = workspace.run("upgrade", "--to", "vllm=0.20.0")
    assert ran.status == 2
    assert "error[vllm/removed-option]" in ran.out
    assert "bad.yml" in ran.err


@pytest.mark.parametrize("target", ["vllm", "vllm=", "vllm=9.9.9", "nobody=1.0", "=0.20.0"])
def test_a_target_that_makes_no_sense(target: str, workspace: Workspace) -> None:
    ran = workspace.run("upgrade", "--to", target)
    assert (ran.status, ran.out) == (2, "")
    assert f"--to {target}: write ENGINE=RELEASE with a release of servelint engines list" in ran.err


def test_without_a_target(workspace: Workspace) -> None:
    assert workspace.run("upgrade").status == 2


@pytest.mark.parametrize(
    ("target", "message"),
    [("vllm=0.331", "did you mean 0.33.0?"), ("vllm=latest", "releases look like 0.19.1")],
)
def test_a_target_that_is_not_a_release(target: str, message: str, workspace: Workspace) -> None:
    ran = workspace.run("upgrade", "--to", target)
    assert (ran.status, f'"{target[5:]}" is not a release of vLLM; {message}' in ran.err) == (2, True)
