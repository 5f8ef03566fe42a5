"""What speculation gains: intervals that hold what others measured, and nothing where nobody can tell."""

from __future__ import annotations

import math
import statistics
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servelint import advise
from servelint.speculation.cases import Case, accepted_of
from servelint.speculation.gains import (
    BATCHES,
    Calibration,
    Crossover,
    Gain,
    Measurement,
    Posterior,
    gain_of,
    gain_of_posterior,
    noise,
    published,
)
from servelint.speculation.roofline import Prior

MIXTURE = "Qwen/Qwen3.6-35B-A3B-FP8"
DENSE = "Qwen/Qwen3.6-27B-FP8"
NOTHING = Calibration(())


def gain(**asked: Any) -> Gain:
    found = advise.gain(**asked)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def without_itself() -> list[tuple[Measurement, Gain | None]]:
    """Each published measurement, and what is expected of its case by all others."""
    return [(one, gain_of_posterior(one.case, found)) for one, found in Calibration(published()).left_out()]


class TestPublishedMeasurements:
    """Each is asked for without itself among what is known."""

    def test_most_are_inside_the_interval(self, without_itself: list[tuple[Measurement, Gain | None]]) -> None:
        told = [(one.gain, found) for one, found in without_itself if found is not None]
        assert sum(found.low <= measured <= found.high for measured, found in told) >= 0.8 * len(told)

    def test_help_is_told_from_harm(self, without_itself: list[tuple[Measurement, Gain | None]]) -> None:
        told = [(one.gain, found.mid) for one, found in without_itself if found is not None and abs(one.gain - 1) > 0.08]
        assert sum((measured > 1) == (mid > 1) for measured, mid in told) >= 0.95 * len(told)

    def test_known_acceptance_and_few_requests(self, without_itself: list[tuple[Measurement, Gain | None]]) -> None:
        errors = [
            abs(found.mid / one.gain - 1)
            for one, found in without_itself
            if found is not None and one.case.method in ("mtp", "eagle") and one.case.accepted and one.case.concurrency <= 16
        ]
        assert len(errors) > 15
        assert statistics.median(errors) <= 0.1

    def test_at_most_a_quarter_is_left_open(self, without_itself: list[tuple[Measurement, Gain | None]]) -> None:
        assert sum(found is None for _, found in without_itself) <= 0.25 * len(without_itself)


def test_left_out_is_as_if_it_were_not_there() -> None:
    rows = published()
    for index in (0, 20, 60):
        one, expected = Calibration(rows).left_out()[index]
        direct = Calibration(tuple(row for row in rows if row is not one)).at(one.case)
        assert direct is not None
        assert expected.mean == pytest.approx(direct.mean)
        assert expected.deviation == pytest.approx(direct.deviation)


class TestArithmetic:
    """Without any measurement."""

    def test_a_dense_model_gains_what_is_accepted_less_the_drafts(self) -> None:
        found = gain(model=DENSE, gpu="h100", k=1, acceptance=1.0, measured=NOTHING)
        assert 1.6 < found.mid < 2  # a step reads 27 GB, the draft layer and the head 3 GB more

    def test_a_mixture_dips_and_rises_again(self) -> None:
        mids = [gain(model=MIXTURE, gpu="gb10", k=2, concurrency=c, acceptance=0.72, measured=NOTHING).mid for c in (1, 4, 32)]
        assert mids[1] < mids[0] < mids[2]

    def test_compute_ends_it_for_a_dense_model(self) -> None:
        one, many = (
            gain(model="Qwen/Qwen3-8B", gpu="rtx-4090", method="eagle3", k=3, concurrency=c, acceptance=0.5) for c in (1, 32)
        )
        assert many.mid < one.mid

    def test_prompts_dilute_it(self) -> None:
        short, long = (gain(model=DENSE, gpu="h100", k=2, acceptance=0.8, input_len=i, output_len=256) for i in (128, 8192))
        assert 1 < long.mid < short.mid
        assert math.log(long.high / long.low) > math.log(short.high / short.low)

    @settings(deadline=None, max_examples=40)
    @given(k=st.integers(1, 5), c=st.integers(1, 16), rate=st.floats(0, 0.95), more=st.floats(0.01, 0.05))
    def test_more_accepted_is_never_worse(self, k: int, c: int, rate: float, more: float) -> None:
        asked: dict[str, Any] = {"model": MIXTURE, "gpu": "h100", "k": k, "concurrency": c}
        less, greater = (advise.gain(**asked, acceptance=value) for value in (rate, rate + more))
        if less is not None and greater is not None:
            assert greater.mid > less.mid
            assert less.low < less.mid < less.high

    @settings(deadline=None, max_examples=40)
    @given(k=st.integers(1, 5), c=st.integers(1, 64))
    def test_nothing_accepted_never_helps(self, k: int, c: int) -> None:
        found = advise.gain(model=DENSE, gpu="h100", k=k, concurrency=c, acceptance=0.0, measured=NOTHING)
        assert found is None or found.mid < 1


