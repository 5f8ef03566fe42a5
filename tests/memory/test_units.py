"""GiB, tokens, bytes and requests of a plan say the same thing, whatever the launch, in both engines."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import servelint
from servelint.memory.plan import GIB, MemoryPlan

QUICK = settings(max_examples=25, deadline=None)
LENGTH = {"vllm": "--max-model-len", "sglang": "--context-length"}
RANKS = {"vllm": "--tensor-parallel-size", "sglang": "--tp-size"}
FRACTION = {"vllm": "--gpu-memory-utilization", "sglang": "--mem-fraction-static"}
RELEASES = {
    "vllm": ["0.10.0", "0.11.2", "0.14.1", "0.17.1", "0.19.1", "0.20.0", "0.26.0", "0.33.0"],
    "sglang": ["0.4.6", "0.5.2", "0.5.7", "0.5.10", "0.5.14", "0.5.23"],
}
BY_REQUESTS = ("0.26.0", "0.33.0")
"""Releases of vLLM that print requests x their length for tokens: from 0.20.1."""
MODELS = {"Qwen/Qwen3-8B": (36, 8, 128), "meta-llama/Llama-3.1-8B-Instruct": (32, 8, 128), "Qwen/Qwen3-32B": (64, 8, 128)}
"""model -> its layers, its heads of keys and values, and their size, as its config.json has them"""


def planned(engine: str, model: str, release: str | None, length: int, ranks: int, fraction: int) -> MemoryPlan:
    words = [model] if engine == "vllm" else ["--model-path", model]
    words += [LENGTH[engine], str(length), RANKS[engine], str(ranks), FRACTION[engine], str(fraction / 100)]
    return servelint.plan_memory(engine, words, version=release, gpu="b200", gpu_count=8)


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@QUICK
@given(data=st.data())
def test_tokens_are_bytes_divided_by_a_token_s(engine: str, data: st.DataObject) -> None:
    release = data.draw(st.sampled_from(RELEASES[engine]))
    model = data.draw(st.sampled_from(sorted(MODELS)))
    length, ranks = data.draw(st.integers(8192, 40_000)), data.draw(st.sampled_from([1, 2, 4, 8]))
    plan = planned(engine, model, release, length, ranks, data.draw(st.integers(60, 90)))
    layers, heads, size = MODELS[model]
    token = 2 * layers * heads // ranks * size * 2
    assert plan.kv_gib is not None
    assert plan.need_gib is not None
    assert plan.kv_tokens is not None
    assert plan.max_concurrency is not None
    blocks = 16 * (plan.kv_gib.mid * GIB // (16 * token)) if engine == "vllm" else plan.kv_gib.mid * GIB / token
    asked = -(-length // 16) * 16 if engine == "vllm" else length
    assert plan.need_gib == pytest.approx(asked * token / GIB)
    assert plan.max_concurrency == pytest.approx(blocks / asked, rel=1e-6)
    printed = int(plan.max_concurrency * length) if release in BY_REQUESTS else blocks
    assert plan.kv_tokens == pytest.approx(printed, abs=1)


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@QUICK
@given(data=st.data())
def test_the_parts_are_the_engine_s_share(engine: str, data: st.DataObject) -> None:
    """What lies within the fraction adds up to it; in SGLang to what it leaves of the memory that is free."""
    release = data.draw(st.sampled_from(RELEASES[engine]))
    fraction = data.draw(st.integers(60, 90))
    plan = planned(engine, "Qwen/Qwen3-8B", release, 8192, data.draw(st.sampled_from([1, 2])), fraction)
    assert plan.gpu_gib is not None
    assert plan.budget_gib is not None
    inside = sum(part.gib.mid for part in plan.parts if part.inside)
    if engine == "vllm":
        assert plan.budget_gib == pytest.approx(fraction / 100 * plan.gpu_gib)
        assert inside == pytest.approx(plan.budget_gib)
    else:
        assert inside <= plan.budget_gib <= fraction / 100 * plan.gpu_gib + 1e-6


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@pytest.mark.parametrize("model", sorted(MODELS))
def test_without_a_release_the_interval_holds_each_release_s(engine: str, model: str) -> None:
    over = planned(engine, model, None, 8192, 1, 80)
    assert over.kv_gib is not None
    for release in over.releases:
        one = planned(engine, model, release, 8192, 1, 80)
        assert one.kv_gib is not None
        assert over.kv_gib.low <= one.kv_gib.low <= one.kv_gib.high <= over.kv_gib.high
