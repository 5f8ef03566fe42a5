"""Between which sizes the truth about weights is, and the parts of a model whose layers differ."""

from __future__ import annotations

import pytest

from servelint.models.architecture import find
from servelint.models.weights import weigh

GIB = 2**30


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("Qwen/Qwen3-8B", 0.992, 1.012),
        ("Qwen/Qwen3-8B-FP8", 0.99, 1.02),
        ("acme/Qwen3-8B-quantized.w8a8", 0.97, 1.03),
        ("acme/Qwen3-8B-AWQ", 0.97, 1.1),
        ("acme/Qwen3.5-9B-AWQ", 0.86, 1.3),
    ],
)
def test_how_far_the_truth_may_be_from_what_is_counted(name: str, low: float, high: float) -> None:
    model = find(name)
    assert model is not None
    found = weigh(model)
    assert found is not None
    assert (found.low / found.gib, found.high / found.gib) == pytest.approx((low, high))


def test_layers_that_compress_have_a_rotary_table_of_their_own() -> None:
    """DeepSeek V4: one table in float32 for layers that compress, one for those that do not."""
    model = find("deepseek-ai/DeepSeek-V4-Flash")
    assert model is not None
    assert model.attention is not None
    assert {one.compress > 1 for one in model.attention} == {True, False}
    found = weigh(model)
    assert found is not None
    assert model.context is not None
    tables = {part.name: part.bytes for part in found.parts}["rotary table"]
    assert tables == 2 * model.context * model.attention[0].rotary * 4
