"""just's expressions, for any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.source import Source
from servelint.core.text import HOLE, TracedText
from servelint.syntax.just import Expression, Justfile, Wrong

PARTS = [
    "a",
    "b",
    "'x'",
    '"y"',
    "`z`",
    " + ",
    " / ",
    "(",
    ")",
    "{",
    "}",
    "if ",
    " else ",
    " == ",
    "env('A')",
    ",",
    "\n",
    "'",
    '"',
    "\\",
]


def evaluated(text: str) -> TracedText:
    return Expression(Source("justfile", text), 0, len(text), lambda name: None, lambda name: None).read()


@given(st.lists(st.sampled_from(PARTS), max_size=20))
def test_any_text_is_read_or_refused(parts: list[str]) -> None:
    text = "".join(parts)
    try:
        found = evaluated(text)
    except Wrong:
        return
    for piece in found.pieces:
        assert piece.text != HOLE or piece.expression is not None
        assert piece.span is None or 0 <= piece.span.start <= piece.span.end <= len(text)


@pytest.mark.parametrize("text", ["", "+", "'a", "'a' +", "(", "if 'a' { 'b' }", "if 'a' == 'b' { 'c' }", "()" * 5, "(" * 100])
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(Wrong):
        evaluated(text)


@given(st.lists(st.sampled_from([*PARTS, "x := ", "r a='b' *c:\n  ", "{{", "}}", "set export\n", "#"]), max_size=20))
def test_any_justfile_is_read(parts: list[str]) -> None:
    text = "".join(parts)
    justfile = Justfile(Source("justfile", text))
    for recipe in justfile.recipes:
        for script in justfile.scripts(recipe):
            extent = script.extent()
            assert extent is None or 0 <= extent.start <= extent.end <= len(text)


def test_a_variable_that_stands_for_itself() -> None:
    justfile = Justfile(Source("justfile", "a := b\nb := a\nc := 'x'\n"))
    assert justfile.variable("c") is not None
    value = justfile.variable("a")
    assert value is None or not value.known
