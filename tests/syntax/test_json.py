"""JSON as positioned nodes: the values of json.loads, each at its place, and unknown parts that stay unknown."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.run import Run
from servelint.core.source import Source
from servelint.core.text import Piece, TracedText, unknown
from servelint.syntax import json as json_nodes
from servelint.syntax.json import ARRAY, OBJECT, UNKNOWN, JsonFault, JsonNode, parse
from tests.together import together


def text_of(text: str) -> TracedText:
    return TracedText.at(Source("x", text), 0, len(text))


def value(node: JsonNode) -> Any:
    """A node as json.loads gives it."""
    if node.kind == OBJECT:
        return {name: value(member) for name, (_, member) in node.members.items()}
    if node.kind == ARRAY:
        return [value(item) for item in node.items]
    return node.value


def node(text: str) -> JsonNode:
    parsed = parse(text_of(text))
    assert isinstance(parsed, JsonNode)
    return parsed


def same(one: Any, other: Any) -> bool:
    """Equality in which 1 is not 1.0 or True, and NaN is NaN."""
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(left, right) for left, right in zip(one, other, strict=True))
    return type(one) is type(other) and bool(one == other)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_what_is_dumped_is_read_back(given_value: Any, indent: int | str | None, ascii_only: bool) -> None:
    text = json.dumps(given_value, indent=indent, ensure_ascii=ascii_only)
    assert same(value(node(text)), given_value)


@given(VALUES)
def test_every_node_stands_where_it_says(given_value: Any) -> None:
    def look(one: JsonNode) -> None:
        span = one.text.span()
        assert span is not None
        assert same(json.loads(span.text), value(one))
        for key, member in one.members.values():
            look(key)
            look(member)
        for item in one.items:
            look(item)

    look(node(json.dumps(given_value)))


PIECES = st.sampled_from(
    ["{", "}", "[", "]", ",", ":", '"', '"a"', '"b"', "1", "-", "0", ".5", "e3", "true", "null", "NaN", "-Infinity", " ", "\n",
     "\\", "\\n", "\\u00e9", "'", "\x01", "x"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=10).map("".join))
def test_accepts_what_json_loads_accepts(text: str) -> None:
    parsed = parse(text_of(text))
    try:
        expected = json.loads(text)
    except ValueError:
        assert isinstance(parsed, JsonFault)
        assert 0 <= parsed.offset <= len(text)
    else:
        assert isinstance(parsed, JsonNode)
        assert same(value(parsed), expected)


@pytest.mark.parametrize(
    "text",
    ['"\\ud83d\\ude00"', '"\\ud83d"', '"\\ud83d\\u0041"', '"\\ude00\\ud83d"', '"\\ud83dx"'],
)
def test_surrogates(text: str) -> None:
    expected = json.loads(text)
    replaced = "".join(["\ufffd" if 0xD800 <= ord(char) < 0xE000 else char for char in expected])
    assert node(text).value == replaced


@together(
    "text, message, offset",
    [
        ("", "the JSON ends where a value is expected", 0),
        ("{'a': 1}", "a key in double quotes is expected", 1),
        ("['a']", "JSON strings are written in double quotes", 1),
        ('{"a" 1}', "a colon is expected after the key", 5),
        ('{"a": 1 "b": 2}', "a comma or a closing brace is expected", 8),
        ('{"a": 1,}', "a comma with nothing after it", 7),
        ("[1,]", "a comma with nothing after it", 2),
        ("[1 2]", "a comma or a closing bracket is expected", 3),
        ('{"a": "b', "the string is not closed", 6),
        ('"a\nb"', "a control character in a string", 2),
        ('"\\x"', "not an escape that JSON knows", 1),
        ('"\\u12g4"', "\\u takes four hexadecimal digits", 1),
        ("{} {}", "text after the end of the JSON value", 3),
        ("True", "not a JSON value", 0),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, message: str, offset: int) -> None:
    fault = parse(text_of(text))
    assert isinstance(fault, JsonFault)
    assert (fault.message, fault.offset) == (message, offset)


def test_what_is_nested_too_deeply_is_not_known() -> None:
    with Run("x.json") as run:
        assert node("[" * 64 + "]" * 64).kind == json_nodes.ARRAY
        assert node("[" * 66 + "]" * 66).kind == json_nodes.UNKNOWN
    assert [one.message for one in run.problems] == ["not read: the JSON is nested more than 64 levels deep"]


def mixed(*parts: str | None) -> TracedText:
    """A text whose None parts are unknown."""
    return TracedText([Piece(part, None) if part is not None else unknown("${V}", None) for part in parts])


def unknown_parts(*parts: str | None) -> JsonNode:
    parsed = parse(mixed(*parts))
    assert isinstance(parsed, JsonNode)
    return parsed


def test_an_unknown_value() -> None:
    parsed = unknown_parts('{"n": ', None, ', "m": "mtp"}')
    assert parsed.members["n"][1].kind == UNKNOWN
    assert parsed.members["m"][1].value == "mtp"
    assert not parsed.open


def test_an_unknown_inside_a_value() -> None:
    parsed = unknown_parts('{"n": 1', None, ', "m": "a', None, '", "k": 2}')
    assert parsed.members["n"][1].kind == UNKNOWN
    assert parsed.members["m"][1].value is None
    assert parsed.members["m"][1].content.shown == "a${V}"
    assert parsed.members["k"][1].value == 2


def test_an_unknown_member_may_be_any() -> None:
    assert unknown_parts('{"n": 1, ', None, "}").open
    assert unknown_parts("{", None, ', "n": 1}').open
    assert unknown_parts('{"', None, '": 1}').open
    assert unknown_parts("[1, ", None, "]").open
    assert not unknown_parts('{"n": [', None, "]}").open


def test_all_unknown() -> None:
    assert unknown_parts(None).kind == UNKNOWN


def test_a_repeated_key_has_its_last_value() -> None:
    parsed = node('{"a": 1, "a": 2}')
    assert value(parsed) == json.loads('{"a": 1, "a": 2}')


def test_huge_numbers() -> None:
    assert node("1" * 150).value == int("1" * 150)
    assert node("1" * 5000).kind == json_nodes.UNKNOWN
    assert node("1e999").value == math.inf


def test_kinds() -> None:
    kinds = [json_nodes.OBJECT, json_nodes.ARRAY, json_nodes.STRING, json_nodes.NUMBER, json_nodes.WORD]
    assert [node(text).kind for text in ("{}", "[]", '""', "1", "true")] == kinds
