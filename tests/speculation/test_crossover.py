"""At how many requests speculation stops to pay."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from servelint.speculation.gains import BATCHES, Calibration, Crossover, Measurement, crossover
from tests.together import together

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


def curve(gains: dict[int, float]) -> Crossover:
    """The curve of a model on a GPU on which all of this was measured."""
    row = {"engine": "vllm", "model": LLAMA, "gpu": "l40s", "method": "draft_model", "tokens": 7, "accepted": 3.0}
    rows = [Measurement({**row, "concurrency": batch, "off": 100, "on": 100 * gain}) for batch, gain in gains.items()]
    (found,) = crossover(
        "l40s", LLAMA, method="draft_model", tokens=(7,), acceptance={"length": 3.0}, measured=Calibration(tuple(rows))
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


def points(*gains: tuple[float, float, float] | None) -> Crossover:
    """A curve over the first numbers of requests, each with its low, mid and high gain."""
    known = [SimpleNamespace(low=one[0], mid=one[1], high=one[2], near=[one]) if one is not None else None for one in gains]
    return Crossover(3, tuple(zip(BATCHES, known, strict=False)))  # type: ignore[arg-type]


@together(
    "gains, crossover_at, likely, known_to, dips",
    [
        ([], None, None, None, ()),
        ([None, None], None, None, None, ()),
        ([(1.2, 1.5, 2.0)], None, None, 1, ()),
        ([(1.2, 1.5, 2.0), (1.0, 1.2, 1.4)], (2, None), None, 2, ()),
        ([(1.2, 1.5, 2.0), (0.9, 1.0, 1.1)], (2, None), 2, 2, ()),
        ([(1.2, 1.5, 2.0), (0.9, 1.1, 1.2), (0.8, 0.9, 1.0), (0.7, 0.8, 0.9)], (2, 4), 3, 4, ()),
        ([(0.8, 0.9, 0.99), None, (0.7, 0.8, 0.9)], (1, 1), 1, 3, ()),
        ([(0.9, 1.0, 1.1), (1.1, 1.2, 1.3)], None, None, 2, ((1, 1),)),
        ([(1.1, 1.2, 1.3), (0.9, 1.0, 1.1), (1.0, 1.0, 1.1), (1.1, 1.2, 1.3)], None, None, 4, ((2, 3),)),
        ([(0.9, 1, 1), (1.1, 1.2, 1.3), (0.9, 1, 1), (1.1, 1.2, 1.3), (0.5, 0.6, 0.7)], (6, 6), 6, 6, ((1, 1), (3, 3))),
    ],
)
def test_where_a_curve_crosses(
    gains: list[tuple[float, float, float] | None],
    crossover_at: tuple[int, int | None] | None,
    likely: int | None,
    known_to: int | None,
    dips: tuple[tuple[int, int], ...],
) -> None:
    assert BATCHES[:5] == (1, 2, 3, 4, 6)
    found = points(*gains)
    assert (found.crossover_batch_size, found.likely, found.known_to, found.dips) == (crossover_at, likely, known_to, dips)


def test_the_measurements_near_a_curve_are_named_once() -> None:
    near = points((1.2, 1.5, 2.0), None, (1.2, 1.5, 2.0), (1.0, 1.1, 1.2)).near
    assert [*map(repr, near)] == ["(1.2, 1.5, 2.0)", "(1.0, 1.1, 1.2)"]


def test_a_method_that_is_none() -> None:
    with pytest.raises(
        ValueError, match=r"^'telepathy' is not a method of speculation; write mtp, eagle3, dflash, draft, ngram or medusa$"
    ):
        crossover("h100", "Qwen/Qwen3-8B", method="telepathy")


def test_what_crossover_asks_for() -> None:
    found = crossover(
        "h100", "Qwen/Qwen3.6-27B-FP8", method="mtp", tokens=(1, 2), acceptance={"rate": 0.8}, input_len=100, output_len=50
    )
    assert [one.spec_tokens for one in found] == [1, 2]
    cases = [gain.case for one in found for _, gain in one.points[:1] if gain is not None]
    assert [(case.engine, case.accepted, case.input, case.output, case.concurrency) for case in cases] == [
        ("vllm", 1.8, 100, 50, 1),
        ("vllm", 2.6, 100, 50, 1),
    ]
