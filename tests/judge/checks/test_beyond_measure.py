"""Numbers that nobody means: a check of them ends, soon and without an error of ours."""

from __future__ import annotations

import pytest

from servelint import check_command
from servelint.core.settings import Settings
from tests.launching import launches_in

HUGE = ["99999999", "999999999999", "9" * 30, "9" * 400, "9" * 4400, "1e400", "nan", "-inf", "0", "-1", "\u00b2", "\u0663"]
MTP = '{"method": "mtp", "num_speculative_tokens": %s}'
VLLM, SGLANG = ["deepseek-ai/DeepSeek-V3"], ["--model-path", "Qwen/Qwen3-Next-80B-A3B-Instruct"]
ON_GPUS = Settings(profile="audit", gpu="h100-80gb", gpu_count=8)


@pytest.mark.parametrize("number", HUGE, ids=[f"{one[:6]} of {len(one)}" for one in HUGE])
@pytest.mark.parametrize(
    ("engine", "argv"),
    [
        ("vllm", [*VLLM, "--tensor-parallel-size", "N"]),
        ("vllm", [*VLLM, "-tp", "2", "--pipeline-parallel-size", "N"]),
        ("vllm", [*VLLM, "--speculative-config", "N"]),
        ("vllm", [*VLLM, "--kv-cache-memory-bytes", "N"]),
        ("vllm", [*VLLM, "--cudagraph-capture-sizes", "1", "N"]),
        ("vllm", [*VLLM, "--device-ids", "0,N"]),
        ("vllm", [*VLLM, "--numa-bind-cpus", "0-N"]),
        ("vllm", [*VLLM, "--max-model-len", "N"]),
        ("sglang", [*SGLANG, "--tp-size", "N"]),
        ("sglang", [*SGLANG, "--pp-size", "2", "--dcp-size", "N"]),
        ("sglang", [*SGLANG, "--pp-size", "2", "--nnodes", "N"]),
        ("sglang", [*SGLANG, "--mamba-full-memory-ratio", "N"]),
        ("sglang", [*SGLANG, "--chunked-prefill-size", "N"]),
        ("sglang", [*SGLANG, "--shared-experts-tp-size", "N"]),
    ],
    ids=lambda value: value[-2].lstrip("-") if isinstance(value, list) else value,
)
def test_a_number_that_is_too_much(engine: str, argv: list[str], number: str) -> None:
    number = MTP % number if argv[-2] == "--speculative-config" else number
    words = [word.replace("N", number) if word in ("N", "0,N", "0-N") else word for word in argv]
    check_command(engine, words, version="0.33.0" if engine == "vllm" else "0.5.23", settings=ON_GPUS)


def test_more_ranks_than_heads_are_still_too_many() -> None:
    found = check_command("vllm", ["openai/gpt-oss-20b", "--tensor-parallel-size", "99999999"], version="0.33.0")
    assert "vllm/heads-not-divisible" in [one.rule for one in found]


def test_a_number_of_hundreds_of_digits_is_above_any_bound() -> None:
    found = check_command("vllm", ["Qwen/Qwen3-8B", "--gpu-memory-utilization", "9" * 400], version="0.33.0")
    assert "vllm/gpu-memory-utilization-out-of-range" in [one.rule for one in found]


@pytest.mark.parametrize("number", HUGE, ids=[f"{one[:6]} of {len(one)}" for one in HUGE])
def test_numbers_of_what_surrounds_a_launch(number: str) -> None:
    image = f"services:\n  a:\n    image: vllm/vllm-openai:v0.27.1.post{number}\n    command: m\n"
    for text in (
        image + f"    ports: ['{number}:{number}']\n    environment: {{CUDA_VISIBLE_DEVICES: '{number}'}}\n",
        image + f"    deploy: {{resources: {{reservations: {{devices: [{{capabilities: [gpu], count: {number}}}]}}}}}}\n",
        f"resources:\n  accelerators: H100:{number}\nrun: |\n  vllm serve m\n",
    ):
        assert len(launches_in(text, "a.yml")) == 1
