"""What stands at an offset of a JSON text, finished or not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.lsp.cursor import Spot, spot
from tests.lsp.marked import MARK
from tests.together import together


def at(text: str) -> Spot | None:
    before, _, after = text.partition(MARK)
    return spot(before + after, len(before))


@together(
    "text, written",
    [
        ('{"met‸hod": "mtp"}', "method"),
        ('{"‸method": "mtp"}', "method"),
        ('{"method‸": "mtp"}', "method"),
        ('{"met‸', "met"),
        ('{"met‸}', "met"),
        ('{"met‸, "tokens": 2}', "met"),
        ('{"method": "mtp", "tok‸"}', "tok"),
        ("{‸", ""),
        ("{‸}", ""),
        ('{"method": "mtp",‸}', ""),
        ('{"method": "mtp", ‸ "tokens": 2}', ""),
    ],
)
def test_a_key(text: str, written: str) -> None:
    found = at(text)
    assert found is not None
    assert found.is_key
    assert text.replace(MARK, "")[found.start : found.end] == written


@pytest.mark.parametrize(
    ("text", "path", "written"),
    [
        ('{"method": "m‸tp"}', ("method",), "mtp"),
        ('{"method": "‸"}', ("method",), ""),
        ('{"method": "‸', ("method",), ""),
        ('{"method": ‸}', ("method",), ""),
        ('{"tokens": 2‸, "method": "mtp"}', ("tokens",), "2"),
        ('{"pass_config": {"fuse": tru‸e}}', ("pass_config", "fuse"), "true"),
    ],
)
def test_the_value_of_a_key(text: str, path: tuple[str, ...], written: str) -> None:
    found = at(text)
    assert found is not None
    assert not found.is_key
    assert found.path == path
    assert text.replace(MARK, "")[found.start : found.end] == written


def test_a_key_knows_the_objects_around_it_and_the_other_keys_beside_it() -> None:
    found = at('{"level": 3, "pass_config": {"a": 1, "fu‸": 2, "b": 3}, "mode": 1}')
    assert found is not None
    assert found.path == ("pass_config",)
    assert found.keys == {"a", "b"}


@pytest.mark.parametrize("text", ['‸{"a": 1}', '{"a": 1}‸', '{"a": [1, ‸]}', "[‸]", "‸", "abc‸"])
def test_nothing_outside_of_an_object(text: str) -> None:
    assert at(text) is None


@pytest.mark.parametrize(("text", "closed"), [('{"met‸"', True), ('{"met‸', False)])
def test_whether_its_quote_is_closed(text: str, closed: bool) -> None:
    found = at(text)
    assert found is not None
    assert found.quoted
    assert found.closed is closed


@given(st.text('{}[]":, \\ab1', max_size=24), st.integers(0, 24))
def test_any_text_has_an_answer_within_it(text: str, offset: int) -> None:
    offset = min(offset, len(text))
    found = spot(text, offset)
    assert found is None or 0 <= found.start <= found.end <= len(text)
