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
