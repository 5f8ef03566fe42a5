"""What SGLang makes of sizes, data-parallel attention and drafts, under the names of each release."""

from __future__ import annotations

import pytest

from tests.engines.test_sglang import fact, serve


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
    @pytest.mark.parametrize(
        ("words", "release", "expected"),
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
    @pytest.mark.parametrize(
        ("words", "release", "expected"),
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
