"""What a step of decoding reads, against counts by hand from the config.json of each model."""

from __future__ import annotations

import pytest

from servelint.models.architecture import find
from servelint.speculation.roofline import Traffic, traffic


def of(name: str) -> Traffic:
    found = find(name)
    assert found is not None
    return traffic(found)


def test_a_dense_model() -> None:
    found = of("Qwen/Qwen3-8B")
    layer = 4096 * (32 * 128) * 2 + 2 * 4096 * (8 * 128) + 3 * 4096 * 12288
    assert found.active == pytest.approx(36 * layer + 151_936 * 4096, rel=1e-3)
    assert found.read(1) == found.read(64) == pytest.approx(2 * found.active, rel=1e-3)
    assert found.key_value == 36 * 2 * 8 * 128 * 2
    assert found.state == 0


def test_the_experts_of_a_mixture_that_tokens_are_sent_to() -> None:
    found = of("Qwen/Qwen3.6-35B-A3B-FP8")
    assert (found.experts, found.per_token) == (256, 8)
    assert found.expert == pytest.approx(40 * 3 * 2048 * 512, rel=1e-3)  # one byte each
    assert found.touched(1) == pytest.approx(8)
    assert found.touched(3) == pytest.approx(256 * (1 - (248 / 256) ** 3))
    assert found.touched(10_000) == pytest.approx(256)
    assert found.read(3) - found.read(1) == pytest.approx(found.expert * (found.touched(3) - found.touched(1)))


def test_a_state_is_written_after_each_token() -> None:
    found = of("Qwen/Qwen3.6-27B-FP8")
    state = 48 * 4 * 48 * 128 * 128  # layers, float32, value heads, both sizes
    assert found.state == pytest.approx(state, rel=0.03)  # and the convolution's
    assert found.cached(0, 3) - found.cached(0, 1) == 2 * found.state


def test_a_window_is_read_once_it_is_full() -> None:
    found = of("openai/gpt-oss-120b")
    assert found.windows == [(18 * 2 * 8 * 64 * 2, 128)]
    assert found.cached(4096, 1) - found.cached(2048, 1) == 2048 * found.key_value


def test_the_draft_reads_the_head_each_time() -> None:
    found = of("Qwen/Qwen3.6-27B-FP8")
    assert found.head == 248_320 * 5120 * 2
    assert found.drafting(1) > found.head
