"""Interpolation as the Compose specification has it, https://github.com/compose-spec/compose-spec/blob/main/12-interpolation.md."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.source import Source
from servelint.core.text import HOLE, TracedText
from servelint.syntax.interpolation import interpolate, nothing
from tests.together import together

KNOWN = {"SET": "value", "EMPTY": "", "HOLE": None}


def lookup(name: str) -> TracedText | None:
    value = KNOWN.get(name)
    return TracedText.of(value) if value is not None else None


def result(content: str) -> TracedText:
    return interpolate(TracedText.at(Source("x", content), 0, len(content)), lookup)


@together(
    "content, value",
    [
        ("plain", "plain"),
        ("$SET", "value"),
        ("a${SET}b", "avalueb"),
        ("$SET.x", "value.x"),
        ("$SET-x", "value-x"),
        ("$SETX", "${SETX}"),
        ("${NONE}", "${NONE}"),
        ("${SET:-d}", "value"),
        ("${EMPTY:-d}", "d"),
        ("${NONE:-d}", "d"),
        ("${SET-d}", "value"),
        ("${EMPTY-d}", ""),
        ("${NONE-d}", "d"),
        ("${NONE:-}", ""),
        ("${NONE:-a b}", "a b"),
        ("${NONE:-a:-b}", "a:-b"),
        ('${NONE:-{"a": 1}}', '{"a": 1}'),
        ("${SET:?must be set}", "value"),
        ("${NONE:?must be set}", "${NONE}"),
        ("${NONE?must be set}", "${NONE}"),
        ("${SET:+other}", "other"),
        ("${EMPTY:+other}", ""),
        ("${EMPTY+other}", "other"),
        ("${SET+other}", "other"),
        ("${NONE:+other}", ""),
        ("${NONE:-${SET}}", "value"),
        ("${NONE:-${NOR:-${SET}x}y}", "valuexy"),
        ("${NONE:-${NOR}}", "${NOR}"),
        ("${SET:+${SET}}", "value"),
        ("$$SET", "$SET"),
        ("$${SET}", "${SET}"),
        ("$$$SET", "$value"),
        ("${NONE:-$$x}", "$x"),
        ("$", "$"),
        ("a$ b", "a$ b"),
        ("$1", "$1"),
        ("${", "${"),
        ("${SET", "${SET"),
        ("${1}", "${1}"),
        ("${SET!x}", "${SET!x}"),
        ("$(date)", "$(date)"),
    ],
)
def test_values(content: str, value: str) -> None:
    assert result(content).shown == value


@pytest.mark.parametrize(
    ("content", "assumed"),
    [("plain", False), ("$SET", True), ("${NONE:-d}", True), ("${NONE:-}", True), ("$$SET", False), ("${SET:+x}", False)],
)
def test_what_the_environment_may_override_is_assumed(content: str, assumed: bool) -> None:
    assert result(content).assumed is assumed


@pytest.mark.parametrize("content", ["${NONE}", "$NONE", "${NONE:?x}", "${NONE:+x}", "${NONE+x}"])
def test_what_nobody_knows_is_unknown(content: str) -> None:
    text = result(content)
    assert text.value is None
    assert text.flat == HOLE
    span = text.span()
    assert span is not None
    assert span.text == content


def test_what_a_variable_that_is_set_would_bring() -> None:
    piece = result("${NONE:+--flag $SET}").pieces[0]
    assert piece.perhaps is not None
    assert piece.perhaps.value == "--flag value"
    assert piece.shown == ""


def test_places() -> None:
    content = "a ${SET} ${NONE:-def} $$"
    text = result(content)
    assert [(piece.text, piece.span.text if piece.span else None) for piece in text.pieces] == [
        ("a ", "a "),
        ("value", "${SET}"),
        (" ", " "),
        ("def", "def"),
        (" ", " "),
        ("$", "$$"),
    ]


def test_where_a_value_comes_from_is_kept() -> None:
    env = Source(".env", "SET=value")
    text = interpolate(TracedText.at(Source("x", "$SET"), 0, 4), lambda name: TracedText.at(env, 4, 9))
    assert text.origin is not None
    assert (text.origin.source, text.origin.text) == (env, "value")


@given(st.text(alphabet="${}:-+?aB$ \n", max_size=30))
def test_any_text_ends(content: str) -> None:
    text = interpolate(TracedText.at(Source("x", content), 0, len(content)), nothing)
    for piece in text.pieces:
        assert piece.span is not None
        assert not piece.verbatim or piece.span.text == piece.text
    if "$" not in content:
        assert text.value == content


def test_nested_without_end() -> None:
    assert result("${A:-" * 500 + "}" * 500).flat.startswith("${A:-")
    assert result("${SET:+" * 500 + "}" * 500).flat.startswith("${SET:+")


def test_an_unknown_alternative_is_shown_with_its_braces() -> None:
    (piece,) = result("a ${HOLE:+b}c".removeprefix("a ").removesuffix("c")).pieces
    assert (piece.expression, piece.span is not None and piece.span.text) == ("${HOLE:+b}", "${HOLE:+b}")
    before, unknown, after = result("a ${HOLE:+b}c").pieces
    assert (before.text, unknown.expression, after.text) == ("a ", "${HOLE:+b}", "c")
    assert [piece.span.text for piece in (before, unknown, after) if piece.span is not None] == ["a ", "${HOLE:+b}", "c"]
