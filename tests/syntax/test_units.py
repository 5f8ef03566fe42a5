"""Words of a unit's command lines, for any text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from servelint.core.launch import Word
from servelint.core.source import Source
from servelint.core.text import HOLE, TracedText, unknown
from servelint.syntax.units import commands, expanded, specified, split

LINES = st.text("ab '\"\\\t;$%{}n0x", max_size=60)


def text_of(line: str) -> TracedText:
    return TracedText.at(Source("x.service", line), 0, len(line)) if line else TracedText(())


def check(words: list[Word], line: str) -> None:
    """Every word stands in the line, its characters at their places."""
    end = 0
    for word in words:
        assert word.site is not None
        assert 0 <= end <= word.site.start < word.site.end <= len(line)
        end = word.site.end
        for piece in word.text.pieces:
            assert piece.span is not None
            assert word.site.start <= piece.span.start <= piece.span.end <= word.site.end
            assert not piece.verbatim or piece.span.text == piece.text


@given(LINES, st.booleans())
def test_words_stand_in_their_line(line: str, escapes: bool) -> None:
    check(split(text_of(line), escapes=escapes), line)


@given(LINES)
def test_commands_hold_the_same_words(line: str) -> None:
    found = commands(text_of(line))
    check([word for words in found for word in words], line)
    assert all(found)


@given(LINES, st.sampled_from(["", "c", "c d", "'c d' e"]))
def test_variables_add_words_of_their_value_only(line: str, value: str) -> None:
    variable = text_of(value)
    words = [specified(word) for word in split(text_of(line))]
    for word in expanded(words, lambda name: variable if name in ("a", "b") else None):
        for piece in word.text.pieces:
            assert piece.expression is not None or piece.span is not None
            assert piece.text != HOLE or piece.expression is not None


@given(st.lists(st.sampled_from(["a", " ", HOLE]), max_size=20))
def test_unknown_parts_stay(parts: list[str]) -> None:
    text = TracedText.join([TracedText((unknown("@V@", None),)) if part == HOLE else TracedText.of(part) for part in parts])
    words = split(text)
    assert [word.text.flat for word in words] == "".join(parts).split()
    assert [word.many for word in words] == [word.text.flat == HOLE for word in words]


def test_plain_words_are_those_between_blanks() -> None:
    line = "a  b\tc "
    words = split(text_of(line))
    assert [word.value for word in words] == line.split()
    assert [word.site.text for word in words if word.site is not None] == line.split()
