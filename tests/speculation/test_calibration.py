"""Measurements as data: what is refused, and what they do to their neighbours."""

from __future__ import annotations

import math
from typing import Any

import pytest

from servelint.speculation.cases import Case
from servelint.speculation.gains import Calibration, Measurement, published
from tests.together import together

ROW: dict[str, Any] = {
    "model": "Qwen/Qwen3-8B",
    "gpu": "h100",
    "method": "eagle3",
    "tokens": 3,
    "off": 100,
    "on": 150,
    "accepted": 2.5,
}


@together(
    "change, message",
    [
        ({"of": 1}, "'of' is not a field of a measurement; use accepted, "),
        ({"off": 0}, "off: 0 is not a number above 0"),
        ({"on": "fast"}, "on: 'fast' is not a number above 0"),
        ({"on": math.inf}, "on: inf is not a number above 0"),
        ({"on": True}, "on: True is not a number above 0"),
        ({"concurrency": 0}, "concurrency: 0 is not a whole number above 0"),
        ({"tokens": 1.5}, "tokens: 1.5 is not a whole number above 0"),
        ({"method": "telepathy"}, "method 'telepathy' is not known; write mtp, "),
        ({"accepted": "many"}, "'many' is not a number"),
    ],
)
def test_what_is_no_measurement(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Measurement({**ROW, **change})


def test_times_are_turned_round() -> None:
    assert Measurement({**ROW, "off": 20, "on": 10, "unit": "ms"}).gain == 2
    assert Measurement({**ROW, "off": 20, "on": 10}).gain == 0.5


def test_where_it_was_measured_the_measurement_counts() -> None:
    case = Measurement(ROW).case
    before = Calibration(()).at(case)
    after = Calibration((Measurement(ROW),)).at(case)
    assert before is not None
    assert after is not None
    assert abs(after.mean - math.log(1.5)) < abs(before.mean - math.log(1.5))
    assert after.deviation < before.deviation


def test_far_away_it_counts_less() -> None:
    measured = Calibration((Measurement(ROW),))
    near, far = (
        measured.at(Case("vllm", "eagle", "Qwen/Qwen3-8B", gpu, 3, c, accepted=2.5)) for gpu, c in (("h100", 2), ("l4", 64))
    )
    assert near is not None
    assert far is not None
    assert near.near[0][0] > far.near[0][0]
    assert near.deviation < far.deviation


def test_another_method_is_told_nothing() -> None:
    case = Case("vllm", "lookup", "Qwen/Qwen3-8B", "h100", 3, accepted=2.5)
    with_it, without = Calibration((Measurement(ROW),)).at(case), Calibration(()).at(case)
    assert with_it is not None
    assert without is not None
    assert with_it.mean == without.mean


def test_every_published_one_names_its_source() -> None:
    assert all(len(one.source) > 10 and one.source != "your own" for one in published())
