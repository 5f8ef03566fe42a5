"""`servelint memory`: whether launches start, and with how much room."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.memory.planning import SMALL
from tests.running import Workspace

SERVE = "vllm serve Qwen/Qwen3-8B --max-model-len 32768\n"
LARGE = "vllm serve openai/gpt-oss-120b\n"


def plans(workspace: Workspace, text: str, *options: str) -> list[dict[str, Any]]:
    workspace.file("run.sh", text)
    data = workspace.run("memory", "run.sh", "--format", "json", *options).data
    assert data["errors"] == []
    found: list[dict[str, Any]] = data["plans"]
    return found


def test_json(workspace: Workspace) -> None:
    (plan,) = plans(workspace, SERVE, "--gpu", "h100", "--engine-version", "vllm=0.19.1")
    assert (plan["path"], plan["line"], plan["engine"], plan["version"]) == ("run.sh", 1, "vllm", "0.19.1")
    assert (plan["model"], plan["gpu"], plan["verdict"], plan["missing"]) == ("Qwen/Qwen3-8B", "h100", "fits", [])
    assert plan["kv_gib"]["low"] < plan["kv_gib"]["mid"] < plan["kv_gib"]["high"]
    assert plan["parts"][0]["name"] == "weights"
    inside = sum(part["gib"]["mid"] for part in plan["parts"] if part["inside"])
    assert inside == pytest.approx(plan["budget_gib"])


def test_text(workspace: Workspace) -> None:
    workspace.file("run.sh", SERVE)
    ran = workspace.run("memory", "run.sh", "--gpu", "h100", "--engine-version", "vllm=0.19.1")
    lines = ran.out.splitlines()
    assert (ran.status, lines[:2]) == (0, ["run.sh:1", "  fits: Qwen/Qwen3-8B, vLLM 0.19.1 on h100"])
    assert lines[2].startswith("  [█")
    assert lines[2].endswith(" GiB")
    assert len(lines[2].partition("]")[0]) == 63
    assert any(line.startswith("  one request of 32,768 tokens needs 4.50 GiB") for line in lines)


def test_what_refuses_is_a_finding(workspace: Workspace) -> None:
    workspace.file("run.sh", LARGE)
    ran = workspace.run("memory", "run.sh", "--gpu", "l40s", "--engine-version", "vllm=0.19.1")
    assert ran.status == 1
    assert "  it says: torch.OutOfMemoryError: CUDA out of memory." in ran.out


def test_the_release_and_the_gpu_of_the_file(workspace: Workspace) -> None:
    workspace.file(
        "pod.yml",
        """\
apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.1
      args: [--model, Qwen/Qwen3-8B, --max-model-len, "32768"]
      resources: {limits: {nvidia.com/gpu: "1"}}
""",
    )
    (plan,) = workspace.run("memory", "pod.yml", "--format", "json").data["plans"]
    assert (plan["version"], plan["verdict"]) == ("0.19.1", "fits")


def test_a_model_in_a_mounted_folder(workspace: Workspace) -> None:
    workspace.file("models/small/config.json", json.dumps(SMALL))
    workspace.file(
        "compose.yml",
        """\
services:
  llm:
    image: vllm/vllm-openai:v0.19.1
    command: [--model, /models/small, --max-model-len, "8192"]
    volumes: ["./models:/models"]
