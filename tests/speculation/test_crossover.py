"""At how many requests speculation stops to pay."""

from __future__ import annotations

import pytest

from servelint.speculation.gains import BATCHES, Calibration, Crossover, Measurement, crossover

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


def curve(gains: dict[int, float]) -> Crossover:
    """The curve of a model on a GPU on which all of this was measured."""
    row = {"engine": "vllm", "model": LLAMA, "gpu": "l40s", "method": "dflash", "tokens": 7, "accepted": 3.0}
    rows = [Measurement({**row, "concurrency": batch, "off": 100, "on": 100 * gain}) for batch, gain in gains.items()]
    (found,) = crossover(
        "l40s", LLAMA, method="dflash", tokens=(7,), acceptance={"length": 3.0}, measured=Calibration(tuple(rows))
    )
    return found


def test_between_the_first_that_may_lose_and_the_first_that_surely_does() -> None:
    found = curve({1: 2.0, 2: 1.8, 4: 1.5, 8: 1.02, 16: 0.7, 32: 0.5})
    assert found.crossover_batch_size is not None
    may, sure = found.crossover_batch_size
    assert sure is not None
    assert 4 < may <= 8 <= sure <= 16
    assert found.likely is not None
    assert may <= found.likely <= sure


def test_none_where_it_always_pays() -> None:
    assert curve({1: 2.0, 4: 1.9, 16: 1.8, 64: 1.6, 256: 1.5}).crossover_batch_size is None


def test_a_dip_is_no_crossover() -> None:
    found = curve({1: 1.4, 2: 1.2, 4: 0.8, 8: 1.2, 16: 1.5, 32: 1.7, 64: 1.8, 128: 1.9, 256: 1.9})
    assert found.crossover_batch_size is None
    ((first, last),) = found.dips
    assert first <= 4 <= last <= 8


def test_what_nobody_can_tell_is_left_open() -> None:
    found = curve({1: 2.0})
    assert found.known_to is not None
    assert found.known_to < BATCHES[-1]
    assert found.points[-1][1] is None


def test_of_every_number_of_tokens() -> None:
    found = crossover(gpu_id="rtx-3090", model="Qwen/Qwen3.6-27B")
    assert [one.spec_tokens for one in found] == [1, 2, 3, 4, 5]
    assert all(one.crossover_batch_size is None or one.crossover_batch_size[0] > 4 for one in found)


def test_a_method_that_is_not_known() -> None:
    with pytest.raises(ValueError, match="'telepathy' is not a method of speculation; write mtp, "):
        crossover("h100", LLAMA, method="telepathy")
