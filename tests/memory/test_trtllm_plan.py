"""TensorRT-LLM's memory plan."""

from __future__ import annotations

import pytest

import servelint
from servelint.memory.plan import FITS, REFUSED, TIGHT, UNKNOWN, MemoryPlan
from tests.together import together


def plan(words: str, gpu: str = "h100", release: str = "1.1.0", gpus: int = 8) -> MemoryPlan:
    return servelint.plan_memory("trtllm", words.split(), version=release, gpu=gpu, gpu_count=gpus)


def test_the_published_cache_of_a_small_model() -> None:
    """A public guide, in BF16 on an H100: "Allocated 68.69 GiB for max tokens in paged KV cache (643136)"."""
    found = plan("Qwen/Qwen3-Reranker-0.6B")
    assert found.kv_gib is not None
    assert found.kv_gib.low < 68.69 < found.kv_gib.high
    assert found.kv_tokens == pytest.approx(643136, rel=0.02)
    assert found.verdict == FITS


def test_bytes_of_a_token() -> None:
    """The README of Dynamo's first worker: 26.91 GiB for 220,480 tokens of an 8B Llama."""
    found = plan("meta-llama/Llama-3.1-8B-Instruct --max_seq_len 220480")
    assert found.need_gib == pytest.approx(26.91, abs=0.01)


def test_a_latent_cache_is_whole_on_each_gpu() -> None:
    """A public test report of 1.3.0rc7: 166.02 GiB for 5,073,376 tokens in FP8, Kimi-K2.5-NVFP4 on 8 B300."""
    words = "nvidia/Kimi-K2.5-NVFP4 --tp_size 8 --max_seq_len 262144"
    found = plan(words + " --kv_cache_dtype fp8", "b300", "1.3.0rc14")
    assert found.kv_gib is not None
    assert found.kv_gib.low < 166.02 < found.kv_gib.high
    assert found.need_gib == pytest.approx(166.02 * 262144 / 5073376, rel=0.001)
    assert plan(words + " --kv_cache_dtype $KV", "b300", "1.3.0rc14").missing == ["kv-cache-dtype"]


@pytest.mark.parametrize(("gpu", "gib"), [("h200", 65.73), ("b200", 97.68)])
def test_the_published_cache_of_a_decode_rank(gpu: str, gib: float) -> None:
    """https://github.com/ai-dynamo/dynamo/pull/9746, the decode worker of Dynamo's recipe for four GPUs."""
    words = (
        "Qwen/Qwen3-235B-A22B-FP8 --tp_size 4 --ep_size 4 --max_batch_size 512 --max_num_tokens 1024 --max_seq_len 8192"
        " --kv_cache_free_gpu_memory_fraction 0.85 --kv_cache_dtype fp8"
    )
    found = plan(words, gpu, "1.3.0rc14", 4)
    assert found.kv_gib is not None
    assert found.kv_gib.low < gib < found.kv_gib.high
    assert found.kv_gib.mid == pytest.approx(gib, rel=0.03)
    assert found.verdict == FITS


def test_the_fraction_and_the_ranks() -> None:
    wide, narrow = plan("Qwen/Qwen3-8B"), plan("Qwen/Qwen3-8B --kv_cache_free_gpu_memory_fraction 0.45")
    assert wide.kv_gib is not None
    assert narrow.kv_gib is not None
    assert narrow.kv_gib.mid == pytest.approx(wide.kv_gib.mid / 2)
    halved = plan("Qwen/Qwen3-32B --tp_size 2")
    assert (halved.verdict, halved.gpu_count) == (FITS, 2)


@together(
    "words, gpu, verdict",
    [
        ("Qwen/Qwen3-32B", "a100-40gb", REFUSED),
        ("Qwen/Qwen3-32B", "h100", TIGHT),
        ("Qwen/Qwen3-8B", "h100", FITS),
        ("Qwen/Qwen3-8B --backend _autodeploy", "h100", UNKNOWN),
        ("deepseek-ai/DeepSeek-V3 --tp_size 8", "h100", TIGHT),
        ("deepseek-ai/DeepSeek-V3 --tp_size 8", "h200", FITS),
        ("./models/a-model-of-our-own", "h100", UNKNOWN),
        ("Qwen/Qwen3-8B --extra_llm_api_options /unknown.yaml", "h100", UNKNOWN),
    ],
)
def test_verdicts(words: str, gpu: str, verdict: str) -> None:
    assert plan(words, gpu).verdict == verdict


def test_older_releases_are_not_planned() -> None:
    assert plan("Qwen/Qwen3-8B", release="0.21.0").missing == ["the arithmetic of releases before 1.0.0"]
