"""Where characters stand after edits: held against a list that says of each character where it was."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from servelint.lsp.edits import Standing, differing

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
EDITS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 10), st.text("ab\n", max_size=4)), max_size=12)


@PATIENT
@given(EDITS, st.integers(0, 29), st.integers(1, 10))
def test_a_place_stands_where_all_its_characters_do(edits: list[tuple[int, int, str]], start: int, length: int) -> None:
    standing = Standing.whole(40)
    was: list[int | None] = list(range(40))
    for low, count, text in edits:
        low = min(low, len(was))
        high = min(low + count, len(was))
        was[low:high] = [None] * len(text)
        standing = standing.edited(low, high, len(text))
    wanted = list(range(start, start + length))
    at = was.index(start) if start in was else len(was)
    there = was[at : at + length] == wanted
    assert standing.place(start, start + length) == ((at, at + length) if there else None)
    if there:
        assert standing.back(at) == start


def test_what_is_new_stood_nowhere() -> None:
    standing = Standing.whole(10).edited(4, 6, 8)
    assert [standing.back(offset) for offset in (4, 5, 11, 12)] == [4, None, None, 6]


def test_between_two_pieces_it_is_the_one_that_begins() -> None:
    standing = Standing.whole(10).edited(1, 2, 0)
    assert [standing.back(offset) for offset in (0, 1, 9)] == [0, 2, 10]


@PATIENT
@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_what_differs_is_one_range(before: str, after: str) -> None:
    start, end = differing(before, after)
    count = len(after) - len(before) + end - start
    assert before[:start] + after[start : start + count] + before[end:] == after
    assert (start == end and count == 0) == (before == after)


def test_an_edit_that_changes_nothing_splits_no_piece() -> None:
    standing = Standing.whole(30).edited(5, 6, 0).edited(14, 15, 0).edited(20, 20, 0)
    assert standing.place(16, 30) == (14, 28)
    assert standing.place(0, 5) == (0, 5)
    assert standing.place(4, 7) is None
