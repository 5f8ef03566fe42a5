"""What a config class's field takes."""

from __future__ import annotations

from typing import Any

import pytest

from servelint.core.text import TracedText
from servelint.judge.parser.values import expected_of, expected_of_node
from servelint.syntax.json import JsonNode, parse
from tests.together import together


@together(
    "body, value",
    [
        ({"type": "int"}, 3),
        ({"type": "int"}, 3.0),
        ({"type": "int"}, "3"),
        ({"type": "int"}, " 3.0 "),
        ({"type": "int"}, True),
        ({"type": "float"}, "1e3"),
        ({"type": "float"}, 1),
        ({"type": "bool"}, "Yes"),
        ({"type": "bool"}, 0),
        ({"type": "str"}, "3"),
        ({"type": ["int", "str", "null"]}, "three"),
        ({"type": "any"}, "x"),
        ({"type": ["list", "int"]}, "x"),
        ({"type": "unheard"}, "x"),
        ({"type": "str", "choices": ["a", "b"]}, "a"),
        ({"type": ["int", "null"], "choices": [2, 3, None]}, 2),
        ({"type": "any", "choices": ["NONE", "FULL", 0]}, "full"),
        ({"type": "any", "choices": ["NONE", "FULL", 0]}, 0),
        ({"type": "int", "ge": 1}, 1),
        ({"type": "float", "gt": 0, "le": 1}, "1"),
    ],
)
def test_takes(body: dict[str, Any], value: str | float | bool) -> None:
    assert expected_of(body, value) is None


@together(
    "body, value, wanted",
    [
        ({"type": "int"}, "three", "a whole number"),
        ({"type": "int"}, 1.5, "a whole number"),
        ({"type": ["float", "null"]}, "x", "a number"),
        ({"type": "bool"}, "maybe", "true or false"),
        ({"type": "bool"}, 2, "true or false"),
        ({"type": "str"}, 3, "a text"),
        ({"type": ["bool", "int"]}, "x", "true or false or a whole number"),
        ({"type": ["str", "null"], "choices": ["a", "b", None]}, "c", "a or b"),
        ({"type": "int", "choices": [2, 3]}, "2", "2 or 3"),
        ({"type": "any", "choices": ["NONE", "FULL", 0]}, "most", "NONE, FULL or 0"),
        ({"type": "any", "choices": ["NONE", "FULL", 0]}, 7, "NONE, FULL or 0"),
        ({"type": "int", "ge": 1}, 0, "a number of at least 1"),
        ({"type": "int", "gt": 0}, "0", "a number of more than 0"),
        ({"type": "float", "ge": 0, "lt": 1}, 1, "a number of less than 1"),
        ({"type": "int", "ge": 1, "le": 8}, 9, "a number of at most 8"),
    ],
)
def test_does_not_take(body: dict[str, Any], value: str | float | bool, wanted: str) -> None:
    assert expected_of(body, value) == wanted


@pytest.mark.parametrize("text", ["null", "[1]", "{}"])
def test_says_nothing_of_what_is_no_single_value(text: str) -> None:
    node = parse(TracedText.of(text))
    assert isinstance(node, JsonNode)
    assert expected_of_node({"type": "int"}, node) is None
