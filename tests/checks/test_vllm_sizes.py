"""Checks that compare numbers of a vLLM launch: at their limits, and where one of them is not known."""

from __future__ import annotations

import pytest

import servelint
from servelint.engines.config import Config, configs
from servelint.judge.checks import run_check

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"  # 32 attention heads, 8 key-value heads, 131072 tokens


def config(command: str, env: str = "", release: str = "0.33.0") -> Config:
    launches = servelint.find_launches(f"{env} vllm serve {command}\n", filename="run.sh")
    return configs(launches[0], [release])[0]


@pytest.mark.parametrize(
    ("check", "holds", "does_not"),
    [
        (
            "vllm_batched_tokens",
            "m --max-num-batched-tokens 255 --max-num-seqs 256",
            "m --max-num-batched-tokens 256 --max-num-seqs 256",
        ),
        (
            "vllm_unchunked_batch",
            "m --max-num-batched-tokens 8191 --max-model-len 8192",
            "m --max-num-batched-tokens 8192 --max-model-len 8k",
        ),
        ("vllm_model_len", f"{LLAMA} --max-model-len 131073", f"{LLAMA} --max-model-len 131072"),
        ("vllm_attention_heads", f"{LLAMA} -tp 5", f"{LLAMA} -tp 16"),
        ("vllm_cpu_loras", "m --max-loras 4 --max-cpu-loras 3", "m --max-loras 4 --max-cpu-loras 4"),
        ("vllm_context_parallel", f"{LLAMA} -tp 8 -dcp 2", f"{LLAMA} -tp 16 -dcp 2"),
        ("vllm_context_parallel", "m -tp 8 -dcp 3", "m -tp 8 -dcp 4"),
        ("vllm_nodes", "m -tp 4 -pp 2 --nnodes 3", "m -tp 4 -pp 2 --nnodes 4"),
        ("vllm_nodes", "m -tp 8 --nnodes 2 --node-rank 2", "m -tp 8 --nnodes 2 --node-rank 1"),
        (
            "vllm_draft_slots",
            "m --speculative-config.num_speculative_tokens 9",
            "m --speculative-config.num_speculative_tokens 8",
        ),
        (
            "vllm_draft_slots",
            "m --speculative-config.num_speculative_tokens 5 --max-num-seqs 64 --max-num-batched-tokens 256",
            "m --speculative-config.num_speculative_tokens 5 --max-num-seqs 64 --max-num-batched-tokens 257",
        ),
        ("vllm_sampling_shards", "m -tp 4 --max-num-seqs 3", "m -tp 4 --max-num-seqs 4"),
        ("vllm_model_option", "--model m", "m"),
        ("vllm_online_fp8", f"{LLAMA}", "Qwen/Qwen3-8B-FP8"),
    ],
)
def test_at_the_limit(check: str, holds: str, does_not: str) -> None:
    assert run_check(check, config(holds)) is not None
    assert run_check(check, config(does_not)) is None


@pytest.mark.parametrize(
    ("check", "command"),
    [
        ("vllm_batched_tokens", "m --max-num-batched-tokens 1 --max-num-seqs $SEQS"),
        ("vllm_model_len", "$MODEL --max-model-len 999999999"),
        ("vllm_attention_heads", f"{LLAMA} -tp $TP"),
        ("vllm_cpu_loras", "m --max-cpu-loras 0 $MORE"),
        ("vllm_context_parallel", f"{LLAMA} -dcp 3 $MORE"),
        ("vllm_nodes", "m -tp 8 --nnodes 3 $MORE"),
        ("vllm_draft_slots", "m --speculative-config.num_speculative_tokens 20 $MORE"),
        ("vllm_sampling_shards", "m $MORE"),
    ],
)
def test_unknown_is_not_a_misfit(check: str, command: str) -> None:
    assert run_check(check, config(command)) is None


def test_ranks_and_gpus() -> None:
    two = "CUDA_VISIBLE_DEVICES=0,1"
    assert run_check("vllm_world_size", config("m -tp 2 -pp 2", two)) == {"size": "4"}
    assert run_check("vllm_world_size", config("m -tp 2", two)) is None
    assert run_check("vllm_world_size", config("m -tp 2")) is None
    assert run_check("vllm_replicas", config("m -dp 3", two)) == {"size": "3"}
    assert run_check("vllm_replicas", config("m -dp 2", two)) is None
