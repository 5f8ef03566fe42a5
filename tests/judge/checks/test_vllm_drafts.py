"""Rules on vLLM's drafts, on both sides of what they compare."""

from __future__ import annotations

import json

import pytest

from servelint.engines.config import Config, configs
from tests.judging import fields
from tests.launching import launch_in
from tests.together import together


def config(words: str, release: str = "0.33.0", environment: str = "") -> Config:
    return configs(launch_in(f"{environment} vllm serve {words}".strip(), "run.sh"), [release])[0]


def spec(**keys: object) -> str:
    return f"--speculative-config '{json.dumps({'num_speculative_tokens': 3, **keys})}'"


class TestDraftParallel:
    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            (f"m -tp 4 {spec(method='eagle3', draft_tensor_parallel_size=2)}", {"target": "4"}),
            (f"m {spec(method='eagle3', draft_tensor_parallel_size=2)}", {"target": "1"}),
            (f"m -tp 4 {spec(method='eagle3', draft_tensor_parallel_size=1)}", None),
            (f"m -tp 4 {spec(method='eagle3', draft_tensor_parallel_size=4)}", None),
            (f"m -tp $TP {spec(method='eagle3', draft_tensor_parallel_size=4)}", None),
            (f"m $ARGS {spec(method='eagle3', draft_tensor_parallel_size=4)}", None),
            (f"m -tp 4 {spec(method='ngram', draft_tensor_parallel_size=2)}", None),
        ],
    )
    def test_one_or_the_targets(self, words: str, expected: dict[str, str] | None) -> None:
        assert fields("vllm/draft-tensor-parallel-size", config(words)) == expected


class TestLoraDraftTokens:
    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            ("--max-num-seqs 256 --max-num-batched-tokens 1023", {"needed": "1024"}),
            ("--max-num-seqs 256 --max-num-batched-tokens 1024", None),
            ("--max-num-seqs 256", None),
            ("--max-num-seqs $SEQS --max-num-batched-tokens 16", None),
        ],
    )
    def test_a_place_for_every_token(self, words: str, expected: dict[str, str] | None) -> None:
        words = f"m --enable-lora {words} {spec(method='ngram')}"
        assert fields("vllm/lora-draft-token-budget", config(words)) == expected


class TestPromptLookup:
    @pytest.mark.parametrize(("shortest", "longest", "holds"), [(5, 2, True), (2, 5, False), (3, 3, False)])
    def test_shortest_above_longest(self, shortest: int, longest: int, holds: bool) -> None:
        words = spec(method="ngram", prompt_lookup_min=shortest, prompt_lookup_max=longest)
        assert fields("vllm/prompt-lookup-range", config(f"m {words}")) == ({} if holds else None)


class TestDraftVocabulary:
    @pytest.mark.parametrize(
        ("target", "draft", "expected"),
        [
            ("meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-0.6B", {"draft": "151936", "target": "128256"}),
            ("Qwen/Qwen2.5-72B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct", {"draft": "151936", "target": "152064"}),
            ("Qwen/Qwen2.5-72B-Instruct", "Qwen/Qwen2.5-7B-Instruct", None),
            ("Qwen/Qwen3-32B", "Qwen/Qwen3-0.6B", None),
            ("house/some-model", "Qwen/Qwen3-0.6B", None),
            ("Qwen/Qwen3-32B", "house/some-draft", None),
            ("Qwen/Qwen3-32B", "'$DRAFT'", None),
        ],
    )
    def test_sizes_of_known_families(self, target: str, draft: str, expected: dict[str, str] | None) -> None:
        words = spec(method="draft_model", model="@").replace("@", draft)
        assert fields("vllm/draft-vocabulary", config(f"{target} {words}")) == expected


