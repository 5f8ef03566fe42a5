"""What SGLang makes of its settings, on each side of the releases where that changed."""

from __future__ import annotations

import pytest

from servelint.core.settings import Settings
from servelint.engines.config import configs
from servelint.files.directives import name_gpus
from tests.launching import launch_in
from tests.together import together


def fact(name: str, script: str, release: str | None = "0.5.12", filename: str = "run.sh") -> object:
    """The value of a fact; "absent" or "unknown" where it has none."""
    operand = configs(launch_in(script, filename), [release] if release is not None else [])[0].operand(f"effective.{name}")
    if operand.present is False:
        return "absent"
    return "unknown" if operand.value is None else operand.value


def serve(words: str) -> str:
    return f"python -m sglang.launch_server --model-path Qwen/Qwen3-8B {words}"


class TestSpeculativeAlgorithm:
    @together(
        "words, release, expected",
        [
            ("--speculative-algorithm NEXTN", "0.4.6", "EAGLE"),
            ("--speculative-algorithm NEXTN", "0.5.23", "EAGLE"),
            ("--speculative-algorithm EAGLE3", "0.5.23", "EAGLE3"),
            # names in lower case are taken from 0.5.12
            ("--speculative-algorithm nextn", "0.5.11", "nextn"),
            ("--speculative-algorithm nextn", "0.5.12", "EAGLE"),
            ("--speculative-algorithm eagle3", "0.5.12", "EAGLE3"),
            ("--speculative-algorithm eagle3", None, "eagle3"),
            ("--speculative-algorithm $ALGORITHM", "0.5.12", "unknown"),
            ("", "0.5.12", "absent"),
            ("$ARGS", "0.5.12", "unknown"),
        ],
    )
    def test_that_runs(self, words: str, release: str | None, expected: str) -> None:
        assert fact("speculative-algorithm", serve(words), release) == expected


class TestSpecV2:
    @together(
        "value, expected",
        [
            ("1", True), ("true", True), ("True", True), ("YES", True), ("y", True),
            ("0", False), ("false", False), ("No", False), ("n", False),
            ("2", "unknown"), ("on", "unknown"), ("''", "unknown"), ("$V2", "unknown"),
        ],
    )  # fmt: skip
    def test_as_sglang_reads_a_boolean(self, value: str, expected: object) -> None:
        assert fact("spec-v2", f"SGLANG_ENABLE_SPEC_V2={value} {serve('')}") == expected

    def test_not_set(self) -> None:
        assert fact("spec-v2", serve("")) == "absent"
        assert fact("spec-v2", f". ./env.sh\n{serve('')}") == "unknown"


class TestMambaStrategy:
    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            ("--mamba-scheduler-strategy extra_buffer", "extra_buffer"),
            ("--mamba-radix-cache-strategy extra_buffer", "extra_buffer"),
            ("--mamba-scheduler-strategy $S", "unknown"),
            ("", "absent"),
            ("$ARGS", "unknown"),
            ("${X:+--mamba-radix-cache-strategy auto}", "unknown"),
        ],
    )
    def test_under_either_name(self, words: str, expected: str) -> None:
        assert fact("mamba-strategy", serve(words)) == expected


class TestRocm:
    @together(
        "script, expected",
        [
            (serve(""), False),
            (f"docker run lmsysorg/sglang:v0.5.9-cu126 {serve('')}", False),
            (f"docker run lmsysorg/sglang:v0.5.9-rocm630-mi30x {serve('')}", True),
            (f"docker run rocm/sgl-dev:v0.5.9 {serve('')}", True),
            (f"docker run lmsysorg/sglang:$TAG {serve('')}", "unknown"),
            (f"docker run lmsysorg/sglang:$TAG-rocm630 {serve('')}", True),
            (f"docker run -e HSA_ENABLE_SDMA=0 lmsysorg/sglang:$TAG {serve('')}", True),
            (f"SGLANG_USE_AITER=1 {serve('')}", True),
            (f"HIP_VISIBLE_DEVICES=0 {serve('')}", True),
            (f"CUDA_VISIBLE_DEVICES=0 {serve('')}", False),
            (serve("--attention-backend aiter"), True),
            (serve("--attention-backend fa3"), False),
            (serve("--attention-backend $BACKEND"), "unknown"),
        ],
    )
    def test_what_says_so(self, script: str, expected: object) -> None:
        assert fact("says-rocm", script) == expected