class TestNothing:
    def test_a_block_drafter_that_nobody_measured(self) -> None:
        assert advise.gain(model="Qwen/Qwen3-8B", gpu="b200", method="dflash", k=15, concurrency=8) is None

    def test_a_method_that_is_not_known(self) -> None:
        assert advise.gain(model=DENSE, gpu="h100", method="telepathy") is None

    def test_a_model_and_a_gpu_that_are_not_known(self) -> None:
        assert advise.gain(model="nobody/nothing", gpu="nonesuch", k=6, concurrency=64) is None

    def test_a_measurement_makes_it_known(self) -> None:
        row = {"engine": "vllm", "model": "Qwen/Qwen3-8B", "gpu": "b200", "method": "dflash", "tokens": 15, "concurrency": 8}
        mine = Calibration((*published(), Measurement({**row, "off": 1000, "on": 700, "accepted": 3.0})))
        found = advise.gain(
            model="Qwen/Qwen3-8B", gpu="b200", method="dflash", k=15, concurrency=8, acceptance={"length": 3.0}, measured=mine
        )
        assert found is not None
        assert found.low < 0.7 < found.high
        assert found.near[0].source == "your own"


@pytest.mark.parametrize(
    ("acceptance", "length"),
    [
        (None, None),
        ({}, None),
        ({"rate": None}, None),
        (0.5, 2.0),
        ({"rate": 0.5}, 2.0),
        ({"length": 2.4}, 2.4),
        ({"per_pos": [0.8, 0.6]}, 2.4),
    ],
)
def test_how_acceptance_is_told(acceptance: Any, length: float | None) -> None:
    assert accepted_of(acceptance, 2) == (pytest.approx(length) if length is not None else None)


def test_what_nobody_says_is_guessed() -> None:
    assert Case("vllm", "mtp", MIXTURE, "gb10", 2).length == pytest.approx(2.43, abs=0.01)  # as its positions were measured


PRIOR = Prior(0.2, 0.1, True, 0.0, 0.02)


def estimate(mean: float, deviation: float = 0.1, near: list[tuple[float, Measurement]] | None = None) -> Gain:
    return Gain(Case("vllm", "mtp", DENSE, "h100", 2), Posterior(mean, deviation, near or [], PRIOR))


def test_the_interval_and_the_chance_of_an_estimate() -> None:
    found = estimate(0.2)
    spread = math.hypot(0.1, 0.12)  # and what no case states
    half = 1.14 * spread
    assert (found.low, found.mid, found.high) == pytest.approx((math.exp(0.2 - half), math.exp(0.2), math.exp(0.2 + half)))
    assert estimate(2 * spread).chance == pytest.approx(0.97725, abs=1e-5)  # the normal distribution at two deviations
    assert estimate(0.0).chance == 0.5
    assert estimate(-spread).chance == pytest.approx(0.15866, abs=1e-5)


def test_only_four_similar_measurements_are_listed() -> None:
    rows = published()[:6]
    alike = [0.9, 0.35, 0.34, 0.8, 0.7, 0.6]
    assert estimate(0.1, near=list(zip(alike, rows, strict=True))).near == [rows[0], rows[1], rows[3]]


@pytest.mark.parametrize(
    ("engine", "method", "accepted", "expected"),
    [
        ("vllm", "mtp", 2.0, 0.05),
        ("vllm", "mtp", None, math.hypot(0.05, 0.06)),
        ("sglang", "block", None, math.hypot(0.05, 0.15)),
        ("llama.cpp", "mtp", 2.0, math.hypot(0.05, 0.15)),
        ("llama.cpp", "block", None, math.hypot(0.05, 0.15, 0.15)),
        ("of-my-own", "mtp", 2.0, 0.05),
    ],
)
def test_how_much_two_measurements_of_one_case_differ(
    engine: str, method: str, accepted: float | None, expected: float
) -> None:
    assert noise(Case(engine, method, DENSE, "h100", 2, accepted=accepted)) == pytest.approx(expected)


