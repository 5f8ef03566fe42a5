"""Positions in each encoding, compared with encoding the line."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lsprotocol import types

from servelint.core.source import Source
from servelint.lsp.documents import Positions
from tests.lsp import told

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
TEXTS = st.text("ab \n\u00e9\u4f8b\U0001f642", max_size=30)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@PATIENT
@given(text=TEXTS, share=st.floats(0, 1))
def test_there_and_back(encoding: str, text: str, share: float) -> None:
    offset = int(len(text) * share)
    source, positions = Source("a.sh", text), Positions(encoding)
    found = positions.position(source, offset)
    assert found == told.position(text, offset, encoding)
    assert positions.offset(source, found) == offset == told.offset(text, found, encoding)


def test_lines_end_as_the_protocol_says() -> None:
    """Not at U+2028, a form feed or NEL, where other counts of lines end."""
    source = Source("a.sh", "a\r\nb\rc\u2028d\x0ce\x85f\ng")
    assert [Positions("utf-16").position(source, source.text.index(char)).line for char in "abcdefg"] == [0, 1, 2, 2, 2, 2, 3]


def test_between_a_carriage_return_and_its_line_feed_there_is_no_position() -> None:
    found = [Positions("utf-16").position(Source("a.sh", "ab\r\nc\rd"), offset) for offset in (2, 3, 4, 6)]
    assert [(one.line, one.character) for one in found] == [(0, 2), (0, 2), (1, 0), (2, 0)]


@pytest.mark.parametrize(
    ("line", "character", "offset"),
    [(0, 99, 2), (1, 2, 7), (1, 3, 7), (9, 0, 8), (2, 0, 8)],
    ids=["behind a line", "behind half a character", "behind a character", "behind the text", "the last, empty line"],
)
def test_positions_that_are_not_there(line: int, character: int, offset: int) -> None:
    source = Source("a.sh", "ab\r\nx\U0001f642y\n".replace("y", ""))
    assert Positions("utf-16").offset(source, types.Position(line, character)) == min(offset, len(source.text)) - (line == 1)
