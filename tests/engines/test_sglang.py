"""What SGLang makes of its settings, on each side of the releases where that changed."""

from __future__ import annotations

import pytest

from servelint.engines.config import configs
from tests.launching import launch_in


def fact(name: str, script: str, release: str | None = "0.5.12", filename: str = "run.sh") -> object:
    """The value of a fact; "absent" or "unknown" where it has none."""
    operand = configs(launch_in(script, filename), [release] if release is not None else [])[0].operand(f"effective.{name}")
    if operand.present is False:
        return "absent"
    return "unknown" if operand.value is None else operand.value


def serve(words: str) -> str:
    return f"python -m sglang.launch_server --model-path Qwen/Qwen3-8B {words}"


class TestSpeculativeAlgorithm:
    @pytest.mark.parametrize(
        ("words", "release", "expected"),
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
    @pytest.mark.parametrize(
        ("value", "expected"),
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
    @pytest.mark.parametrize(
        ("script", "expected"),
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
