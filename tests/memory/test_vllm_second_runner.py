"""The second model runner of vLLM: which launches it serves, what its profiled run leaves out, and what it keeps."""

from __future__ import annotations

import pytest

from servelint.memory.plan import GIB
from tests.memory.planning import planned
from tests.together import together

E4B = "google/gemma-4-E4B-it --max-model-len 2048"


def counted(command: str, release: str, gpu: str = "l40s") -> bool:
    """Whether the plan has the estimate of CUDA graphs, which this runner makes only from 0.29.0 on."""
    part = planned(command, release, gpu).part("cuda graphs")
    assert part is not None
    return part.inside


@together(
    "command, release, second",
    [
        ("Qwen/Qwen3-8B", "0.21.0", False),
        ("Qwen/Qwen3-8B", "0.22.0", True),
        ("Qwen/Qwen3-8B --quantization fp8", "0.22.0", True),
        ("Qwen/Qwen3-8B-FP8", "0.23.0", False),
        ("meta-llama/Llama-3.1-8B-Instruct", "0.22.1", False),
        ("meta-llama/Llama-3.1-8B-Instruct", "0.23.0", True),
        ("Qwen/Qwen3-8B-FP8", "0.24.0", True),
        ("Qwen/Qwen2.5-7B-Instruct", "0.24.0", False),
        ("Qwen/Qwen2.5-7B-Instruct", "0.25.0", True),
        (E4B, "0.24.0", False),
        (E4B, "0.25.0", True),
        ("Qwen/Qwen3-30B-A3B", "0.28.0", False),
    ],
)
def test_launches_that_it_serves(command: str, release: str, second: bool) -> None:
    """Source: use_v2_model_runner in vllm/config/vllm.py."""
    assert counted(command, release) is not second


def test_it_counts_the_tokens_of_every_sequence() -> None:
    """256 sequences of 262,144 tokens, each of which takes 4 bytes and a bit."""
    for release, kept in (("0.26.0", False), ("0.27.0", True)):
        part = planned(E4B, release, "l4").part("token counts")
        assert (part is not None) is kept
        if part is not None:
            assert part.gib.mid == pytest.approx(256 * 262_144 * 4.125 / GIB)


def test_images_are_not_profiled_before_0_27_0() -> None:
    parts = [
        planned("google/gemma-3-4b-it --max-num-seqs 1", release, "l40s").part("activations")
        for release in ("0.26.0", "0.27.0")
    ]
    before, after = (part.gib.mid for part in parts if part is not None)
    assert before < after


def test_its_sampler_warms_up_outside_of_the_fraction() -> None:
    """Gemma 4 E4B died on an L4 in its warm-up (0.26.0): "top_k_mask_logits" wanted 256 MiB of nothing."""
    plan = planned(E4B, "0.26.0", "l4")
    part = plan.part("sampler")
    assert part is not None
    assert not part.inside
    assert part.gib.mid > 0.5
    assert plan.verdict == "tight"
    assert planned(f"{E4B} --max-num-seqs 16", "0.26.0", "l4").verdict == "fits"
    assert planned(E4B, "0.24.0", "l4").part("sampler") is None
