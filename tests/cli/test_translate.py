"""`servelint translate`: what it prints and how it ends."""

from __future__ import annotations

import pytest

from tests.running import Workspace

COMPOSE = """\
services:
  llm:
    image: ghcr.io/huggingface/text-generation-inference:3.3.4
    command: --model-id Qwen/Qwen3-8B --num-shard 2 --api-key key-of-a-client --max-best-of 4
"""


def test_text(workspace: Workspace) -> None:
    workspace.file("compose.yml", COMPOSE)
    ran = workspace.run("translate", "--to", "vllm", "--release", "0.33.0")
    assert ran.status == 1
    assert ran.out == (
        "compose.yml:4: TGI 3.3.4 -> vLLM 0.33.0 (services.llm)\n"
        "  image    vllm/vllm-openai:v0.33.0\n"
        "  command  vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2 --api-key *** --port 80\n"
        "  same           --model-id Qwen/Qwen3-8B -> Qwen/Qwen3-8B\n"
        "  same           --num-shard 2 -> --tensor-parallel-size 2\n"
        "  same           --api-key *** -> --api-key ***\n"
        "  no counterpart --max-best-of 4: it belongs to TGI's own router and scheduler\n"
        "  added          --port 80: TGI listens on 80\n"
        "  default        concurrency: no limit but the tokens of the batch in TGI, 256 or 1024, by GPU and by use in vLLM\n"
        "  default        memory share: 1.0 in TGI, 0.9, and 0.92 since 0.20.0 in vLLM\n"
        "  default        clients of TGI's own API (/generate, /generate_stream) need the OpenAI one (/v1/completions,"
        " /v1/chat/completions)\n"
    )


def test_json(workspace: Workspace) -> None:
    workspace.file("compose.yml", COMPOSE.replace(" --max-best-of 4", ""))
    ran = workspace.run("translate", "--to", "sglang=0.5.20", "--format", "json", "compose.yml")
    (one,) = ran.data["translations"]
    assert (ran.status, ran.data["skipped"], ran.data["errors"]) == (0, 0, [])
    assert {key: one[key] for key in ("path", "line", "name", "from", "to", "image", "complete", "findings")} == {
        "path": "compose.yml",
        "line": 4,
        "name": "services.llm",
        "from": {"engine": "tgi", "release": "3.3.4"},
        "to": {"engine": "sglang", "release": "0.5.20"},
        "image": "lmsysorg/sglang:v0.5.20",
        "complete": True,
        "findings": [],
    }
    assert one["command"] == ["python", "-m", "sglang.launch_server"]
    assert one["options"][1] == {
        "kind": "same",
        "concept": "tensor-parallel",
        "source": ["--num-shard", "2"],
        "target": ["--tp-size", "2"],
        "says": "",
    }
    assert "key-of-a-client" not in ran.out


def test_secrets_where_they_are_asked_for(workspace: Workspace) -> None:
    workspace.file("compose.yml", COMPOSE)
    assert "--api-key key-of-a-client" in workspace.run("translate", "--to", "vllm", "--show-secrets").out


def test_launches_of_the_target_are_skipped(workspace: Workspace) -> None:
    ran = workspace.run("translate", "--to", "vllm", "--command", "vllm serve a/b")
    assert (ran.status, ran.out, ran.err) == (0, "", "servelint: skipped: 1 already of vLLM\n")


def test_what_breaks(workspace: Workspace) -> None:
    ran = workspace.run("translate", "--to", "sglang", "--command", "vllm serve Qwen/Qwen3-8B -tp 5")
    assert ran.status == 1
    assert "  breaks         " in ran.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--to", "tgi"), "--to tgi: write one of vllm, sglang"),
        (("--to", "vllm=9x"), "--release: "),
        (("--to", "vllm", "--release", "99.0"), "--release"),
        (("--to", "vllm=0.33.0", "--release", "0.32.0"), "name two releases"),
    ],
)
def test_wrong_usage(words: tuple[str, ...], says: str, workspace: Workspace) -> None:
    ran = workspace.run("translate", *words, "--command", "sglang serve --model-path a/b")
    assert ran.status == 2
    assert says in ran.err


def test_a_file_that_cannot_be_read(workspace: Workspace) -> None:
    workspace.file("compose.yml", "services:\n  llm: {image: vllm/vllm-openai:v0.33.0, command: [a\n")
    assert workspace.run("translate", "--to", "sglang").status == 2
