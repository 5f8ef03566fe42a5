"""Rules on SGLang options that must fit one another, on both sides of what they compare."""

from __future__ import annotations

import pytest

from servelint.engines.config import Config, configs
from tests.judging import fields
from tests.launching import launch_in
from tests.together import together


def config(words: str, model: str = "meta-llama/Llama-3.1-8B-Instruct", release: str = "0.5.23") -> Config:
    launch = launch_in(f"python -m sglang.launch_server --model-path {model} {words}", "run.sh")
    return configs(launch, [release])[0]


@pytest.mark.parametrize(
    ("words", "misfit"),
    [
        (
            "--mamba-track-interval 2 --speculative-num-draft-tokens 4",
            {"case": "is below the 4 draft tokens", "interval": "2"},
        ),
        (
            "--mamba-track-interval 100 --page-size 64",
            {"case": "is not a multiple of the page size 64", "interval": "100"},
        ),
        ("--mamba-track-interval 128 --page-size 64 --speculative-num-draft-tokens 4", None),
        ("--mamba-track-interval $N --page-size 64", None),
        ("--page-size 64", None),
    ],
)
def test_track_interval(words: str, misfit: dict[str, str] | None) -> None:
    found = fields("sglang/mamba-track-interval", config(words, "Qwen/Qwen3.6-35B-A3B"))
    assert found == misfit


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--max-mamba-cache-size 96 --max-running-requests 64", {"held": "32", "needed": "192"}),
        ("--max-mamba-cache-size 96 --max-running-requests 32", None),
        ("--max-mamba-cache-size $SLOTS --max-running-requests 64", None),
        ("--max-running-requests 64", None),
    ],
)
def test_mamba_slots(words: str, expected: dict[str, str] | None) -> None:
    assert fields("sglang/mamba-cache-caps-requests", config(words, "Qwen/Qwen3.6-35B-A3B")) == expected


@pytest.mark.parametrize(
    ("block", "tokens", "dflash", "dspark"),
    [
        ("8", "16", {}, {"expected": "9"}),
        ("8", "8", None, {"expected": "9"}),
        ("8", "9", {}, None),
        ("$BLOCK", "8", None, None),
    ],
)
def test_block_of_drafts(block: str, tokens: str, dflash: dict[str, str] | None, dspark: dict[str, str] | None) -> None:
    sizes = f"--speculative-dflash-block-size {block} --speculative-dspark-block-size {block}"
    words = f"{sizes} --speculative-num-draft-tokens {tokens} --speculative-algorithm"
    assert fields("sglang/dflash-block-size", config(f"{words} DFLASH")) == dflash
    assert fields("sglang/dspark-draft-tokens", config(f"{words} DSPARK")) == dspark


@together(
    "steps, release, candidates",
    [
        ("5", "0.5.13", "1, 3 or 7"),
        ("0", "0.5.13", "1, 3 or 7"),
        ("5", "0.5.14", "0, 1, 3 or 7"),
        ("0", "0.5.14", None),
        ("5", "0.5.20", None),
        ("2", "0.5.20", "0, 1, 3, 5 or 7"),
        ("2", "0.5.12", None),
        ("$STEPS", "0.5.20", None),
    ],
)
def test_adaptive_steps(steps: str, release: str, candidates: str | None) -> None:
    words = "--speculative-algorithm EAGLE --speculative-adaptive --speculative-eagle-topk 1 --speculative-num-steps"
    found = fields("sglang/adaptive-drafts-steps", config(f"{words} {steps}", release=release))
    assert found == ({"candidates": candidates} if candidates else None)


@pytest.mark.parametrize(
    ("decode", "expected"), [("fa3", None), ("flashmla", {"prefill": "fa3", "decode": "flashmla"}), ("$BACKEND", None)]
)
def test_split_attention(decode: str, expected: dict[str, str] | None) -> None:
    words = f"--prefill-attention-backend fa3 --decode-attention-backend {decode} --speculative-algorithm EAGLE"
    assert fields("sglang/spec-with-split-attention", config(words, release="0.5.1")) == expected


