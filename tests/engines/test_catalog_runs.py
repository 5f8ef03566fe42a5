"""Runs of releases: their short form, and back."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.engines.catalog import format_runs, parse_runs

RELEASES = ["0.1", "0.1.post1", "0.2rc1", "0.2", "b300", "1.0"]
POSITION = {release: index for index, release in enumerate(RELEASES)}


@pytest.mark.parametrize(
    ("indexes", "text"),
    [
        ([0], "0.1"),
        ([0, 1], "0.1..0.1.post1"),
        ([0, 2, 4], "0.1, 0.2rc1, b300"),
        ([5], "1.0.."),
        ([0, 1, 2, 3, 4, 5], "0.1.."),
        ([1, 2, 4, 5], "0.1.post1..0.2rc1, b300.."),
    ],
)
def test_form(indexes: list[int], text: str) -> None:
    assert format_runs(indexes, RELEASES) == text


@given(st.sets(st.integers(0, len(RELEASES) - 1), min_size=1))
def test_round_trip(indexes: set[int]) -> None:
    runs = parse_runs(format_runs(sorted(indexes), RELEASES), POSITION)
    assert [index for first, last in runs for index in range(first, last + 1)] == sorted(indexes)
    assert all(one[1] + 1 < other[0] for one, other in itertools.pairwise(runs))  # no two of them touch


def test_an_open_end_reaches_to_a_release_that_is_added() -> None:
    assert parse_runs("0.2..", {**POSITION, "2.0": 6}) == [(3, 6)]
    assert parse_runs("0.2..1.0", {**POSITION, "2.0": 6}) == [(3, 5)]


@pytest.mark.parametrize("text", ["0.9", "0.1..0.9", "0.9.."])
def test_a_release_that_is_not_there(text: str) -> None:
    with pytest.raises(KeyError):
        parse_runs(text, POSITION)
