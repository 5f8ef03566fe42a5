"""Checks that ask the memory plan: what they say, and that they say nothing where something is not known."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

import servelint
from servelint.engines.config import Config, configs
from servelint.judge.checks import memory, run_check
from servelint.rules.load import rules
from tests.together import together

SGLANG = "python -m sglang.launch_server --model-path "
VLLM = "vllm serve "
MEMORY = sorted({rule.check for rule in rules() if rule.check is not None and rule.check.startswith("memory.")})


def config(command: str, release: str, gpu: str | None = "h100", count: int | None = None) -> Config:
    launch = servelint.find_launches(command + "\n", filename="run.sh")[0]
    launch.gpu, launch.gpu_count = gpu, count
    return configs(launch, [release])[0]


def remedy(check: str, launch: Config) -> str:
    said = run_check(check, launch)
    assert said is not None
    return said["remedy"]


def test_a_shorter_length_that_certainly_fits_is_named() -> None:
    argv = "meta-llama/Llama-3.3-70B-Instruct --tensor-parallel-size 2 --gpu-memory-utilization 0.92"
    launch = config(VLLM + argv, "0.19.1", count=2)
    said = run_check("memory.too_long", launch)
    assert said is not None
    assert (said["where"], said["length"], said["need"]) == ("2 x h100", "131072", "20.0")  # 80 layers of 2 * 4 * 128 * 2 bytes
    length = said["remedy"].split()[1]
    other = servelint.plan_memory(
        "vllm",
        [*argv.split(), "--max-model-len", length],
        version="0.19.1",
        gpu="h100",
        gpu_count=2,
    )
    assert other.verdict == "fits"


def test_a_fraction_that_leaves_more_memory_is_smaller_than_the_given_one() -> None:
    launch = config(VLLM + "Qwen/Qwen3-8B --gpu-memory-utilization 0.6", "0.19.1")
    found = memory._with_less(launch, ("0.95", "0.6", "0.5"))
    assert found == "--gpu-memory-utilization 0.5 leaves room, and 22.0 GiB for the KV cache"
    assert memory._with_less(launch, ("0.95", "0.1")) is None


def test_more_ranks_are_named_where_the_gpus_are_there() -> None:
    launch = config(SGLANG + "meta-llama/Llama-3.3-70B-Instruct", "0.5.9", count=4)
    assert remedy("memory.refused", launch).startswith("--tp-size 4 leaves ")
    launch = config(SGLANG + "meta-llama/Llama-3.3-70B-Instruct", "0.5.9")
    assert remedy("memory.refused", launch).startswith("use more or larger GPUs")


def test_more_ranks_are_not_named_where_replicas_take_the_gpus() -> None:
    command = VLLM + "meta-llama/Llama-3.3-70B-Instruct"
    assert "--tensor-parallel-size 4 leaves " in remedy("memory.refused", config(command, "0.19.1", count=8))
    # 4 replicas of 2 GPUs are too small as well
    assert remedy("memory.refused", config(command + " --data-parallel-size 4", "0.19.1", count=4)).startswith(
        "--tensor-parallel-size 4 --data-parallel-size 1 leave "
    )
    full = remedy("memory.refused", config(command + " --data-parallel-size 8", "0.19.1", count=8))
    assert full.startswith("--tensor-parallel-size 4 --data-parallel-size 2 leave ")
    # with pipelines it is not known what the replicas leave
    staged = command + " --data-parallel-size 2 --pipeline-parallel-size 2"
    assert "--data-parallel-size" not in remedy("memory.refused", config(staged, "0.19.1", gpu="l4", count=4))


def test_a_hybrid_model_whose_drafts_leave_no_slot_is_told_so() -> None:
    launch = config(SGLANG + "Qwen/Qwen3.6-27B --speculative-algorithm NEXTN", "0.5.23")
    said = run_check("memory.refused", launch)
    assert said is not None
    assert said["reason"] == "no room is left for the states of one running request"
    assert said["remedy"].startswith("--mem-fraction-static 0.85 leaves ")


def test_a_fraction_that_is_not_free_is_told_so() -> None:
    said = run_check("memory.refused", config(VLLM + "Qwen/Qwen3-8B --gpu-memory-utilization 0.99", "0.33.0", "rtx-4090"))
    assert said is not None
    assert "more than an empty GPU" in said["reason"]


def test_what_fewer_sequences_buy_is_told() -> None:
    launch = config(VLLM + "Qwen/Qwen3-30B-A3B --max-num-seqs 1024 --max-model-len 8192", "0.14.0")
    assert remedy("memory.sequences", launch).startswith("--max-num-seqs 64 frees ")
    assert remedy("memory.sequences", launch).endswith("x the KV cache")


@together("fits, pool, said", [(1, 90.0, 1), (2, 90.0, 2), (64, 90.0, 64), (64, 64.0, 48), (64, 1.0, None), (0, 90.0, None)])
def test_the_largest_number_of_sequences_that_fits(
    fits: int, pool: float, said: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(_: Config, change: tuple[str, str]) -> Any:
        return SimpleNamespace(verdict="fits" if int(change[1]) <= fits else "refused")

    monkeypatch.setattr(memory, "changed", changed)
    plan: Any = SimpleNamespace(state_pool=SimpleNamespace(low=pool), sequences=1024)
    expected = f"write --max-num-seqs {said}, which fits" if said is not None else None
    assert memory._enough(None, plan) == expected  # type: ignore[arg-type]


def test_what_fewer_tokens_buy_is_told() -> None:
    launch = config(VLLM + "Qwen/Qwen3-14B --max-num-batched-tokens 32768 --max-model-len 8192", "0.19.1", "a100-40gb")
    assert remedy("memory.batched_tokens", launch).startswith("--max-num-batched-tokens 8192 frees ")


def test_a_fraction_that_leaves_room_for_graphs_is_named() -> None:
    launch = config(SGLANG + "Qwen/Qwen3-32B --mem-fraction-static 0.99", "0.5.23")
    assert remedy("memory.after_pools", launch).startswith("--mem-fraction-static 0.92 leaves room")


def test_a_fraction_that_leaves_graphs_their_room_is_named() -> None:
    launch = config(VLLM + "Qwen/Qwen3-8B --gpu-memory-utilization 0.99 --max-model-len 8192", "0.19.1", "rtx-5090")
    assert run_check("memory.no_graphs", launch) == {
        "where": "rtx-5090",
        "left": "0.31",
        "need": "0.40",
        "remedy": "--gpu-memory-utilization 0.95 leaves room, and 13.1 GiB for the KV cache",
    }


def test_a_context_that_the_pool_holds_is_named() -> None:
    launch = config(SGLANG + "Qwen/Qwen3-32B --context-length 40960", "0.5.23")
    assert remedy("memory.one_request", launch).startswith("write --context-length 1")


@pytest.mark.parametrize(
    ("command", "release"),
    [
        (VLLM + "meta-llama/Llama-3.3-70B-Instruct", "0.19.1"),
        (
            SGLANG + "Qwen/Qwen3.6-27B --speculative-algorithm NEXTN --mem-fraction-static 0.82 --context-length 262144",
            "0.5.23",
        ),
        (VLLM + "Qwen/Qwen3-30B-A3B --max-num-seqs 1024 --max-model-len 8192", "0.14.0"),
    ],
)
@pytest.mark.parametrize("check", MEMORY)
def test_nothing_is_said_where_something_is_not_known(command: str, release: str, check: str) -> None:
    assert run_check(check, config(command, release, gpu=None)) is None
    assert run_check(check, config(command + " $MORE", release)) is None
    model = next(word for word in command.split() if "/" in word)
    assert run_check(check, config(command.replace(model, "./a-model-of-our-own"), release)) is None


def test_a_launch_that_fits_is_left_alone() -> None:
    for launch in (
        config(VLLM + "Qwen/Qwen3-8B", "0.33.0"),
        config(SGLANG + "Qwen/Qwen3-8B", "0.5.23"),
        config(SGLANG + "deepseek-ai/DeepSeek-V3 --tp 8", "0.5.23", "h200", 8),
    ):
        assert [check for check in MEMORY if run_check(check, launch)] == []


def test_memory_is_not_imported_where_no_gpu_is_named() -> None:
    script = (
        "import sys, servelint\n"
        "servelint.check_command('vllm', ['meta-llama/Llama-3.3-70B-Instruct'], '0.19.1')\n"
        "print([name for name in sys.modules if name.startswith('servelint.memory')])"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_what_multi_token_prediction_costs_a_hybrid_model_is_told() -> None:
    drafts = """--speculative-config '{"method":"mtp","num_speculative_tokens":2}'"""
    command = VLLM + "Qwen/Qwen3.6-35B-A3B-FP8 --gpu-memory-utilization 0.5 --max-model-len 131072 " + drafts
    said = run_check("memory.padding", config(command, "0.19.1", "gb10"))
    assert said is not None
    assert (said["more"], said["length"], said["gain"]) == ("10", "131072", "1.2x")
    assert said.keys() == {"where", "more", "length", "requests", "plain", "gain"}


def test_a_number_of_bytes_that_fits_is_named() -> None:
    launch = config(VLLM + "Qwen/Qwen3-8B --kv-cache-memory-bytes 8G", "0.19.1", "rtx-4090")
    assert remedy("memory.kv_bytes", launch) == f"write --kv-cache-memory-bytes {6 * 2**30} (6 GiB), which fits"