class TestSizes:
    """Options whose canonical name changed in 0.5.14."""

    @pytest.mark.parametrize("release", ["0.5.13.post1", "0.5.14"])
    @pytest.mark.parametrize(
        ("name", "words", "expected"),
        [
            ("tp-size", "--tp 4", 4),
            ("tp-size", "--tensor-parallel-size 4", 4),
            ("pp-size", "--pp-size 2", 2),
            ("dp-size", "--dp-size 2", 2),
            ("ep-size", "--ep 8", 8),
            ("cp-size", "--attn-cp-size 2", 2),
            ("tp-size", "", 1),
            ("tp-size", "--tp $TP", "unknown"),
            ("tp-size", "$ARGS", "unknown"),
        ],
    )
    def test_under_either_name(self, name: str, words: str, expected: object, release: str) -> None:
        assert fact(name, serve(words), release) == expected


class TestDataParallelAttention:
    @together(
        "words, release, expected",
        [
            ("--dp-size 2 --enable-dp-attention", "0.5.12", True),
            ("--dp-size 2", "0.5.12", False),
            ("--enable-dp-attention", "0.5.12", False),
            ("--attn-dp-size 2", "0.5.22", True),
            ("", "0.5.22", False),
            ("--attn-dp-size $DP", "0.5.22", "unknown"),
            ("--dp-size $DP --enable-dp-attention", "0.5.12", "unknown"),
            ("$ARGS", "0.5.12", "unknown"),
            # layouts of context parallelism may switch it on
            ("--enable-prefill-cp", "0.5.22", "unknown"),
        ],
    )
    def test_is_on(self, words: str, release: str, expected: object) -> None:
        assert fact("dp-attention", serve(words), release) == expected


class TestMambaExtraBuffer:
    @together(
        "words, release, expected",
        [
            ("--mamba-scheduler-strategy extra_buffer", "0.5.9", True),
            ("--mamba-scheduler-strategy no_buffer", "0.5.9", False),
            ("", "0.5.13.post1", False),
            ("", "0.5.14", True),
            ("--mamba-radix-cache-strategy auto", "0.5.23", True),
            ("--mamba-radix-cache-strategy extra_buffer_lazy", "0.5.23", True),
            ("--disable-radix-cache", "0.5.23", False),
            ("--disable-overlap-schedule", "0.5.23", "unknown"),
            ("--disaggregation-mode decode", "0.5.23", "unknown"),
            ("--linear-attn-backend triton", "0.5.23", "unknown"),
            ("--pp-size 2", "0.5.23", "unknown"),
            ("--disable-radix-cache --linear-attn-backend triton", "0.5.23", False),
            ("--mamba-radix-cache-strategy $STRATEGY", "0.5.23", "unknown"),
            ("$ARGS", "0.5.23", "unknown"),
        ],
    )
    def test_is_made(self, words: str, release: str, expected: object) -> None:
        assert fact("mamba-extra-buffer", serve(words), release) == expected


class TestSpeculativeAlgorithmKnown:
    @pytest.mark.parametrize(
        ("script", "release", "expected"),
        [
            (serve("--speculative-algorithm DSPARK"), "0.5.15", False),
            (serve("--speculative-algorithm DSPARK"), "0.5.16", True),
            (serve("--speculative-algorithm nextn"), "0.5.12", True),
            (serve("--speculative-algorithm MTP"), "0.5.23", False),
            (serve("--speculative-algorithm $ALGORITHM"), "0.5.23", "unknown"),
            (serve(""), "0.5.23", "absent"),
            # a plug-in may bring its own
            ("export SGLANG_PLUGINS=ours\n" + serve("--speculative-algorithm OURS"), "0.5.23", "unknown"),
        ],
    )
    def test_is_the_releases(self, script: str, release: str, expected: object) -> None:
        assert fact("speculative-algorithm-known", script, release) == expected