class TestV2Runner:
    @together(
        "words, release, feature",
        [
            (f"Qwen/Qwen3-8B {spec(method='ngram')}", "0.31.0", "the speculative method ngram"),
            (f"Qwen/Qwen3-8B {spec(method='ngram')}", "0.32.0", None),
            (f"Qwen/Qwen3-8B {spec(method='ngram')}", "0.19.1", None),
            (f"Qwen/Qwen3-8B {spec(method='suffix')}", "0.33.0", "the speculative method suffix"),
            (f"Qwen/Qwen3-8B {spec(method='eagle3', model='x/y')}", "0.20.0", None),
            (f"Qwen/Qwen3-8B {spec(method='eagle3', model='x/y', parallel_drafting=True)}", "0.22.0", "parallel drafting"),
            (f"Qwen/Qwen3-8B {spec(method='dflash', model='x/y', parallel_drafting=True)}", "0.33.0", None),
            ("Qwen/Qwen3-Next-80B-A3B-Instruct", "0.22.1", "hybrid models"),
            ("Qwen/Qwen3.6-27B", "0.22.1", None),
            ("Qwen/Qwen3.6-27B", "0.23.0", None),
            ("Qwen/Qwen3.6-27B --enable-prefix-caching", "0.24.0", "hybrid models with prefix caching"),
            ("Qwen/Qwen3.6-27B --enable-prefix-caching", "0.25.0", None),
            ("Qwen/Qwen3-8B --prefill-context-parallel-size 2", "0.25.1", "prefill context parallelism"),
            ("Qwen/Qwen3-8B --prefill-context-parallel-size 2", "0.26.0", None),
            ("Qwen/Qwen3-8B --logits-processors a:B", "0.30.0", "custom logits processors"),
            ("Qwen/Qwen3-8B --logits-processors a:B", "0.31.0", None),
            ("Qwen/Qwen3-8B --enable-prompt-embeds", "0.21.0", None),
            ("Qwen/Qwen3-8B --enable-prompt-embeds", "0.22.0", "--enable-prompt-embeds"),
            ("Qwen/Qwen3-8B $ARGS", "0.22.0", None),
        ],
    )
    def test_what_it_lacks(self, words: str, release: str, feature: str | None) -> None:
        found = fields("vllm/v2-runner-forced", config(words, release, "VLLM_USE_V2_MODEL_RUNNER=1"))
        assert found == ({"case": feature} if feature is not None else None)


class TestDraftLength:
    @pytest.mark.parametrize(("target", "draft", "holds"), [("4096", 8192, True), ("8192", 8192, False), ("$LEN", 8192, False)])
    def test_above_the_targets(self, target: str, draft: int, holds: bool) -> None:
        words = f"m --max-model-len {target} {spec(method='eagle3', max_model_len=draft)}"
        assert fields("vllm/draft-max-model-len-above-target", config(words)) == ({} if holds else None)


class TestSyntheticLength:
    @pytest.mark.parametrize(
        ("length", "holds"), [(0.5, True), (1, False), (2.5, False), (4, False), (4.5, True), (True, False)]
    )
    def test_between_one_and_all(self, length: float, holds: bool) -> None:
        words = spec(method="eagle3", rejection_sample_method="synthetic", synthetic_acceptance_length=length)
        assert fields("vllm/synthetic-length-out-of-range", config(f"m {words}")) == ({"most": "4"} if holds else None)

    def test_needs_the_tokens(self) -> None:
        words = (
            "--speculative-config.rejection_sample_method synthetic --speculative-config.synthetic_acceptance_length 9"
            " --speculative-config.num_speculative_tokens"
        )
        assert fields("vllm/synthetic-length-out-of-range", config(f"m {words} 3")) is not None
        assert fields("vllm/synthetic-length-out-of-range", config(f"m {words} $N")) is None


class TestFlyWindow:
    @pytest.mark.parametrize(("window", "holds"), [(2, False), (3, True), (4, True)])
    def test_below_the_tokens(self, window: int, holds: bool) -> None:
        words = spec(method="eagle3", rejection_sample_method="fly", fly_window_size=window)
        assert fields("vllm/fly-window-too-wide", config(f"m {words}")) == ({"most": "2"} if holds else None)


class TestPlainDraft:
    @together(
        "method, draft, holds",
        [
            ("mtp", "Qwen/Qwen3-0.6B", True),
            ("mtp", "Qwen/Qwen3.6-27B", False),
            ("mtp", "google/gemma-4-31B-it-assistant", False),
            ("eagle3", "Qwen/Qwen3-0.6B", True),
            ("eagle3", "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", False),
            ("eagle3", "house/Qwen3-0.6B", False),
            ("draft_model", "Qwen/Qwen3-0.6B", False),
            ("ngram", "Qwen/Qwen3-0.6B", False),
        ],
    )
    def test_a_model_where_a_head_belongs(self, method: str, draft: str, holds: bool) -> None:
        launch = config(f"m {spec(method=method, model=draft)}")
        found = [fields(rule, launch) for rule in ("vllm/draft-is-no-head", "vllm/mtp-draft-without-layer")]
        assert (found != [None, None]) is holds