@together(
    "target, draft, sizes",
    [
        ("Qwen/Qwen2.5-32B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct", ("152064", "151936")),
        ("Qwen/Qwen2.5-32B-Instruct", "Qwen/Qwen2.5-7B-Instruct", None),
        ("Qwen/Qwen2.5-3B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct", None),
        ("meta-llama/Llama-3.3-70B-Instruct", "meta-llama/Llama-3.2-1B-Instruct", None),
        ("meta-llama/Llama-3.3-70B-Instruct", "Qwen/Qwen3-0.6B", ("128256", "151936")),
        ("meta-llama/Llama-3.3-70B-Instruct", "$DRAFT", None),
        ("meta-llama/Llama-3.3-70B-Instruct", "ours/tiny", None),
        ("$MODEL", "Qwen/Qwen3-0.6B", None),
    ],
)
def test_standalone_vocabulary(target: str, draft: str, sizes: tuple[str, str] | None) -> None:
    words = f"--speculative-algorithm STANDALONE --speculative-draft-model-path {draft}"
    found = fields("sglang/standalone-vocabulary", config(words, model=target))
    assert found == ({"target": sizes[0], "drafted": sizes[1]} if sizes else None)


@together(
    "words, release, chunk",
    [
        ("--page-size 64 --chunked-prefill-size 1000", "0.5.23", "1000"),
        ("--page-size 64 --chunked-prefill-size 4096", "0.5.23", None),
        ("--page-size 48 --chunked-prefill-size 4096", "0.5.23", None),  # some backends have pages of 64
        ("--page-size 48 --chunked-prefill-size 4096 --attention-backend fa3", "0.5.23", "4096"),
        ("--page-size 64 --chunked-prefill-size 4000 --tp 8 --attn-dp-size 8", "0.5.23", "4000 (500 for each of 8 groups)"),
        ("--page-size 64 --chunked-prefill-size 4096 --tp 8 --attn-dp-size $DP", "0.5.23", None),
        ("--page-size 64 --chunked-prefill-size -1", "0.5.23", None),
        ("--page-size 64 --chunked-prefill-size 1000 --disaggregation-mode prefill", "0.5.23", "1000"),
        ("--page-size 64 --chunked-prefill-size 1000 --disaggregation-mode decode", "0.5.23", None),
        ("--page-size 64 --chunked-prefill-size 1000 --disaggregation-mode decode", "0.5.2", "1000"),
        ("--page-size 64 --chunked-prefill-size 1000 $MORE", "0.5.23", None),
    ],
)
def test_prefill_pages(words: str, release: str, chunk: str | None) -> None:
    found = fields("sglang/chunked-prefill-pages", config(words, release=release))
    assert (found["case"] if found else None) == chunk


def test_hybrid_models_had_pages_of_one_token() -> None:
    words = "--page-size 64 --chunked-prefill-size 1000"
    for release, told in (("0.5.13", False), ("0.5.14", True)):
        found = fields("sglang/chunked-prefill-pages", config(words, "Qwen/Qwen3.6-35B-A3B", release))
        assert (found is not None) is told


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--tp 8 --attn-dp-size 4 --chunked-prefill-size 8192", {"each": "2048", "wanted": "32768"}),
        ("--tp 8 --dp-size 2 --enable-dp-attention --chunked-prefill-size 8192", {"each": "4096", "wanted": "16384"}),
        ("--tp 8 --attn-dp-size 4 --chunked-prefill-size $CHUNK", None),
        ("--tp 8 --chunked-prefill-size 8192", None),
    ],
)
def test_dp_chunk(words: str, expected: dict[str, str] | None) -> None:
    assert fields("sglang/dp-attention-divides-chunk", config(words)) == expected


@pytest.mark.parametrize(
    ("words", "gpus"),
    [
        ("--tp 8 --nnodes 3", "8"),
        ("--nnodes 2", "1"),
        ("--tp 8 --nnodes 2", None),
        ("--tp 1 --pp-size 2 --nnodes 2", None),
        ("--tp $TP --nnodes 3", None),
        ("--tp 8", None),
    ],
)
def test_nodes(words: str, gpus: str | None) -> None:
    assert fields("sglang/gpus-over-nodes", config(words)) == ({"gpus": gpus} if gpus else None)


@pytest.mark.parametrize(
    ("words", "model", "known"),
    [
        ("--context-length 200000", "meta-llama/Llama-3.1-8B-Instruct", "131072"),
        ("--context-length 131072", "meta-llama/Llama-3.1-8B-Instruct", None),
        ("--context-length $N", "meta-llama/Llama-3.1-8B-Instruct", None),
        ("--context-length 200000", "$MODEL", None),
    ],
)
def test_context(words: str, model: str, known: str | None) -> None:
    assert fields("sglang/context-length-above-model", config(words, model)) == ({"known": known} if known else None)


@pytest.mark.parametrize(
    ("name", "plain"), [("llama:8b", "llama-8b"), ("llama-8b", None), ("s3://models/llama", None), ("$NAME", None)]
)
def test_served_name(name: str, plain: str | None) -> None:
    found = fields("sglang/served-model-name-colon", config(f"--served-model-name {name}"))
    assert found == ({"plain": plain} if plain else None)
