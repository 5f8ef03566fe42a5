"""What the memory of a vLLM launch takes from its settings, and what of them it does not know."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from servelint.engines.config import configs
from servelint.memory.plan import GIB
from servelint.memory.vllm.footprint import sampler_gib
from servelint.memory.vllm.settings import ReleaseRules, VllmSettings
from servelint.models.architecture import find
from tests.launching import launch_in
from tests.memory.planning import speculating
from tests.together import together

DENSE, MIXTURE, HYBRID = "Qwen/Qwen3-8B", "Qwen/Qwen3-30B-A3B", "Qwen/Qwen3.6-27B"
SEEN = "Qwen/Qwen2.5-VL-7B-Instruct"


def settings(
    words: str = "", release: str = "0.33.0", gpu: str | None = "h100", model: str = DENSE, **env: str
) -> VllmSettings:
    given = " ".join([f"{name}={shlex.quote(value)}" for name, value in env.items()])
    launch = launch_in(f"{given} vllm serve {model} {words}\n", "run.sh")
    launch.gpu, launch.gpu_count = gpu, 8
    (config,) = configs(launch, [release])
    return VllmSettings(config, find(model))


@together(
    "words, name, value, missing",
    [
        ("", "tensor", 1, []),
        ("--tensor-parallel-size 4", "tensor", 4, []),
        ("-pp 2", "pipeline", 2, []),
        ("-dp 3", "data", 3, []),
        ("--tensor-parallel-size 4096", "tensor", 4096, []),
        ("--tensor-parallel-size 4097", "tensor", 4096, ["--tensor-parallel-size 4097"]),
        ("--tensor-parallel-size 0", "tensor", 1, ["--tensor-parallel-size 0"]),
        ("--tensor-parallel-size $N", "tensor", 1, ["--tensor-parallel-size"]),
        ("-dcp 2 --prefill-context-parallel-size 3", "sharded", 6, []),
        ("--enable-expert-parallel", "expert_parallel", True, []),
        ("", "fraction", 0.92, []),
        ("--gpu-memory-utilization 0.5", "fraction", 0.5, []),
        ("--gpu-memory-utilization 1", "fraction", 1.0, []),
        ("--gpu-memory-utilization 1.1", "fraction", 0.92, ["--gpu-memory-utilization 1.1"]),
        ("--gpu-memory-utilization $U", "fraction", 0.92, ["--gpu-memory-utilization"]),
        ("--kv-cache-memory-bytes 4G", "kv_bytes", 4 << 30, []),
        ("--kv-cache-memory-bytes 0", "kv_bytes", None, ["--kv-cache-memory-bytes 0"]),
        ("--num-gpu-blocks-override 100", "blocks", 100, []),
        ("--cpu-offload-gb 2.5", "offload", 2.5, []),
        ("--cpu-offload-gb -1", "offload", 0.0, ["--cpu-offload-gb -1.0"]),
        ("--kv-cache-dtype fp8", "kv_dtype", "fp8", []),
        ("--kv-cache-dtype $D", "kv_dtype", "auto", ["--kv-cache-dtype"]),
        ("--block-size 32", "block", 32, []),
        ("--block-size None", "block", None, []),
        ("", "length", 40960, []),
        ("--max-model-len 4096", "length", 4096, []),
        ("--max-model-len auto", "length", 40960, []),
        ("--max-model-len -1", "fitted", True, []),
        ("--max-model-len 4096", "fitted", False, []),
        ("--max-model-len $N", "length", 40960, ["--max-model-len"]),
        ("", "adapters", 0, []),
        ("--max-loras 4", "adapters", 0, []),
        ("--enable-lora", "adapters", 1, []),
        ("--enable-lora --max-loras 4", "adapters", 4, []),
        ("--enable-lora", "rank", 16, []),
        ("--enable-lora --max-lora-rank 64", "rank", 64, []),
    ],
)
def test_a_setting(words: str, name: str, value: object, missing: list[str]) -> None:
    found = settings(words)
    assert getattr(found, name) == value
    assert found.missing == missing


@pytest.mark.parametrize(("model", "known"), [(DENSE, True), (MIXTURE, False), (HYBRID, False)])
def test_the_memory_of_adapters_is_known_for_dense_models(model: str, known: bool) -> None:
    missing = settings("--enable-lora", model=model).missing
    assert ("the memory of adapters in layers with experts or states" in missing) is not known
    assert settings("", model=model).missing == []


@together(
    "words, release, gpu, batched, sequences",
    [
        ("", "0.8.3", "l40s", 2048, 1024),
        ("", "0.8.4", "l40s", 2048, 256),
        ("", "0.8.4", "h100", 8192, 1024),
        ("", "0.8.4", "b200", 2048, 256),
        ("", "0.8.5", "a100-80gb", 8192, 1024),
        ("", "0.9.0", "a100-80gb", 2048, 256),
        ("", "0.9.0", "h100", 8192, 1024),
        ("", "0.9.0", "h200", 8192, 1024),
        ("", "0.27.0", "b200", 8192, 1024),
        ("", "0.28.0", "b200", 16384, 1024),
        ("", "0.28.0", "h200", 8192, 1024),
        ("", "0.32.0", "gb10", 2048, 256),
        ("", "0.33.0", "gb10", 2048, 256),
        ("--performance-mode throughput", "0.33.0", "h100", 16384, 2048),
        ("--performance-mode throughput", "0.33.0", "l40s", 4096, 512),
        ("--max-num-batched-tokens 4096", "0.33.0", "h100", 4096, 1024),
        ("--max-num-batched-tokens 512", "0.33.0", "h100", 512, 512),
        ("--max-num-seqs 2048", "0.33.0", "h100", 8192, 2048),
        ("--max-num-batched-tokens 512 --max-num-seqs 600", "0.33.0", "h100", 512, 600),
        ("--max-num-seqs 2 --max-model-len 1000", "0.33.0", "h100", 2000, 2),
        ("--max-num-seqs 2 --max-model-len 1000", "0.11.1", "h100", 2000, 2),
        ("--max-num-seqs 2 --max-model-len 1000", "0.11.0", "h100", 8192, 2),
        ("--no-enable-chunked-prefill", "0.33.0", "h100", 40960, 1024),
        ("--no-enable-chunked-prefill --max-model-len 100", "0.11.0", "h100", 8192, 1024),
    ],
)
def test_the_default_batches_of_a_gpu(words: str, release: str, gpu: str, batched: int, sequences: int) -> None:
    found = settings(words, release, gpu)
    assert (found.batched, found.sequences) == (batched, sequences)


SPEC = "--speculative-config"
SPECULATION = "the speculative method"


@together(
    "words, method, draft, drafts, missing",
    [
        ("", None, None, 0, []),
        (speculating(method="ngram", num_speculative_tokens=4), "ngram", None, 4, []),
        (speculating(method="mtp"), "mtp", None, 1, []),
        (speculating(method="mtp", num_speculative_tokens=0), "mtp", None, 0, []),
        (speculating(method="mtp", num_speculative_tokens=65535), "mtp", None, 65535, []),
        (speculating(method="mtp", num_speculative_tokens=65536), "mtp", None, 0, ["num_speculative_tokens"]),
        (speculating(method="eagle3", model="x/y", num_speculative_tokens=2), "eagle3", "x/y", 2, []),
        (speculating(model="house/draft", num_speculative_tokens=2), None, "house/draft", 2, []),
        ("--spec-method mtp --spec-tokens 2", "mtp", None, 2, []),
        ("--spec-method mtp --spec-tokens $N", "mtp", None, 0, ["num_speculative_tokens"]),
        ('--spec-method "$M" --spec-tokens 2', None, None, 0, ["whether speculative decoding is on"]),
        (f"{SPEC}.method $M {SPEC}.num_speculative_tokens 2", None, None, 2, [SPECULATION]),
        ("--spec-method eagle3 --spec-model a/b --spec-tokens 2", "eagle3", "a/b", 2, []),
        ("--speculative-config $C", None, None, 0, ["whether speculative decoding is on"]),
    ],
)
def test_speculation(words: str, method: str | None, draft: str | None, drafts: int, missing: list[str]) -> None:
    found = settings(words)
    assert (found.method, found.draft, found.drafts, found.missing) == (method, draft, drafts, missing)


@together(
    "words, graphs, captured",
    [
        ("", True, 512),
        ("--enforce-eager", False, 512),
        ("-O0", False, 512),
        ("--optimization-level 0", False, 512),
        ("--optimization-level 1", True, 512),
        ("--compilation-config.cudagraph_mode NONE", False, 512),
        ("--compilation-config.cudagraph_mode FULL", True, 512),
        ("--max-cudagraph-capture-size 64", True, 64),
        ("--compilation-config.max_cudagraph_capture_size 96", True, 96),
        ("--max-cudagraph-capture-size 64 --compilation-config.max_cudagraph_capture_size 96", True, 64),
        ("--cudagraph-capture-sizes 1 8 4", True, 8),
        ("--cudagraph-capture-sizes 1 8 4 --max-cudagraph-capture-size 2", True, 8),
        ("--max-num-seqs 100", True, 200),
        ("--max-num-seqs 100 " + speculating(method="mtp", num_speculative_tokens=1), True, 400),
        ("--max-cudagraph-capture-size 64 --max-num-batched-tokens 32", True, 32),
    ],
)
def test_cuda_graphs(words: str, graphs: bool, captured: int) -> None:
    found = settings(words)
    assert (found.graphs, found.captured) == (graphs, captured)
    assert not found.perhaps_eager


def test_graphs_that_may_be_switched_off() -> None:
    for words in ("$EAGER", "${EAGER:+--enforce-eager}"):
        found = settings(words)
        assert found.perhaps_eager
        assert found.graphs
        assert found.full_graphs is None


@together(
    "captured, largest",
    [
        (1, 1),
        (2, 2),
        (3, 2),
        (5, 4),
        (7, 4),
        (8, 8),
        (15, 8),
        (16, 16),
        (250, 248),
        (255, 248),
        (256, 256),
        (270, 256),
        (300, 288),
    ],
)
def test_the_largest_batch_that_is_captured(captured: int, largest: int) -> None:
    assert settings(f"--max-cudagraph-capture-size {captured}").largest_batch == largest
    assert settings(f"--max-cudagraph-capture-size 512 --max-num-seqs {captured}").largest_batch == largest


@pytest.mark.parametrize(
    ("words", "release", "estimate", "counted"),
    [
        ("", "0.19.0", None, False),
        ("", "0.20.0", None, True),
        ("", "0.20.0", "0", False),
        ("", "0.20.0", " 0 ", False),
        ("", "0.18.0", "1", True),
        ("", "0.17.1", "1", False),
        ("--enforce-eager", "0.20.0", "1", False),
    ],
)
def test_whether_an_estimate_of_the_graphs_is_taken_off(words: str, release: str, estimate: str | None, counted: bool) -> None:
    env = {"VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS": estimate} if estimate is not None else {}
    assert settings(words, release, **env).graphs_counted is counted


MTP, NGRAM = (speculating(method=method, num_speculative_tokens=2) for method in ("mtp", "ngram"))


@together(
    "words, release, gpu, full",
    [
        ("", "0.33.0", "h100", True),
        ("--enforce-eager", "0.33.0", "h100", False),
        ("-O1", "0.33.0", "h100", False),
        ("--compilation-config.cudagraph_mode PIECEWISE", "0.33.0", "h100", False),
        ("--compilation-config.cudagraph_mode FULL", "0.33.0", "h100", True),
        ("--compilation-config.cudagraph_mode $MODE", "0.33.0", "h100", None),
        ("-dcp 2 --tensor-parallel-size 2", "0.33.0", "h100", None),
        ("--kv-transfer-config.kv_connector NixlConnector", "0.33.0", "h100", None),
        (MTP, "0.33.0", "h100", True),
        (MTP, "0.19.1", "h100", None),
        (MTP, "0.20.0", "h100", True),
        (NGRAM, "0.33.0", "h100", None),
        (MTP, "0.33.0", "b200", None),
        (MTP, "0.27.0", "rtx-pro-6000", True),
        (MTP, "0.33.0", "a100-80gb", True),
        (MTP, "0.33.0", "t4", None),
        (MTP, "0.33.0", "mi300x", None),
        (MTP + " --kv-cache-dtype fp8", "0.33.0", "h100", None),
        (MTP + " --kv-cache-dtype bfloat16", "0.33.0", "h100", True),
        (MTP + " --attention-backend FLASH_ATTN", "0.33.0", "h100", None),
    ],
)
def test_whether_decoding_is_captured_as_a_whole(words: str, release: str, gpu: str, full: bool | None) -> None:
    assert settings(words, release, gpu).full_graphs is full


@together(
    "words, release, in_flight",
    [
        ("", "0.25.0", 1),
        ("", "0.26.0", 2),
        ("-pp 2", "0.26.0", 2),
        ("-pp 3", "0.33.0", 3),
        ("--no-async-scheduling", "0.33.0", 1),
        (f"--async-scheduling {NGRAM}", "0.33.0", 2),
        (NGRAM, "0.33.0", 1),
        (MTP, "0.33.0", 2),
        (speculating(method="dflash", model="z-lab/Qwen3-8B-DFlash-b16"), "0.33.0", 2),
        (speculating(method="ngram_gpu", num_speculative_tokens=2), "0.33.0", 2),
        (speculating(method="suffix"), "0.33.0", 1),
        ("--distributed-executor-backend mp", "0.33.0", 2),
        ("--distributed-executor-backend uni", "0.33.0", 2),
        ("--distributed-executor-backend ray", "0.33.0", 1),
    ],
)
def test_the_batches_in_flight(words: str, release: str, in_flight: int) -> None:
    assert settings(words, release).in_flight == in_flight


@pytest.mark.parametrize(
    ("model", "words", "text_only", "images"),
    [
        (DENSE, "", False, False),
        (SEEN, "", False, True),
        (SEEN, "--language-model-only", True, False),
        (SEEN, "--skip-mm-profiling", False, False),
        (SEEN, "--limit-mm-per-prompt.image 0 --limit-mm-per-prompt.video 0", True, False),
        (SEEN, "--limit-mm-per-prompt.image 0", False, True),
    ],
)
def test_the_encoder_of_images(model: str, words: str, text_only: bool, images: bool) -> None:
    found = settings(words, model=model)
    assert (found.text_only, bool(found.images)) == (text_only, images)


@together(
    "words, gpu, env, model, first",
    [
        ("", "h100", {}, DENSE, True),
        ("", "a100-80gb", {}, DENSE, True),
        ("", "t4", {}, DENSE, False),
        ("", "mi300x", {}, DENSE, True),
        ("", "h100", {"VLLM_USE_V1": "1"}, DENSE, True),
        ("", "h100", {"VLLM_USE_V1": "0"}, DENSE, False),
        ("-pp 2", "h100", {}, DENSE, False),
        ("--kv-cache-dtype fp8", "h100", {}, DENSE, False),
        (speculating(method="ngram", num_speculative_tokens=2), "h100", {}, DENSE, False),
        ("", "h100", {}, HYBRID, False),
    ],
)
def test_whether_v1_serves_a_launch_of_an_old_release(
    words: str, gpu: str, env: dict[str, str], model: str, first: bool
) -> None:
    known = find(model)
    assert known is not None
    assert settings(words, "0.9.2", gpu, model, **env).first_engine(known) is first


RULES: dict[str, list[tuple[str, Any]]] = {
    "fraction": [("0.19.1", 0.9), ("0.20.0", 0.92)],
    "graphs_known": [("0.17.1", False), ("0.18.0", True)],
    "widen": [("0.11.2", 1.0), ("0.12.0", 1.25), ("0.17.1", 1.25), ("0.18.0", 1.5)],
    "unify": [("0.11.2", False), ("0.12.0", True)],
    "pad": [("0.25.1", False), ("0.26.0", True)],
    "one_pool": [("0.10.2", False), ("0.11.0", True)],
    "printed": [("0.20.0", False), ("0.20.1", True)],
    "need": [("0.13.0", "layers"), ("0.14.0", "first"), ("0.18.1", "first"), ("0.19.0", "groups")],
    "null_block": [("0.28.0", False), ("0.29.0", True)],
    "context_inside": [("0.9.0", True), ("0.9.1", False)],
    "in_flight": [("0.25.1", False), ("0.26.0", True)],
    "state": [("0.11.0", "one"), ("0.11.1", "length"), ("0.14.1", "length"), ("0.15.0", "mode")],
    "all_mode": [("0.11.0", False), ("0.11.1", True), ("0.31.0", True), ("0.32.0", False)],
    "align": [("0.27.1", False), ("0.28.0", True)],
    "block_as_given": [("0.19.1", False), ("0.20.0", True)],
    "mla_128": [("0.26.0", False), ("0.27.0", True)],
    "mamba2_drafts": [("0.16.0", False), ("0.17.0", True)],
    "fp8_of_model": [("0.13.0", False), ("0.14.0", True)],
    "sequences": [("0.10.2", ""), ("0.11.0", "captured"), ("0.17.1", "captured"), ("0.18.0", ""), ("0.20.0", "all")],
}


@together("name", list(RULES))
def test_the_arithmetic_of_a_release(name: str) -> None:
    assert [(release, getattr(ReleaseRules(release), name)) for release, _ in RULES[name]] == RULES[name]


@pytest.mark.parametrize(
    ("release", "held"),
    [("0.11.0", 0), ("0.11.1", 8), ("0.13.0", 8), ("0.14.0", 12), ("0.16.0", 12), ("0.17.0", 16), ("0.28.0", 16)],
)
def test_the_rejection_sampler_holds_bytes_for_each_logit(release: str, held: int) -> None:
    """Source: RejectionSampler.forward and sample_recovered_tokens in vllm/v1/sample/rejection_sampler.py."""
    model = find(HYBRID)
    assert model is not None
    words = "--max-num-seqs 1024 --max-num-batched-tokens 8192"
    plain, drafts = (settings(f"{words} {more}", release, model=HYBRID) for more in ("", MTP))
    difference = sampler_gib(drafts, model).mid - sampler_gib(plain, model).mid
    assert difference == pytest.approx(held * 1024 * model.vocab / GIB)
