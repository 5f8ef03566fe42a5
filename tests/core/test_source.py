"""Sources and spans: offsets to lines and columns, as editors count them."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from servelint.core.source import Source, Span
from tests.together import together


@together(
    "text, offset, position",
    [
        ("", 0, (1, 1)),
        ("ab\ncd", 0, (1, 1)),
        ("ab\ncd", 2, (1, 3)),
        ("ab\ncd", 3, (2, 1)),
        ("ab\ncd", 5, (2, 3)),
        ("ab\r\ncd", 4, (2, 1)),
        ("ab\rcd", 3, (2, 1)),
        ("a\n\nb", 3, (3, 1)),
        ("a\u2028b\x85c", 4, (1, 5)),  # libyaml counts these as line breaks, editors do not
        ("😀b", 1, (1, 2)),
    ],
)
def test_position(text: str, offset: int, position: tuple[int, int]) -> None:
    assert Source("x", text).position(offset) == position


LINES = st.text(alphabet="ab\n\r\u2028\x85\té😀", max_size=40)


@given(LINES)
def test_lines_and_positions_agree(text: str) -> None:
    source = Source("x", text)
    lines = re.split(r"\r\n|\n|\r", text)
    assert [source.line_text(line + 1) for line in range(len(lines))] == lines
    for offset, char in enumerate(text):
        line, column = source.position(offset)
        if char not in "\r\n":
            assert source.line_text(line)[column - 1] == char


def test_a_line_that_is_not_there() -> None:
    source = Source("x", "a\n")
    assert (source.line_text(0), source.line_text(2), source.line_text(3)) == ("", "", "")


def test_a_line_keeps_all_but_its_end() -> None:
    source = Source("x", "ax\r\nb x\nx")
    assert [source.line_text(line) for line in (1, 2, 3)] == ["ax", "b x", "x"]


def test_span() -> None:
    source = Source("x", "one\ntwo three")
    span = Span(source, 4, 13)
    assert (span.text, span.line, span.end_line) == ("two three", 2, 2)
    assert span.sub(4, 9).text == "three"
    assert span == Span(source, 4, 13)
    assert span != Span(Source("x", "one\ntwo three"), 4, 13)
    assert Span(source, 0, 4).end_line == 1
    assert Span(source, 0, 5).end_line == 2
    assert repr(span) == "Span(x:2:1 'two three')"


@together(
    "path, page",
    [
        *[(f"docs/a{end}", True) for end in (".md", ".MDX", ".markdown", ".rst", ".ipynb")],
        *[(path, False) for path in ("a.yml", "md", "a.md.j2", "README.rst/run.sh")],
    ],
)
def test_pages_are_told_by_their_names(path: str, page: bool) -> None:
    assert Source(path, "").is_page is page


def test_a_source_without_more_than_its_text() -> None:
    source = Source("run.sh", "abc")
    assert (source.encoding, source.line_starts, repr(source)) == ("utf-8", [0], "Source('run.sh', 3 characters)")


def test_spans_are_values() -> None:
    source = Source("x", "one\ntwo three")
    span = Span(source, 4, 7)
    assert len({span, Span(source, 4, 7), Span(source, 4, 8), Span(source, 3, 7)}) == 3
    assert span != (4, 7)
    assert span.to(Span(source, 8, 13)) == Span(source, 4, 13)
    assert (Span(source, 4, 4).end_line, Span(source, 4, 4).text, Span(source, 0, 1).end_line) == (2, "", 1)
