"""Findings are no more severe than they are certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.settings import Settings
from servelint.lint import check
from tests.reporting import findings_in

STRICT = Settings(profile="strict")
DRAFTS = """--kv-cache-dtype turboquant_k8v4 --speculative-config '{"method":"mtp","num_speculative_tokens":2}'"""


def severity(text: str, rule: str, filename: str = "run.sh") -> list[str]:
    return [one.severity for one in findings_in(text, filename, STRICT) if one.rule == rule]


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("vllm/vllm-openai:v0.27.1", ["error"]),
        ("vllm/vllm-openai:nightly", ["warning"]),
        ("vllm/vllm-openai:nightly-0d4044edd85de30d7d4558aeea4d1e95c7c556d6", ["warning"]),
        ("vllm/vllm-openai:latest", ["warning"]),
        ("myvllm:local", ["warning"]),
    ],
)
def test_a_bug_may_be_mended_in_a_release_that_is_not_known(image: str, expected: list[str]) -> None:
    text = f"docker run --gpus all --ipc host {image} vllm serve Qwen/Qwen3.6-27B {DRAFTS}\n"
    assert severity(text, "vllm/turboquant-with-spec-decode") == expected


@pytest.mark.parametrize("image", ["vllm/vllm-openai:nightly", "vllm/vllm-openai:latest"])
def test_what_every_release_refuses_stays_an_error(image: str) -> None:
    text = f"docker run --gpus all --ipc host {image} --model Qwen/Qwen3-8B --gpu-memory-utilization 1.5\n"
    assert severity(text, "vllm/gpu-memory-utilization-out-of-range") == ["error"]


@pytest.mark.parametrize(
    ("visible", "ranks", "expected"),
    [("1,2", 1, ["warning"]), ("0,1,2", 2, ["warning"]), ("0,2", 1, ["warning"]), ("2", 1, ["error"]), ("2,3", 2, ["error"])],
)
def test_devices_that_are_left_for_the_ranks(visible: str, ranks: int, expected: list[str]) -> None:
    text = (
        "services:\n  a:\n    image: lmsysorg/sglang:v0.5.12\n    ipc: host\n"
        f"    environment: ['CUDA_VISIBLE_DEVICES={visible}']\n"
        "    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 2, capabilities: [gpu]}]}}}\n"
        f"    command: python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp-size {ranks}\n"
    )
    assert severity(text, "container/visible-devices", "compose.yml") == expected


def test_a_name_that_tells_the_series_does_not_move() -> None:
    name = "gcr.io/huggingface-text-generation-inference-cu121.1-4.ubuntu2204.py310"
    assert severity(f"docker run --gpus all {name} --model-id m/m\n", "container/unpinned-image") == []


@pytest.mark.parametrize(
    "tag",
    [
        "nightly-20250901",
        "nightly-2025-09-01",
        "dev-2025.09.01",
        "dev-cu130-20250901",
        "v0.11.0-20250901",
        "main-0d4044e",
        "25.10-py3",
    ],
)
def test_a_dated_tag_does_not_move(tag: str) -> None:
    assert severity(f"docker run --gpus all vllm/vllm-openai:{tag} --model m/m\n", "container/unpinned-image") == []


@pytest.mark.parametrize("name", ["localhost/vllm:latest", "myvllm", "vllm-node:latest"])
def test_a_local_image_has_no_digest(name: str) -> None:
    found = findings_in(f"docker run --gpus all {name} vllm serve m/m\n", "run.sh", STRICT)
    (finding,) = [one for one in found if one.rule == "container/unpinned-image"]
    assert finding.advice == "write the tag of one release"
    assert "the last image built on the machine that runs it" in finding.message


@pytest.mark.parametrize(
    "options",
    ["--quantization FP8", "--quantization Fp8", "--quantization None", "--quantization ''",
     "--distributed-executor-backend None", "--reasoning-parser None", "--tool-call-parser ''", "--speculative-config None"],
)  # fmt: skip
@pytest.mark.parametrize("release", ["0.33.0", "0.28.0"])
def test_values_as_vllm_reads_them(options: str, release: str) -> None:
    """Verified with the argument parsers and configurations of these releases."""
    if (options, release) == ("--reasoning-parser None", "0.28.0"):
        options = "--revision None"
    found = findings_in(f"vllm serve Qwen/Qwen3-8B {options}\n", settings=Settings(engine_versions={"vllm": release}))
    assert [one.rule for one in found if one.severity == "error"] == []


@pytest.mark.parametrize("name", ["None", "none", "eagle"])
def test_speculative_algorithms_as_sglang_reads_them(name: str) -> None:
    found = findings_in(
        f"python -m sglang.launch_server --model-path Qwen/Qwen3-8B --speculative-algorithm {name}\n",
        settings=Settings(engine_versions={"sglang": "0.5.23"}),
    )
    assert "sglang/speculative-algorithm-unknown" not in [one.rule for one in found]


@pytest.mark.parametrize("name", ["fp7", "nothing", "awq_marlinn"])
def test_a_method_that_does_not_exist_is_refused(name: str) -> None:
    found = findings_in(
        f"vllm serve Qwen/Qwen3-8B --quantization {name}\n", settings=Settings(engine_versions={"vllm": "0.33.0"})
    )
    assert [one.severity for one in found] == ["error"]


@pytest.mark.parametrize(
    ("dockerfile", "expected"),
    [
        ("FROM vllm/vllm-openai:latest\n", [("latest", "write vllm/vllm-openai:v")]),
        (
            "ARG TAG=latest\nFROM vllm/vllm-openai:$TAG AS base\nFROM base\nRUN pip install x\n",
            [("latest", "write vllm/vllm-openai:v")],
        ),
        ("FROM vllm/vllm-openai\n", [("vllm/vllm-openai", "write vllm/vllm-openai:v")]),
        ("FROM vllm/vllm-openai:v0.20.1\n", []),
        ("FROM vllm/vllm-openai:latest\nRUN pip install vllm==0.20.1\n", []),
        ("FROM python:latest\nRUN pip install vllm\n", []),
        (None, []),
    ],
)
def test_the_dockerfile_of_a_built_image_pins_the_engine(
    dockerfile: str | None, expected: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if dockerfile is not None:
        (tmp_path / "Dockerfile").write_text(dockerfile)
    text = "services:\n  llm:\n    build: .\n    image: vllm/vllm-openai:latest\n    command: vllm serve m\n"
    (tmp_path / "compose.yml").write_text(text)
    monkeypatch.chdir(tmp_path)
    found = [one for one in check(["compose.yml"], STRICT).findings if one.rule == "container/unpinned-image"]
    assert [one.span.source.path for one in found] == ["Dockerfile"] * len(expected)
    for one, (span, advice) in zip(found, expected, strict=True):
        assert one.span.text == span
        assert one.advice.startswith(advice)