class TestGemma4Assistant:
    @pytest.mark.parametrize(
        ("draft", "algorithm", "release", "expected"),
        [
            ("google/gemma-4-31B-it-assistant", "NEXTN", "0.5.12", "FROZEN_KV_MTP"),
            ("google/gemma-4-31B-it-assistant", "NEXTN", "0.5.11", "EAGLE"),
            ("google/gemma-4-31B-it-assistant", "EAGLE3", "0.5.12", "EAGLE3"),
            ("ours/draft", "NEXTN", "0.5.12", "EAGLE"),
        ],
    )
    def test_promotes_the_algorithm(self, draft: str, algorithm: str, release: str, expected: str) -> None:
        words = f"--speculative-algorithm {algorithm} --speculative-draft-model-path {draft}"
        assert fact("speculative-algorithm", serve(words), release) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("sglang serve --model-path a/b", "serve"),
        ("python -m sglang.launch_server --model-path a/b", "launch_server"),
        ("python3 /opt/sglang/launch_server.py --model-path a/b", "launch_server"),
    ],
)
def test_command(script: str, expected: str) -> None:
    assert fact("command", script) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("export SGL_DG_CACHE_DIR=/cache\nsglang serve --model-path a/b", "SGL_DG_CACHE_DIR"),
        ("export SGLANG_DG_CACHE_DIR=/cache\nsglang serve --model-path a/b", "absent"),
        (". ./env.sh\nsglang serve --model-path a/b", "unknown"),
    ],
)
def test_old_variable(script: str, expected: object) -> None:
    assert fact("old-variable", script) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("sglang serve --model-path a/b", False),
        ("sglang serve --model-path a/b --device cuda", False),
        ("sglang serve --model-path a/b --device cpu", True),
        ("sglang serve --model-path a/b --attention-backend ascend", True),
        ("sglang serve --model-path a/b --device $DEVICE", "unknown"),
        ("docker run lmsysorg/sglang:v0.5.12-xeon sglang serve --model-path a/b", True),
        ("docker run --gpus all lmsysorg/sglang:v0.5.12-cu126 sglang serve --model-path a/b", False),
    ],
)
def test_says_other_device(script: str, expected: object) -> None:
    assert fact("says-other-device", script) == expected


def on_gpu(name: str, words: str, release: str | None, gpu: str | None) -> object:
    """The value of a fact on a GPU; None where it has none."""
    launch = launch_in(f"python -m sglang.launch_server {words}", "run.sh")
    name_gpus(launch, Settings(gpu=gpu))
    return configs(launch, [release] if release is not None else [])[0].operand(f"effective.{name}").value


@together(
    "words, release, gpu, expected",
    [
        ("--model-path Qwen/Qwen3-30B-A3B-FP8", "0.5.23", "b200", "fp8"),
        ("--model-path Qwen/Qwen3-30B-A3B-FP8", "0.5.9", "b200", "fp8"),
        ("--model-path Qwen/Qwen3-30B-A3B-FP8", "0.5.8", "b200", None),
        ("--model-path Qwen/Qwen3-30B-A3B-FP8", None, "b200", None),
        # other GPUs read no checkpoint, nor do dense models
        ("--model-path Qwen/Qwen3-30B-A3B-FP8", "0.5.23", "h200", None),
        ("--model-path Qwen/Qwen3-30B-A3B-FP8", "0.5.23", None, None),
        ("--model-path Qwen/Qwen3-8B-FP8", "0.5.23", "b200", None),
        ("--model-path Qwen/Qwen3-30B-A3B-GPTQ-Int4", "0.5.23", "b200", "gptq"),
        ("--model-path Qwen/Qwen3-30B-A3B-FP8 --quantization mxfp8", "0.5.8", None, "mxfp8"),
        ("--model-path Qwen/Qwen3-30B-A3B-FP8 --quantization $METHOD", "0.5.23", "b200", None),
        ("--model-path Qwen/Qwen3-30B-A3B-FP8 --device cpu", "0.5.23", "b200", None),
        ("--model-path $MODEL", "0.5.23", "b200", None),
    ],
)
def test_checked_quantization(words: str, release: str | None, gpu: str | None, expected: object) -> None:
    assert on_gpu("checked-quantization", words, release, gpu) == expected


@together(
    "words, release, gpu, expected",
    [
        ("", "0.5.23", "b200", 16384),
        ("", "0.5.23", "h200", 8192),
        ("", "0.5.23", "l40s", 4096),
        ("", "0.5.23", "l4", 4096),
        ("", "0.5.19", "l4", 2048),
        ("", "0.5.23", "t4", 2048),
        # the least that any GPU has
        ("", "0.5.23", None, 2048),
        ("--device $DEVICE", "0.5.23", "b200", 2048),
        # without a release only large GPUs are certain
        ("", None, "b200", 16384),
        ("", None, "l4", 2048),
        ("", "0.4.7", "b200", None),
    ],
)
def test_default_chunk(words: str, release: str | None, gpu: str | None, expected: object) -> None:
    assert on_gpu("default-chunk", f"--model-path Qwen/Qwen3-8B {words}", release, gpu) == expected
