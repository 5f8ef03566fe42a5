"""Plans of models whose layers choose tokens by an indexer beside layers with states, and of what AMD's indexer reserves."""

from __future__ import annotations

import pytest

import servelint
from servelint.memory.plan import MemoryPlan

FLASH_NEXT, GLM = "Qwen/Qwen3.8-Flash-Next", "zai-org/GLM-5.3-Flash"
OPTIONS = ("--language-model-only", "--max-model-len", "262144", "--max-num-seqs", "64", "--no-enable-prefix-caching")


def planned(model: str, *options: str, release: str = "0.31.0", gpu: str = "h100-80gb", gpus: int = 8) -> MemoryPlan:
    argv = ["vllm", "serve", model, "--tensor-parallel-size", str(gpus), *options]
    return servelint.plan_memory("vllm", argv, version=release, gpu=gpu, gpu_count=gpus)


def part(plan: MemoryPlan, name: str) -> float:
    return next(one.gib.mid for one in plan.parts if one.name == name)


@pytest.mark.parametrize(("model", "gib", "requests"), [(GLM, 28.73, 9.988), (FLASH_NEXT, 37.37, 11.62)])
def test_requests_are_those_of_the_log(model: str, gib: float, requests: float) -> None:
    """The keys of a pool of tokens share one entry, and the block has room for them beside its page."""
    plan = planned(model, *OPTIONS, "--enable-expert-parallel", "--max-num-batched-tokens", "8192")
    assert plan.kv_gib is not None
    assert plan.max_concurrency is not None
    assert plan.max_concurrency / plan.kv_gib.mid * gib == pytest.approx(requests, rel=0.01)


def test_the_host_keeps_the_table_of_ngrams() -> None:
    before, after, kept = (
        planned(FLASH_NEXT, *OPTIONS, *more, release=release)
        for release, more in (("0.29.0", ()), ("0.31.0", ()), ("0.31.0", ("--engram-config", '{"cpu_offload": false}')))
    )
    assert before.weights_gib is not None
    assert after.weights_gib is not None
    assert before.weights_gib == kept.weights_gib
    assert before.weights_gib - after.weights_gib == pytest.approx(11.9, abs=0.3)  # of eight ranks


TABLE = 320e6 * 160 / 2**30
"""GiB of the table of n-grams at one byte a number: 47.7, as sglang-0.5.20 srt/models/qwen4_exp_ple_table.py says."""


@pytest.mark.parametrize(
    ("model", "release", "fewer"),
    [
        ("Qwen/Qwen3.8-Flash-Next", "0.29.0", 0),
        ("Qwen/Qwen3.8-Flash-Next-FP8", "0.29.0", TABLE),
        ("nvidia/Qwen3.8-Flash-Next-NVFP4", "0.29.0", 0),  # ModelOpt's tables in FP8 are read from 0.30.0 on
        ("nvidia/Qwen3.8-Flash-Next-NVFP4", "0.31.0", TABLE),
    ],
)
def test_the_table_of_ngrams_is_as_the_checkpoint_has_it(model: str, release: str, fewer: float) -> None:
    kept = ("--engram-config", '{"cpu_offload": false}') if release == "0.31.0" else ()
    on_gpu = planned(model, *kept, gpu="b200", gpus=1, release=release).weights_gib
    on_host = planned(model, gpu="b200", gpus=1, release="0.31.0").weights_gib
    assert on_gpu is not None
    assert on_host is not None
    assert on_gpu - on_host == pytest.approx(2 * TABLE - fewer, abs=0.5)


@pytest.mark.parametrize(
    ("words", "gpu", "on_gpu"),
    [
        ((), "rtx-pro-6000", False),
        (("--ple-offload-embedding",), "rtx-pro-6000", False),
        (("--no-ple-offload-embedding",), "rtx-pro-6000", True),
        (("--dtype", "float16"), "rtx-pro-6000", True),
        ((), "gb10", True),  # the host's memory is the GPU's
        (("--ple-offload-backend", "file"), "gb10", False),
        ((), "mi300x", True),
    ],
)
def test_sglang_keeps_the_table_of_ngrams_on_the_host(words: tuple[str, ...], gpu: str, on_gpu: bool) -> None:
    argv = ["python", "-m", "sglang.launch_server", "--model-path", "nvidia/Qwen3.8-Flash-Next-NVFP4", *words]
    found = servelint.plan_memory("sglang", argv, version="0.5.20", gpu=gpu, gpu_count=1).weights_gib
    assert found is not None
    assert (found > 100) is on_gpu


def test_on_amd_the_logits_of_a_batch_are_reserved() -> None:
    """As many as the batch has tokens, for as many keys as the longest request has: a quarter with DeepSeek V4."""
    options = ("--max-model-len", "131072", "--max-num-batched-tokens", "8192")
    found = planned("deepseek-ai/DeepSeek-V4-Pro", *options, gpu="mi300x", release="0.29.0")
    assert part(found, "workspaces") == pytest.approx(1.5)
    assert part(planned("deepseek-ai/DeepSeek-V3.2", *options, gpu="mi300x", release="0.29.0"), "workspaces") == pytest.approx(
        4.5
    )


def test_a_drafter_of_laguna_keeps_all_tokens() -> None:
    drafts = '{"method": "dflash", "model": "poolside/Laguna-XS-2.1-DFlash", "num_speculative_tokens": 7}'
    alone, drafting = (
        planned("poolside/Laguna-XS-2.1", *more, gpu="h200", gpus=1) for more in ((), ("--speculative-config", drafts))
    )
    assert alone.need_gib is not None
    assert drafting.need_gib is not None
    each = 2 * 8 * 128 * 2 * 262144 / 2**30
    assert drafting.need_gib - alone.need_gib > 4.9 * each
