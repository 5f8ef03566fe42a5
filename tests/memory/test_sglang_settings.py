"""What the memory of an SGLang launch takes from its settings, release by release."""

from __future__ import annotations

import dataclasses
import shlex
from typing import Any

import pytest

from servelint.engines.config import configs
from servelint.memory.plan import Release
from servelint.memory.sglang.settings import Lora, SglangSettings, Speculation, read
from tests.launching import launch_in
from tests.together import together

LLAMA, QWEN = "meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-8B"
NEWEST = "0.5.23"


def settings(words: str = "", release: str = NEWEST, model: str = QWEN, **env: str) -> SglangSettings:
    given = " ".join([f"{name}={shlex.quote(value)}" for name, value in env.items()])
    launch = launch_in(f"{given} python -m sglang.launch_server --model-path {model} {words}\n", "run.sh")
    (config,) = configs(launch, [release])
    return read(config, Release(release))


PLAIN = dataclasses.asdict(settings())


def test_without_options() -> None:
    found = settings()
    assert found == SglangSettings(
        requests=found.requests, state_share=found.state_share, radix=True, overlap=True, prefill_graphs=found.prefill_graphs
    )
    assert (found.kv_dtype, found.strategy, found.node, found.prefill) == ("auto", "auto", "null", 16384)


@together(
    "words, changed",
    [
        ("--tp 4", {"tp": 4}),
        ("--pp-size 2", {"pp": 2}),
        ("--tp 4 --ep-size 2", {"tp": 4, "ep": 2}),
        ("--dp-size 2", {"data_parallel": 2}),
        ("--mem-fraction-static 0.8", {"fraction": 0.8}),
        ("--mem-fraction-static $F", {"unknown": ["mem-fraction-static"]}),
        ("--kv-cache-dtype fp8_e5m2", {"kv_dtype": "fp8_e5m2"}),
        ("--page-size 64", {"page": 64}),
        ("--max-total-tokens 1000", {"limit": 1000}),
        ("--max-running-requests 8", {"requests": 8}),
        ("--chunked-prefill-size 4096", {"chunk": 4096}),
        ("--max-prefill-tokens 1024", {"prefill": 1024}),
        ("--disable-radix-cache", {"radix": False}),
        ("--disable-overlap-schedule", {"overlap": False}),
        ("--max-mamba-cache-size 12", {"slots": 12}),
        ("--mamba-full-memory-ratio 0.5", {"state_share": 0.5}),
        ("--mamba-ssm-dtype bfloat16", {"ssm_dtype": "bfloat16"}),
        ("--mamba-scheduler-strategy extra_buffer", {"strategy": "extra_buffer"}),
        ("--swa-full-tokens-ratio 0.25", {"window_share": 0.25}),
        ("--disable-hybrid-swa-memory", {"window_pool": False}),
        ("--context-length 4096", {"context": 4096}),
        ("--disaggregation-mode prefill", {"node": "prefill"}),
        ("--cpu-offload-gb 4", {"offload": 4.0}),
        ("--moe-a2a-backend deepep", {"deepep": True, "dispatch": "deepep"}),
        ("--moe-a2a-backend mooncake", {"dispatch": "mooncake"}),
        ("--moe-runner-backend triton", {"experts": "triton"}),
        ("--quantization fp8", {"quantization": "fp8"}),
        ("--enable-lora", {"lora": Lora(8, None, ())}),
        (
            "--enable-lora --max-loras-per-batch 2 --max-lora-rank 64 --lora-target-modules q_proj k_proj",
            {"lora": Lora(2, 64, ("q_proj", "k_proj"))},
        ),
        ("--lora-paths a=b", {"lora": Lora(8, None, ())}),
        ("--max-lora-rank 64", {}),
        ("--disable-cuda-graph", {"decode_graphs": False, "prefill_graphs": False}),
        ("--cuda-graph-backend-prefill disabled", {"prefill_graphs": False}),
        ("--enable-pdmux", {"special": ["--enable-pdmux"]}),
        ("--json-model-override-args '{}'", {"special": ["--json-model-override-args"]}),
        ("--offload-group-size 2", {"special": ["--offload-group-size"]}),
        ("--offload-group-size 0", {}),
        ("--offload-group-size -1", {}),
        ("--port 80", {}),
        ("--port $PORT", {}),
    ],
)
def test_an_option(words: str, changed: dict[str, Any]) -> None:
    found = settings(words)
    assert {name: getattr(found, name) for name in PLAIN if getattr(found, name) != getattr(settings(), name)} == changed


@together(
    "env, changed",
    [
        ({"SGLANG_MAMBA_SSM_DTYPE": "float16"}, {"ssm_dtype": "float16"}),
        ({"SGLANG_MAMBA_CONV_DTYPE": "float16"}, {"conv_dtype": "float16"}),
        ({"SGLANG_DSV4_COMPRESS_STATE_DTYPE": "bfloat16"}, {"states16": True}),
        ({"SGLANG_DSV4_COMPRESS_STATE_DTYPE": "bf16"}, {"states16": True}),
        ({"SGLANG_DSV4_COMPRESS_STATE_DTYPE": "float32"}, {}),
        *[
            ({name: "1"}, {"special": [name]})
            for name in (
                "SGLANG_ENABLE_POST_CAPTURE_KV_SIZING", "SGLANG_PP_LAYER_PARTITION", "SGLANG_CI_SMALL_KV_SIZE",
                "SGLANG_OPT_MAMBA_SKIP_DECODE_LOCK", "SGLANG_VLM_CACHE_SIZE_MB", "SGLANG_DSV4_KV_LAYOUT",
                "SGLANG_OPT_USE_ONLINE_COMPRESS",
            )
        ],
        ({"SGLANG_OPT_USE_ONLINE_COMPRESS": "false"}, {}),
        ({"SGLANG_DSV4_KV_LAYOUT": "v4"}, {}),
        ({"SGLANG_VLM_CACHE_SIZE_MB": "100"}, {}),
        ({"SGLANG_SOMETHING": "1"}, {}),
    ],
)  # fmt: skip
def test_a_variable(env: dict[str, str], changed: dict[str, Any]) -> None:
    found = settings(**env)
    assert {name: getattr(found, name) for name in PLAIN if getattr(found, name) != getattr(settings(), name)} == changed


