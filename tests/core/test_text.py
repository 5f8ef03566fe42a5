"""Traced text: whatever is cut and joined, each character keeps the place at which it was written."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.run import Run, TooMuchWork
from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, HOLE, Piece, TracedText, spend, unknown

SOURCE = Source("x", "".join([chr(0x100 + index) for index in range(120)]))


@st.composite
def texts(draw: st.DrawFn) -> TracedText:
    """Runs of SOURCE in any order, made-up pieces, unknowns."""
    pieces: list[Piece] = []
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, 110))
        end = draw(st.integers(start, 115))
        kind = draw(st.sampled_from(["written", "made", "unknown", "nowhere", "empty"]))
        span = Span(SOURCE, start, end)
        if kind == "written":
            pieces.append(Piece(span.text, span, verbatim=True))
        elif kind == "made":
            pieces.append(Piece("made", span, assumed=draw(st.booleans())))
        elif kind == "unknown":
            pieces.append(unknown("${V}", span))
        elif kind == "empty":
            pieces.append(Piece("", span, assumed=True))
        else:
            pieces.append(Piece("nowhere", None))
    return TracedText(pieces)


def places(text: TracedText) -> list[tuple[str, int | None]]:
    """Each character with the offset at which it is written, where it is written just so."""
    found: list[tuple[str, int | None]] = []
    for piece in text.pieces:
        start = piece.span.start if piece.verbatim and piece.span is not None else None
        found += [(char, None if start is None else start + index) for index, char in enumerate(piece.text)]
    return found


@given(texts(), st.integers(-3, 60), st.integers(-3, 60))
def test_a_cut_is_a_slice(text: TracedText, start: int, end: int) -> None:
    part = text.cut(start, end)
    low, high = max(start, 0), max(end, 0)
    assert part.flat == text.flat[low:high]
    assert places(part) == places(text)[low:high]


def test_a_part_of_a_filled_text_is_not_filled() -> None:
    piece = TracedText.of("abc").pieces[0]
    piece.filled = True
    assert not piece.cut(0, 2).filled
    assert piece.cut(0, 3).filled


@given(texts(), st.integers(0, 60))
def test_a_cut_to_the_end(text: TracedText, start: int) -> None:
    assert places(text.cut(start)) == places(text)[start:]
    assert text.cut(0) is text.cut(-2, 9999) is text


@given(texts(), st.integers(-3, 60), st.none() | st.integers(-3, 60))
def test_the_place_of_a_part_is_that_of_the_cut(text: TracedText, start: int, end: int | None) -> None:
    part = text.cut(start, end if end is None else max(end, 0))
    assert text.span(start, end) == part.span()
    assert text.extent(start, end) == part.extent()


@given(st.lists(texts(), max_size=4))
def test_join_is_concatenation(parts: list[TracedText]) -> None:
    joined = TracedText.join(parts)
    assert joined.flat == "".join([part.flat for part in parts])
    assert places(joined) == [place for part in parts for place in places(part)]


@given(texts())
def test_known_is_without_a_hole(text: TracedText) -> None:
    has_unknown = any(piece.expression is not None for piece in text.pieces)
    assert text.known is not has_unknown
    assert (text.value is None) is has_unknown
    assert text.value in (None, text.flat)
    assert HOLE not in text.shown


@given(texts())
def test_written_is_what_stands_there(text: TracedText) -> None:
    span = text.written
    if span is not None:
        assert span.text == text.flat
        assert span.source is SOURCE


@given(texts())
def test_placing_changes_only_the_place(text: TracedText) -> None:
    here = Span(SOURCE, 3, 5)
    placed = text.placed(here, assumed=True)
    assert placed.flat == text.flat
    assert {piece.span for piece in placed.pieces} <= {here}
    assert placed.span() == placed.extent() == (here if text.pieces else None)
    assert placed.written is None or placed.flat == here.text
    assert placed.assumed == bool(placed.pieces)


def test_a_placed_text_keeps_where_it_came_from() -> None:
    text = TracedText.at(SOURCE, 7, 9)
    assert text.origin is None
    placed = TracedText.join((TracedText.of("a"), text.placed(Span(SOURCE, 3, 5))))
    assert placed.origin == Span(SOURCE, 7, 9)


@given(texts())
def test_softened_keeps_places(text: TracedText) -> None:
    soft = text.softened()
    assert places(soft) == places(text)
    assert soft.shown == text.shown
    assert all(piece.assumed for piece in soft.pieces)


def test_span_covers_what_stands_in_one_file_in_order() -> None:
    source = Source("x", "abcdef")
    ab, cd, ef = (TracedText.at(source, at, at + 2) for at in (0, 2, 4))
    assert TracedText.join([ab, ef]).span() == Span(source, 0, 6)
    assert TracedText.join([ef, ab]).span() is None
    assert TracedText.join([ab, TracedText.of("x"), cd]).span() == Span(source, 0, 4)
    assert TracedText.join([ab, TracedText.at(Source("y", "zz"), 0, 2)]).span() is None
    assert TracedText.join([ef, ab]).extent() == Span(source, 4, 6)
    assert EMPTY.span() is None
    assert EMPTY.extent() is None
    whole = TracedText.join([ab, cd, ef])
    for start, end in ((-1, 3), (-9, 6), (0, 9), (1, 5), (2, 4), (4, None), (-1, None)):
        low, high = max(start, 0), 6 if end is None else min(end, 6)
        assert whole.span(start, end) == whole.extent(start, end) == Span(source, low, high)
    assert whole.span(-1, 0) is whole.extent(3, 3) is whole.span(4, 2) is None
    inside = [TracedText.at(source, start, 6) for start in (0, 4, 2)]
    assert TracedText.join(inside).span() is None
    assert TracedText.join(inside[:2]).span() == Span(source, 0, 6)
    default = TracedText((Piece("", Span(source, 0, 2), assumed=True),))
    assert TracedText.join([default, ef]).span() == TracedText.join([default, ef]).extent() == Span(source, 0, 6)


def test_extent_leaves_out_what_stands_elsewhere() -> None:
    source, other = Source("x", "abcdef"), Source("y", "zz")
    ab, cd, ef = (TracedText.at(source, at, at + 2) for at in (0, 2, 4))
    elsewhere = TracedText.at(other, 0, 2)
    nowhere = TracedText.of("--")
    assert TracedText.join([ab, elsewhere, ef]).extent() == Span(source, 0, 6)
    assert TracedText.join([ab, nowhere, cd]).extent() == Span(source, 0, 4)
    assert TracedText.join([cd, ab, ef]).extent() == Span(source, 2, 6)
    assert TracedText.join([elsewhere, ab]).extent() == Span(other, 0, 2)
    assert TracedText.join([ab, cd, ef]).extent(1, 5) == Span(source, 1, 5)
    assert TracedText.join([nowhere, cd]).extent(0, 3) == Span(source, 2, 3)
    assert cd.extent(1) == Span(source, 3, 4)
    assert cd.extent(0, 1) == Span(source, 2, 3)
    assert TracedText.of("made", Span(source, 0, 2)).extent() == Span(source, 0, 2)
    assert TracedText((Piece("longer", Span(source, 2, 3)), Piece("x", Span(source, 2, 5)))).extent() == Span(source, 2, 5)


def test_written_is_none_for_what_the_file_has_otherwise() -> None:
    source = Source("x", "a'b'c")
    parts = [TracedText.at(source, 0, 1), TracedText.at(source, 2, 3)]
    assert parts[1].written == Span(source, 2, 3)
    assert TracedText.join(parts).written is None
    assert TracedText.of("b", Span(source, 2, 3)).written is None


def test_text_of_the_source_is_certain() -> None:
    text = TracedText.at(Source("x", "ab"), 0, 1)
    assert not text.assumed
    assert text.as_default().assumed
    assert EMPTY.as_default().assumed
    assert (EMPTY.as_default().flat, text.as_default().flat) == ("", "a")


@pytest.mark.parametrize(("pieces", "length", "work"), [(1, 500, 1), (63, 200, 63), (64, 200, 64 + 128)])
def test_the_work_of_a_text_is_counted(pieces: int, length: int, work: int) -> None:
    parts = [Piece("a" * length, None) for _ in range(pieces)]
    whole = TracedText(parts)
    with Run("x", 2 * work):
        assert len(TracedText(parts)) == len(TracedText.join([EMPTY, whole])) == pieces * length
    with pytest.raises(TooMuchWork), Run("x", work - 1):
        TracedText(parts)
    with pytest.raises(TooMuchWork), Run("x", work - 1):
        TracedText.join([EMPTY, whole])


def test_a_cut_of_one_piece_is_no_work() -> None:
    text = TracedText.at(SOURCE, 0, 9)
    with Run("x", 0):
        assert len(text.cut(2, 5)) == 3


def test_strip() -> None:
    source = Source("x", "  ab \n")
    assert TracedText.at(source, 0, 6).strip().span() == Span(source, 2, 4)


def test_an_unknown_is_shown_as_it_is_written() -> None:
    text = TracedText((Piece("a=", None), unknown("${V}", None), unknown('"$@"', None, shown="")))
    assert text.shown == "a=${V}"
    assert text.flat == f"a={HOLE}{HOLE}"
    assert repr(text) == "TracedText('a=${V}')"
    assert len(text) == 4


def test_the_empty_default_is_kept() -> None:
    assert TracedText((Piece("", None, assumed=True),)).assumed
    assert TracedText((Piece("", None),)).pieces == ()
    here = Span(SOURCE, 3, 9)
    default = TracedText((Piece("", here, assumed=True),))
    assert default.span() == default.span(0, 0) == default.extent(-1, 5) == here
    assert TracedText.of("made", here).span(1, 1) is None


class TestSub:
    TEXT = TracedText.at(Source("a", "x {a} y {b}"), 0, 11)

    def test_what_is_made_stands_for_a_match_and_the_rest_keeps_its_place(self) -> None:
        made = self.TEXT.sub(re.compile(r"\{(\w)\}"), lambda match: TracedText.of(match.group(1).upper()))
        assert made.flat == "x A y B"
        assert [piece.span is not None for piece in made.pieces] == [True, False, True, False]

    def test_none_leaves_a_match_as_it_is(self) -> None:
        made = self.TEXT.sub(re.compile(r"\{(\w)\}"), lambda match: EMPTY if match.group(1) == "a" else None)
        assert made.flat == "x  y {b}"

    def test_without_a_match_the_text_is_the_same(self) -> None:
        assert self.TEXT.sub(re.compile("z"), lambda _: EMPTY) is self.TEXT

    def test_an_unknown_is_shown_as_it_is_written(self) -> None:
        made = self.TEXT.sub(re.compile(r"\{\w\}"), self.TEXT.unknown)
        assert (made.value, made.shown) == (None, "x {a} y {b}")
        assert [(piece.span.start, piece.span.end) for piece in made.pieces if piece.expression and piece.span] == [
            (2, 5),
            (8, 11),
        ]


@pytest.mark.parametrize(("verbatim", "written"), [(True, "a"), (False, r"\x61b")])
def test_a_part_of_a_piece_that_is_not_verbatim_has_its_whole_span(verbatim: bool, written: str) -> None:
    content = "ab" if verbatim else r"\x61b"
    source = Source("x.sh", content)
    piece = Piece("ab", Span(source, 0, len(content)), verbatim=verbatim).cut(0, 1)
    assert piece.text == "a"
    assert piece.span is not None
    assert piece.span.text == written


def test_words_keep_their_places() -> None:
    source = Source("x", " ab  c\n")
    text = TracedText.at(source, 0, 7)
    assert [word.span() for word in text.split()] == [Span(source, 1, 3), Span(source, 5, 6)]
    assert TracedText.at(source, 4, 4).pieces == ()
    assert text.starts == [0]
    assert TracedText.join([text, TracedText.of("x"), text]).starts == [0, 7, 8]


def test_a_piece_of_which_only_the_text_is_known() -> None:
    for piece in (Piece("a", None), Piece("ab", None).cut(0, 1), TracedText.at(SOURCE, 0, 1).pieces[0]):
        assert (piece.expression, piece.shown, piece.origin, piece.perhaps) == (None,) * 4
        assert (piece.assumed, piece.filled) == (False, False)
    assert not Piece("a", Span(SOURCE, 0, 1)).verbatim
    assert TracedText.at(SOURCE, 0, 1).pieces[0].verbatim


def test_an_unknown_is_never_cut() -> None:
    perhaps = TracedText.of("--flag")
    piece = unknown("${V:+--flag}", Span(SOURCE, 3, 9), perhaps=perhaps)
    assert (piece.text, piece.shown, piece.perhaps, piece.verbatim) == (HOLE, "${V:+--flag}", perhaps, False)
    assert piece.cut(0, 0) is piece
    text = TracedText((piece, Piece("abc", Span(SOURCE, 9, 12), verbatim=True)))
    assert text.span(0, 2) == Span(SOURCE, 3, 10)
    assert (text.known, text.value, text.cut(1).value) == (False, None, "abc")
    assert TracedText((piece,)).span(0, 5) == Span(SOURCE, 3, 9)


@given(texts())
def test_what_is_changed_about_a_text_leaves_the_rest(text: TracedText) -> None:
    origin = Span(SOURCE, 1, 2)
    for piece in text.pieces:
        piece.filled, piece.origin = True, origin
    softened, placed = text.softened(), text.placed(None)
    for before, after, moved in zip(text.pieces, softened.pieces, placed.pieces, strict=True):
        assert (after.text, after.span, after.verbatim, after.expression) == (
            before.text, before.span, before.verbatim, before.expression,
        )  # fmt: skip
        assert (after.shown, after.origin, after.perhaps, after.filled) == (before.shown, origin, before.perhaps, True)
        assert (moved.span, moved.verbatim, moved.origin, moved.assumed) == (None, False, origin, before.assumed)
        assert (moved.text, moved.expression, moved.shown, moved.filled) == (before.text, before.expression, before.shown, True)
    assert text.origin == (origin if text.pieces else None)
    assert softened.softened() is softened


@pytest.mark.parametrize(("characters", "pieces"), [(0, 0), (99, 0), (100, 1), (250, 2)])
def test_characters_are_work_as_well(characters: int, pieces: int) -> None:
    with Run("x", pieces):
        spend(characters)
    if pieces:
        with pytest.raises(TooMuchWork), Run("x", pieces - 1):
            spend(characters)
    spend(10**9)  # outside of a run


def test_a_long_cut_is_work_by_its_characters() -> None:
    text = TracedText([Piece("a" * 200, None) for _ in range(70)])
    with Run("x", 63):
        text.cut(200, 64 * 200)
    with pytest.raises(TooMuchWork), Run("x", 62):
        text.cut(200, 64 * 200)
    with pytest.raises(TooMuchWork), Run("x", 64 + 127):
        text.cut(200, 65 * 200)
    with Run("x", 64 + 128):
        text.cut(200, 65 * 200)


def test_matches_beside_each_other_are_replaced() -> None:
    text = TracedText.at(SOURCE, 0, 4)
    made = text.sub(re.compile("."), lambda match: TracedText.of("x") if match.start() < 3 else None)
    assert (made.flat, made.extent()) == ("xxx" + SOURCE.text[3], Span(SOURCE, 3, 4))


def test_an_unknown_value_in_what_a_program_printed_is_shown_as_dots() -> None:
    assert TracedText.of(f"cat {HOLE}/key").shown == "cat .../key"
