"""Rules that compare numbers of a vLLM launch: at their limits, and where one of them is not known."""

from __future__ import annotations

import servelint
from servelint.engines.config import Config, configs
from tests.judging import fields, holds
from tests.together import together

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"  # 32 attention heads, 8 key-value heads, 131072 tokens

DFLASH = "--speculative-config.method dflash --speculative-config.num_speculative_tokens"


def config(command: str, env: str = "", release: str = "0.33.0") -> Config:
    launches = servelint.find_launches(f"{env} vllm serve {command}\n", filename="run.sh")
    return configs(launches[0], [release])[0]


@together(
    "rule, bad, good",
    [
        (
            "vllm/batched-tokens-below-requests",
            "m --max-num-batched-tokens 255 --max-num-seqs 256",
            "m --max-num-batched-tokens 256 --max-num-seqs 256",
        ),
        (
            "vllm/unchunked-prefill-too-small",
            "m --no-enable-chunked-prefill --max-num-batched-tokens 8191 --max-model-len 8192",
            "m --no-enable-chunked-prefill --max-num-batched-tokens 8192 --max-model-len 8k",
        ),
        (
            "vllm/compile-sizes-misfit",
            "m -cc '{\"compile_ranges_endpoints\":[0]}'",
            "m -cc '{\"compile_ranges_endpoints\":[1]}'",
        ),
        ("vllm/compile-sizes-misfit", 'm -cc \'{"compile_sizes":["1"]}\'', "m -cc '{\"compile_sizes\":[-1]}'"),
        ("vllm/model-len-above-model", f"{LLAMA} --max-model-len 131073", f"{LLAMA} --max-model-len 131072"),
        ("vllm/heads-not-divisible", f"{LLAMA} -tp 5", f"{LLAMA} -tp 16"),
        (
            "vllm/cpu-loras-below-loras",
            "m --enable-lora --max-loras 4 --max-cpu-loras 3",
            "m --enable-lora --max-loras 4 --max-cpu-loras 4",
        ),
        ("vllm/context-parallel-misfit", f"{LLAMA} -tp 8 -dcp 2", f"{LLAMA} -tp 16 -dcp 2"),
        ("vllm/context-parallel-misfit", "m -tp 8 -dcp 3", "m -tp 8 -dcp 4"),
        ("vllm/nodes-do-not-divide-ranks", "m -tp 4 -pp 2 --nnodes 3", "m -tp 4 -pp 2 --nnodes 4"),
        ("vllm/nodes-do-not-divide-ranks", "m -tp 8 --nnodes 2 --node-rank 2", "m -tp 8 --nnodes 2 --node-rank 1"),
        (
            "vllm/dflash-takes-every-slot",
            f"m {DFLASH} 9",
            f"m {DFLASH} 8",
        ),
        (
            "vllm/dflash-takes-every-slot",
            f"m {DFLASH} 5 --max-num-seqs 64 --max-num-batched-tokens 256",
            f"m {DFLASH} 5 --max-num-seqs 64 --max-num-batched-tokens 257",
        ),
        (
            "vllm/batch-sharded-sampling-misfit",
            "m --enable-batch-sharded-sampling -tp 4 --max-num-seqs 3",
            "m --enable-batch-sharded-sampling -tp 4 --max-num-seqs 4",
        ),
        ("vllm/serve-model-option", "--model m", "m"),
        ("vllm/online-fp8-renamed", f"{LLAMA} -q fp8", "Qwen/Qwen3-8B-FP8 -q fp8"),
    ],
)
def test_at_the_limit(rule: str, bad: str, good: str) -> None:
    release = "0.27.1" if rule == "vllm/dflash-takes-every-slot" else "0.33.0"
    assert holds(rule, config(bad, release=release))
    assert not holds(rule, config(good, release=release))


@together(
    "rule, command",
    [
        ("vllm/batched-tokens-below-requests", "m --max-num-batched-tokens 1 --max-num-seqs $SEQS"),
        ("vllm/model-len-above-model", "$MODEL --max-model-len 999999999"),
        ("vllm/heads-not-divisible", f"{LLAMA} -tp $TP"),
        ("vllm/cpu-loras-below-loras", "m --enable-lora --max-cpu-loras 0 $MORE"),
        ("vllm/context-parallel-misfit", f"{LLAMA} -dcp 3 $MORE"),
        ("vllm/nodes-do-not-divide-ranks", "m -tp 8 --nnodes 3 $MORE"),
        (
            "vllm/dflash-takes-every-slot",
            f"m {DFLASH} 20 $MORE",
        ),
        ("vllm/batch-sharded-sampling-misfit", "m --enable-batch-sharded-sampling $MORE"),
    ],
)
def test_unknown_is_not_a_misfit(rule: str, command: str) -> None:
    assert not holds(rule, config(command, release="0.27.1" if rule == "vllm/dflash-takes-every-slot" else "0.33.0"))


def test_ranks_and_gpus() -> None:
    two = "CUDA_VISIBLE_DEVICES=0,1"
    assert fields("vllm/world-size-above-gpus", config("m -tp 2 -pp 2", two)) == {"size": "4"}
    assert fields("vllm/world-size-above-gpus", config("m -tp 2", two)) is None
    assert fields("vllm/world-size-above-gpus", config("m -tp 2")) is None
    assert fields("vllm/data-parallel-above-gpus", config("m -dp 3", two)) == {"size": "3"}
    assert fields("vllm/data-parallel-above-gpus", config("m -dp 2", two)) is None