@pytest.mark.parametrize(("gpu", "builds"), [("RTX 3090", 0.15), ("RX 7900 XTX", 0.2), ("Arc Pro B60", 0.2), (None, 0.15)])
def test_a_case_does_not_say_which_backend_llama_cpp_has(gpu: str | None, builds: float) -> None:
    assert noise(Case("llama.cpp", "mtp", DENSE, gpu, 2, accepted=2.0)) == pytest.approx(math.hypot(0.05, builds))


def test_measurements_of_llama_cpp_say_nothing_about_other_engines() -> None:
    row = {"engine": "llama.cpp", "model": DENSE, "gpu": "h100", "method": "mtp", "tokens": 2, "off": 100, "on": 50}
    measured = Calibration((Measurement(row),))
    asked = {"model": DENSE, "gpu": "h100", "k": 2}
    assert gain(measured=measured, **asked).mid == gain(measured=NOTHING, **asked).mid
    own = gain(engine="llama.cpp", measured=measured, **asked).mid
    assert own < 0.8 * gain(engine="llama.cpp", measured=NOTHING, **asked).mid


def curve(lows: dict[int, float]) -> Crossover:
    """A curve whose gain at each number of requests is e to that power, with a narrow interval; unknown elsewhere."""
    points = [(batch, estimate(lows[batch], 0.01) if batch in lows else None) for batch in BATCHES]
    return Crossover(2, tuple(points))


@pytest.mark.parametrize(
    ("gains", "dips"),
    [
        ({1: 0.3, 2: 0.3, 3: 0.3}, ()),
        ({1: 0.3, 2: -0.3, 3: -0.3, 4: 0.3}, ((2, 3),)),
        ({1: -0.3, 2: 0.3, 3: -0.3, 4: -0.3, 6: 0.3}, ((1, 1), (3, 4))),
        ({1: 0.3, 2: -0.3, 3: 0.3, 4: -0.3, 6: 0.3, 8: -0.3}, ((2, 2), (4, 4))),
        ({1: -0.3, 2: -0.3}, ()),
    ],
)
def test_dips_of_a_curve(gains: dict[int, float], dips: tuple[tuple[int, int], ...]) -> None:
    assert curve(gains).dips == dips


def test_where_a_loss_becomes_likely() -> None:
    assert curve({1: 0.3, 2: -0.3, 3: 0.3, 4: -0.3, 6: -0.3}).likely == 4
    assert curve({1: 0.3, 2: 0.3}).likely is None
    assert curve({1: 0.0}).likely == 1


class TestLookup:
    """N-grams of the prompt: no weights are read for a draft, and nothing is drafted in some steps."""

    def test_an_acceptance_that_was_measured_is_enough(self) -> None:
        found = advise.gain(model="Qwen/Qwen3-8B-FP8", gpu="rtx-4090", method="ngram", k=3, acceptance={"length": 2.56})
        assert found is not None
        assert 1 < found.mid < 2.56
        assert found.high < 2.56
        assert advise.gain(model="Qwen/Qwen3-8B-FP8", gpu="rtx-4090", method="ngram", k=3) is None

    def test_a_measurement_nearby_is_enough(self) -> None:
        """n-grams on an A40 without a known acceptance: 1.26 times as fast with 4 to 32 requests."""
        near = gain_of(Case("vllm", "lookup", "meta-llama/Llama-3.1-8B-Instruct", "A40", 3, 8, release="0.10.2"))
        assert near is not None
        assert near.low < 1.26 < near.high
        assert gain_of(Case("vllm", "lookup", "Qwen/Qwen3-32B", "H100", 3, 8)) is None

    def test_it_helps_less_where_the_host_hid_its_part(self) -> None:
        both = [
            advise.gain(model="Qwen/Qwen3-8B-FP8", gpu="h100", method="ngram", k=3, acceptance={"length": 2.0}, release=release)
            for release in ("0.13.0", "0.14.0")
        ]
        before, after = (one.mid if one is not None else 0.0 for one in both)
        assert 0 < after < 0.95 * before


def test_a_model_whose_host_looks_up_ngrams_is_left_open() -> None:
    """llama.cpp pull request 27836 has 0.46, with 88 % accepted."""
    model, gpu = "unsloth/Qwen3.8-Flash-Next-GGUF:UD-Q3_K_XL", "2x RTX A6000"
    assert advise.gain(engine="llama.cpp", model=model, gpu=gpu, k=2, acceptance=0.88) is None
