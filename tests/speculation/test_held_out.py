"""Published measurements that no estimate was made from, most of them with one request: held_out.json, each with its source."""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path

from servelint.speculation.cases import Case
from servelint.speculation.gains import Gain, Measurement, gain_of, published
from servelint.speculation.roofline import prior

ROWS = [Measurement(row) for row in json.loads((Path(__file__).parent / "held_out.json").read_text("utf-8"))["measurements"]]
FOUND: list[tuple[Measurement, Gain]] = [(row, found) for row in ROWS if (found := gain_of(row.case)) is not None]


def test_none_of_them_is_shipped() -> None:
    shipped = {(row.source, row.case.model, row.case.tokens, row.case.concurrency) for row in published()}
    assert len(ROWS) >= 20
    assert not [row for row in ROWS if (row.source, row.case.model, row.case.tokens, row.case.concurrency) in shipped]
    assert all(row.source.startswith("https://") for row in ROWS)


def test_the_error_is_small_and_to_both_sides() -> None:
    errors = [found.mid / row.gain - 1 for row, found in FOUND]
    assert len(FOUND) == len(ROWS)
    assert statistics.median(map(abs, errors)) < 0.11  # 0.235 without the time that drafts add to a step
    assert abs(statistics.median(errors)) < 0.08


def test_help_is_told_from_harm() -> None:
    wrong = [row for row, found in FOUND if abs(row.gain - 1) > 0.08 and (row.gain > 1) != (found.mid > 1)]
    assert [(row.case.model, row.case.concurrency) for row in wrong] == [("Qwen/Qwen3-30B-A3B", 1)]


def test_intervals_are_no_wider_for_it() -> None:
    assert statistics.median(found.high / found.low for _, found in FOUND) < 1.6
    assert sum(found.low <= row.gain <= found.high for row, found in FOUND) >= 17  # of 21; 13 before


def test_drafts_help_less_where_a_step_is_short() -> None:
    short, long = (prior(Case("vllm", "eagle", "Qwen/Qwen3-8B", gpu, 2, accepted=2.0)) for gpu in ("b200", "l4"))
    assert short is not None
    assert long is not None
    assert math.exp(short.mean) < 1.45
    assert math.exp(long.mean) > 1.65