EAGLE = "--speculative-algorithm EAGLE --speculative-draft-model-path a/b"
BLOCKS = EAGLE.replace("EAGLE", "DFLASH")
STEPS, TOKENS = f"{EAGLE} --speculative-num-steps 5", "--speculative-num-draft-tokens"


@together(
    "words, release, model, expected",
    [
        ("", NEWEST, QWEN, None),
        (EAGLE, NEWEST, QWEN, Speculation("EAGLE", "a/b", 3, 1, 4)),
        (EAGLE, NEWEST, LLAMA, Speculation("EAGLE", "a/b", 5, 4, 8)),
        (EAGLE, "0.4.4", QWEN, Speculation("EAGLE", "a/b", 5, 4, 8)),
        (EAGLE, "0.4.4.post4", QWEN, Speculation("EAGLE", "a/b", 3, 1, 4)),
        (f"{EAGLE} --speculative-num-steps 5", NEWEST, LLAMA, Speculation("EAGLE", "a/b", 5, 1, 6)),
        (
            f"{STEPS} --speculative-eagle-topk 1 {TOKENS} 9", NEWEST, QWEN,
            Speculation("EAGLE", "a/b", 5, 1, 6),
        ),
        (
            f"{STEPS} --speculative-eagle-topk 1 {TOKENS} 9", "0.4.4.post4", QWEN,
            Speculation("EAGLE", "a/b", 5, 1, 9),
        ),
        (
            f"{STEPS} --speculative-eagle-topk 2 {TOKENS} 9", NEWEST, QWEN,
            Speculation("EAGLE", "a/b", 5, 2, 9),
        ),
        (
            f"{EAGLE} --speculative-num-steps 5 --speculative-eagle-topk 2", NEWEST, QWEN,
            Speculation("EAGLE", "a/b", 5, 2, 6),
        ),
        ("--speculative-algorithm NGRAM", NEWEST, QWEN, Speculation("NGRAM", None, 1, 1, 12)),
        ("--speculative-algorithm NGRAM --speculative-num-draft-tokens 4", NEWEST, QWEN, Speculation("NGRAM", None, 1, 1, 4)),
        (EAGLE.replace("EAGLE", "STANDALONE"), NEWEST, LLAMA, Speculation("STANDALONE", "a/b", 3, 1, 4)),
        (BLOCKS, NEWEST, QWEN, Speculation("DFLASH", "a/b", 1, 1, 16)),
        (f"{BLOCKS} {TOKENS} 8", NEWEST, QWEN, Speculation("DFLASH", "a/b", 1, 1, 8)),
    ],
)  # fmt: skip
def test_speculation(words: str, release: str, model: str, expected: Speculation | None) -> None:
    assert settings(words, release, model).speculation == expected


@pytest.mark.parametrize(
    ("words", "release", "requests"),
    [
        (EAGLE, "0.4.3.post2", None),
        (EAGLE, "0.4.3.post3", 32),
        (EAGLE, "0.4.4.post4", 32),
        (EAGLE, "0.4.5", 48),
        (EAGLE, NEWEST, 48),
        ("--speculative-algorithm NGRAM", NEWEST, 48),
        (f"{EAGLE} --max-running-requests 7", NEWEST, 7),
    ],
)
def test_the_running_requests_with_drafts(words: str, release: str, requests: int | None) -> None:
    assert settings(words, release).requests == requests


@pytest.mark.parametrize(
    ("words", "release", "graphs"),
    [
        ("", "0.5.9", False),
        ("", "0.5.10", None),
        ("--enable-piecewise-cuda-graph", "0.5.9", True),
        ("--disable-piecewise-cuda-graph", "0.5.10", False),
        ("--enforce-piecewise-cuda-graph", "0.5.10", True),
        ("--disable-cuda-graph", "0.5.10", False),
    ],
)
def test_the_graphs_of_prefills(words: str, release: str, graphs: bool | None) -> None:
    assert settings(words, release).prefill_graphs is graphs


def test_the_largest_batch_and_the_states_of_old_releases() -> None:
    assert (settings("--cuda-graph-max-bs 16", "0.5.9").batch, settings().batch) == (16, None)
    assert (settings("", "0.5.8").ssm_dtype, settings("", "0.5.9").ssm_dtype) == ("float32", None)


@pytest.mark.parametrize(
    ("words", "release", "replicas"),
    [
        ("--tp 4 --enable-dp-attention", "0.4.4", 4),
        ("--tp 4", "0.4.4", 1),
        ("--tp 4 --dp-size 2 --enable-dp-attention", NEWEST, 2),
        ("--tp 4 --dp-size 2", NEWEST, 1),
        ("--tp 4 --dp-size 4 --enable-dp-attention", NEWEST, 4),
    ],
)
def test_the_replicas_of_attention(words: str, release: str, replicas: int) -> None:
    assert settings(words, release).replicas == replicas