""",
    )
    (plan,) = workspace.run("memory", "compose.yml", "--gpu", "h100", "--format", "json").data["plans"]
    assert (plan["model"], plan["verdict"], plan["parts"][0]["origin"]) == (
        "/models/small",
        "fits",
        "/models/small/config.json",
    )


def test_without_a_gpu_the_common_ones_are_tried(workspace: Workspace) -> None:
    (plan,) = plans(workspace, SERVE, "--engine-version", "vllm=0.19.1")
    assert (plan["verdict"], plan["missing"]) == ("unknown", ["the GPU"])
    each = {one["gpu"]: one["verdict"] for one in plan["gpus"]}
    assert (each["h100-80gb"], each["b200"]) == ("fits", "fits")


def test_what_ifs(workspace: Workspace) -> None:
    (plan,) = plans(workspace, SERVE, "--gpu", "h100", "--engine-version", "vllm=0.19.1", "--what-if")
    each = {one["change"]: one for one in plan["what_if"]}
    assert each["--kv-cache-dtype fp8"]["kv_tokens"] == pytest.approx(2 * plan["kv_tokens"], rel=0.001)
    assert each["--max-model-len 16384"]["max_concurrency"] == pytest.approx(2 * plan["max_concurrency"], rel=0.001)


def test_whether_graphs_are_captured_need_not_be_known(workspace: Workspace) -> None:
    options = ("--gpu", "h100", "--engine-version", "vllm=0.24.0")
    (plan,) = plans(workspace, "vllm serve Qwen/Qwen3-8B ${EAGER:+--enforce-eager}\n", *options)
    (graphs,) = (part for part in plan["parts"] if part["name"] == "cuda graphs")
    assert (plan["verdict"], plan["missing"], graphs["gib"]["low"]) == ("fits", [], 0.0)


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ('"$@"', ["the effect of unknown words"]),
        ("${SMALL:+--mem-fraction-static 0.5}", ["whether --mem-fraction-static is given"]),
    ],
)
def test_words_of_sglang_that_nobody_knows(words: str, missing: list[str], workspace: Workspace) -> None:
    text = f"python -m sglang.launch_server --model-path Qwen/Qwen3-8B {words}\n"
    (plan,) = plans(workspace, text, "--gpu", "h100", "--engine-version", "sglang=0.5.9")
    assert (plan["verdict"], plan["missing"]) == ("unknown", missing)


def test_the_gpu_of_a_comment(workspace: Workspace) -> None:
    options = ("--gpu", "l4", "--gpu-count", "8", "--engine-version", "vllm=0.19.1")
    (plan,) = plans(workspace, SERVE.rstrip() + " # servelint: gpu=h100 gpu-count=2\n", *options)
    assert (plan["gpu"], plan["gpu_count"], plan["verdict"]) == ("h100", 2, "fits")


def test_without_speculation(workspace: Workspace) -> None:
    text = """vllm serve nvidia/Qwen3.6-35B-A3B-NVFP4 --speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'\n"""
    (plan,) = plans(workspace, text, "--gpu", "h100", "--engine-version", "vllm=0.24.0", "--what-if")
    (plain,) = (one for one in plan["what_if"] if one["change"] == "without speculation")
    assert plain["max_concurrency"] > plan["max_concurrency"]


def test_solving_for_the_context(workspace: Workspace) -> None:
    options = ("--gpu", "rtx-4090", "--engine-version", "vllm=0.19.1")
    (plan,) = plans(workspace, "vllm serve Qwen/Qwen3-8B\n", *options, "--solve", "max-model-len")
    longest = plan["solved"]["max-model-len"]
    assert 1000 < longest < 40_960
    for length, verdict in ((longest, "fits"), (longest + 64, "tight")):
        (again,) = plans(workspace, f"vllm serve Qwen/Qwen3-8B --max-model-len {length}\n", *options)
        assert again["verdict"] == verdict


def test_solving_for_the_gpu(workspace: Workspace) -> None:
    (plan,) = plans(workspace, LARGE, "--engine-version", "vllm=0.24.0", "--solve", "gpu")
    assert plan["solved"]["gpu"] in ("rtx-pro-6000", "gb10", "h200")


@pytest.mark.parametrize("solve", ["max-num-seqs", "max-model-len", "gpu"])
def test_solving_what_nobody_knows(workspace: Workspace, solve: str) -> None:
    workspace.file("run.sh", "vllm serve someone/never-heard-of\n")
    ran = workspace.run("memory", "run.sh", "--gpu", "h100", "--solve", solve)
    assert ran.out.endswith(f"  solved: --{solve}: cannot be determined\n")


def test_a_command(workspace: Workspace) -> None:
    ran = workspace.run("memory", "--command", SERVE, "--gpu", "h100", "--format", "json")
    (plan,) = ran.data["plans"]
    assert any("no release is named" in note for note in plan["notes"])


def test_no_launch(workspace: Workspace) -> None:
    workspace.file("run.sh", "text-generation-launcher --model-id m\n")
    ran = workspace.run("memory", "run.sh")
    none = "servelint: no launch of vLLM, SGLang, llama.cpp, TensorRT-LLM, Ollama found"
    assert (ran.status, ran.err) == (0, f"{none}; the memory of TGI is not planned\n")
    assert workspace.run("memory", "--command", "ls").err == f"{none}\n"


