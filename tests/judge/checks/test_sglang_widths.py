"""Rules on SGLang options that must fit the number of GPUs, and of others that must fit one another."""

from __future__ import annotations

import pytest

from servelint.engines.config import Config, configs
from tests.judging import fields
from tests.launching import launch_in
from tests.together import together


def config(words: str, release: str = "0.5.23") -> Config:
    launch = launch_in(f"python -m sglang.launch_server --model-path Qwen/Qwen3-30B-A3B {words}", "run.sh")
    return configs(launch, [release])[0]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--max-loaded-loras 2", {"batch": "8"}),
        ("--max-loaded-loras 2 --max-loras-per-batch 4", {"batch": "4"}),
        ("--max-loaded-loras 8", None),
        ("--max-loaded-loras 2 --max-loras-per-batch $BATCH", None),
        ("--max-loaded-loras $LOADED", None),
    ],
)
def test_loaded_loras(words: str, expected: dict[str, str] | None) -> None:
    assert fields("sglang/loaded-loras-below-batch", config(f"--enable-lora {words}")) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", {"most": "16"}),
        ("--max-loaded-loras 17", {"most": "16"}),
        ("--max-loaded-loras 9 --max-loras-per-batch 4", {"most": "8"}),
        ("--max-loaded-loras 16", None),
        ("--max-loaded-loras $LOADED", None),
        ("$LORA", None),
    ],
)
def test_lora_overlap(words: str, expected: dict[str, str] | None) -> None:
    words = f"--enable-lora --enable-lora-overlap-loading {words}"
    assert fields("sglang/lora-overlap-needs-few-loaded", config(words)) == expected


@pytest.mark.parametrize(
    ("words", "same"),
    [
        ("--grpc-port 30000", True),
        ("--grpc-port 8000 --port 8000", True),
        ("--grpc-port 30000 --port 8000", False),
        ("--grpc-port 30000 --port $PORT", False),
        ("--grpc-port $GRPC", False),
    ],
)
def test_grpc_port(words: str, same: bool) -> None:
    assert fields("sglang/grpc-port-is-http-port", config(words)) == ({} if same else None)


@pytest.mark.parametrize(
    ("tp", "size", "dense", "dwdp", "experts"),
    [
        ("4", "2", {"width": "4"}, {"width": "4"}, {"width": "4"}),
        ("4", "4", None, None, None),
        ("4", "1", None, None, None),
        ("$GPUS", "2", None, None, None),
        ("4", "$SIZE", None, None, None),
    ],
)
def test_sizes_against_all_gpus(
    tp: str, size: str, dense: dict[str, str] | None, dwdp: dict[str, str] | None, experts: dict[str, str] | None
) -> None:
    words = f"--tp-size {tp} --moe-dense-tp-size {size} --dwdp-size {size} --ep-size {size}"
    one = config(f"{words} --moe-runner-backend flashinfer_cutlass")
    assert fields("sglang/moe-dense-tp-size", one) == dense
    assert fields("sglang/dwdp-is-tp-size", one) == dwdp
    assert fields("sglang/flashinfer-experts-all-or-none", one) == experts


@pytest.mark.parametrize(
    ("words", "misfit"),
    [
        ("--tp-size 8 --attn-cp-size 3", "does not divide the tensor parallel size 8"),
        (
            "--tp-size 8 --attn-dp-size 4 --attn-cp-size 4",
            "and 4 replicas of attention do not divide the tensor parallel size 8",
        ),
        (
            "--tp-size 8 --dp-size 4 --enable-dp-attention --attn-cp-size 4",
            "and 4 replicas of attention do not divide the tensor parallel size 8",
        ),
        ("--tp-size 8 --attn-dp-size 2 --attn-cp-size 4", None),
        ("--tp-size 8 --attn-cp-size 1", None),
        ("--tp-size $GPUS --attn-cp-size 3", None),
        ("--tp-size 8 --attn-cp-size $CP", None),
    ],
)
def test_context_parallel(words: str, misfit: str | None) -> None:
    assert fields("sglang/context-parallel-size", config(words)) == ({"case": misfit} if misfit else None)


@together(
    "words, misfit, width",
    [
        ("--tp-size 8 --moe-dp-size 3", "does not divide the tensor parallel size 8", None),
        ("--tp-size 8 --pp-size 2 --moe-dp-size 2", "cannot be combined with 2 pipeline stages", None),
        (
            "--tp-size 8 --ep-size 2 --moe-dp-size 2",
            "times the expert parallel size 2 must equal the tensor parallel size 8",
            None,
        ),
        ("--tp-size 8 --ep-size 2 --moe-dp-size 2 --moe-a2a-backend deepep", None, "1"),
        ("--tp-size 8 --ep-size 4 --moe-dp-size 2", None, "1"),
        ("--tp-size 8 --ep-size 4 --moe-dp-size 2 --attn-cp-size 4", None, "4"),
        ("--tp-size 8 --ep-size 4 --moe-dp-size 2 --attn-cp-size 2", None, None),
        ("--tp-size 8 --ep-size 4 --moe-dp-size 2 --enable-prefill-cp", None, None),
        ("--tp-size 8 --ep-size 4 --moe-dp-size 2 --attn-cp-size $CP", None, None),
        ("--tp-size 8 --moe-dp-size 1", None, None),
        ("--tp-size 8 --moe-dp-size $MOE", None, None),
    ],
)
def test_replicas_of_experts(words: str, misfit: str | None, width: str | None) -> None:
    assert fields("sglang/moe-dp-size", config(words)) == ({"misfit": misfit} if misfit else None)
    assert fields("sglang/moe-dp-differs-from-cp", config(words)) == ({"width": width} if width else None)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--speculative-draft-window-size 8 --speculative-num-draft-tokens 16", {"block": "16"}),
        ("--speculative-draft-window-size 4 --speculative-dflash-block-size 8", {"block": "8"}),
        ("--speculative-draft-window-size 16 --speculative-num-draft-tokens 16", None),
        ("--speculative-draft-window-size 8 --speculative-num-draft-tokens $TOKENS", None),
        ("--speculative-draft-window-size 8", None),
    ],
)
def test_dflash_window(words: str, expected: dict[str, str] | None) -> None:
    assert fields("sglang/dflash-window-below-block", config(f"--speculative-algorithm DFLASH {words}")) == expected
