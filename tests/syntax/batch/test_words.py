"""Command lines of batch files, for any text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.syntax.batch.syntax import For, If, Node, Several, Simple, parse
from servelint.syntax.batch.words import fill, program, split

LINES = st.text('ab "\\\t%!^&|<>()=:~,1\n', max_size=60)


def text_of(line: str) -> TracedText:
    return TracedText.at(Source("x.bat", line), 0, len(line)) if line else TracedText(())


def simple(nodes: list[Node]) -> list[Simple]:
    found: list[Simple] = []
    for node in nodes:
        if isinstance(node, Simple):
            found.append(node)
        elif isinstance(node, Several):
            found += simple([item for _, item in node.items])
        elif isinstance(node, If):
            found += simple([node.then] if node.otherwise is None else [node.then, node.otherwise])
        elif isinstance(node, For):
            found += simple([node.body])
    return found


@given(LINES)
def test_words_stand_in_their_line(line: str) -> None:
    for word in split(fill(text_of(line), lambda name: None, None, {})):
        assert word.site is not None
        assert 0 <= word.site.start < word.site.end <= len(line)
        for piece in word.text.pieces:
            assert piece.span is not None
            assert 0 <= piece.span.start <= piece.span.end <= len(line)
            assert not piece.verbatim or piece.span.text == piece.text


@given(LINES, st.sampled_from(["", "c", "c d", '"c d" e']))
def test_a_value_stands_where_its_variable_is_used(line: str, value: str) -> None:
    given_elsewhere = text_of(value)
    filled = fill(text_of(line), lambda name: given_elsewhere, lambda name: given_elsewhere, {"a": None})
    assert [use[0] for use in filled.uses] == sorted([use[0] for use in filled.uses])
    for start, end, span in filled.uses:
        assert span is not None
        assert 0 <= start < end <= len(filled.text.flat)
        assert span.text[:1] in ("%", "!")
        assert filled.site(start, end) == span
    for word in split(filled):
        assert program(word).site == word.site


@given(LINES)
def test_commands_are_in_order_and_apart(line: str) -> None:
    end = 0
    for node in simple(parse(text_of(line))):
        extent = node.text.extent()
        if extent is not None:
            assert end <= extent.start
            end = extent.end


@given(st.text("(if a==b %for in do\n)", max_size=80))
def test_blocks_of_any_shape_are_parsed(line: str) -> None:
    for node in simple(parse(text_of(line))):
        assert set(node.text.flat) <= set(line)


@given(st.text("ab \\\"'", max_size=12))
def test_a_word_that_is_quoted_comes_back(value: str) -> None:
    """The usual way to quote an argument: backslashes in front of a quote are doubled, the quote gets one more."""
    quoted = ""
    slashes = 0
    for char in value:
        if char == "\\":
            slashes += 1
            continue
        quoted += "\\" * (2 * slashes + 1 if char == '"' else slashes) + char
        slashes = 0
    line = '"' + quoted + "\\" * (2 * slashes) + '"'
    words = split(fill(text_of(line), lambda name: None, None, {}))
    assert [word.value for word in words] == [value]