def test_a_file_that_is_not_there(workspace: Workspace) -> None:
    ran = workspace.run("memory", "missing.sh")
    assert ran.status == 2
    assert "missing.sh" in ran.err


def test_wrong_usage(workspace: Workspace) -> None:
    assert workspace.run("memory", "--solve", "happiness").status == 2


@pytest.mark.parametrize(
    ("command", "release", "told"),
    [
        ("vllm serve meta-llama/Llama-3.3-70B-Instruct --tensor-parallel-size 4", "vllm=0.19.1", "on 4 x h100"),
        (
            "python -m sglang.launch_server --model-path meta-llama/Llama-3.3-70B-Instruct --tp 4",
            "sglang=0.5.14",
            "on 4 x h100",
        ),
        ("vllm serve Qwen/Qwen3-30B-A3B --data-parallel-size 2", "vllm=0.19.1", "those of one of 2 replicas"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B --dp 2", "sglang=0.5.14", "those of one of 2 replicas"),
    ],
)
def test_where_nobody_says_how_many_gpus_there_are(command: str, release: str, told: str, workspace: Workspace) -> None:
    workspace.file("run.sh", command + "\n")
    ran = workspace.run("memory", "run.sh", "--gpu", "h100", "--engine-version", release)
    assert ran.out.splitlines()[1].startswith("  fits: ")
    assert told in ran.out
    assert "note: the number of GPUs is not known: it takes " in ran.out


def test_fewer_gpus_than_it_takes_are_told(workspace: Workspace) -> None:
    workspace.file("run.sh", "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp 4\n")
    ran = workspace.run("memory", "run.sh", "--gpu", "h100", "--gpu-count", "2", "--engine-version", "sglang=0.5.14")
    assert "not known: 4 GPUs: the launch has 2; write --gpu-count 4" in ran.out


def test_an_image_whose_tag_moves_is_taken_for_the_newest(workspace: Workspace) -> None:
    text = "services: {llm: {image: 'vllm/vllm-openai:latest', command: --model Qwen/Qwen3-8B --max-model-len 8192}}\n"
    workspace.file("compose.yml", text)
    ran = workspace.run("memory", "compose.yml", "--gpu", "h100")
    assert "note: the image's tag moves: planned as 0.33.0, the newest that is known" in ran.out


def test_without_a_release_what_is_solved_holds_for_all(workspace: Workspace) -> None:
    command = "vllm serve Qwen/Qwen3-32B\n"
    (over,) = plans(workspace, command, "--gpu", "h100", "--solve", "max-model-len")
    for release in ("0.14.0", "0.19.1", "0.33.0"):
        options = ("--gpu", "h100", "--solve", "max-model-len", "--engine-version", f"vllm={release}")
        (one,) = plans(workspace, command, *options)
        assert 0 < over["solved"]["max-model-len"] <= one["solved"]["max-model-len"]


def test_the_releases_that_a_plan_holds_for(workspace: Workspace) -> None:
    (over,) = plans(workspace, SERVE, "--gpu", "h100")
    assert over["version"] == over["versions"][-1] == "0.33.0"
    assert {"0.14.1", "0.19.1"} < set(over["versions"])
    (one,) = plans(workspace, SERVE, "--gpu", "h100", "--engine-version", "vllm=0.19.1")
    assert one["versions"] == ["0.19.1"]


def test_more_sequences_than_are_tried(workspace: Workspace) -> None:
    workspace.file("run.sh", SERVE)
    ran = workspace.run("memory", "run.sh", "--gpu", "h200", "--engine-version", "vllm=0.33.0", "--solve", "max-num-seqs")
    assert "solved: --max-num-seqs 4096 (more was not tried)" in ran.out


def test_nothing_is_printed_for_nothing(workspace: Workspace) -> None:
    workspace.file("run.sh", "echo vllm\n")
    ran = workspace.run("memory", "run.sh")
    assert (ran.status, ran.out) == (0, "")
    assert "no launch of vLLM, SGLang, llama.cpp, TensorRT-LLM, Ollama found" in ran.err
