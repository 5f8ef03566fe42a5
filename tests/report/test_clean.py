"""Texts and data of others, made safe to print: what each part of `clean` does, apart from the formats that use it."""

from __future__ import annotations

import json
from typing import Any

from servelint.report.clean import clean, clean_lines, code, encoded, escape, escapes, harmless, json_list, link, plain
from tests.together import together

TOKEN = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"


@together(
    "text, expected",
    [
        ("::set-output::", "\\x3a:set-output::"),
        ("  ::error x", "  \\x3a:error x"),
        ("a ::error x", "a ::error x"),
        ("::1", "::1"),
        ("a ##[group]", "a \\x23#[group]"),
        ("##vso[a]", "\\x23#vso[a]"),
        ("## a", "## a"),
        ("a\u3164b", "a\\u3164b"),
        ("\x7f\x80\uffff\U00010000\U000e0001", "\\x7f\\x80\\uffff\U00010000\\U000e0001"),
        ("\udc80\udcff\udc7f", "\\x80\\xff\\udc7f"),
        ("caf\u00e9", "caf\u00e9"),
    ],
)
def test_what_steers_is_escaped(text: str, expected: str) -> None:
    assert clean(text) == escapes(text) == expected


def test_lines_stay_lines_and_secrets_go() -> None:
    assert clean_lines(f"a \n{TOKEN}\x07") == "a \nhf_***\\x07"
    assert escapes(TOKEN) == TOKEN
    assert [escape(char) for char in "\t\n\r\xff\u0100"] == ["\\t", "\\n", "\\r", "\\xff", "\\u0100"]


@together(
    "data, kept, expected",
    [
        ({TOKEN: [TOKEN, (1, None)]}, False, {"hf_***": ["hf_***", [1, None]]}),
        ({TOKEN: [TOKEN]}, True, {TOKEN: [TOKEN]}),
        ("\ud7ff\ud800\udfff\ue000", False, "\ud7ff\\ud800\\udfff\ue000"),
    ],
)
def test_data_without_secrets_and_surrogates(data: Any, kept: bool, expected: Any) -> None:
    assert harmless(data, secrets=kept) == expected


@together(
    "data, expected",
    [
        ("\x7f", '"\\u007f"'),
        ("caf\u00e9\u202e", '"caf\u00e9\\u202e"'),
        (["##[group]a", "## a"], '["\\u0023#[group]a", "## a"]'),
        (TOKEN, '"hf_***"'),
        ("\udcff", '"\\\\xff"'),
    ],
)
def test_json_that_a_terminal_may_show(data: Any, expected: str) -> None:
    assert encoded(data) == expected
    json.loads(expected)


def test_json_keeps_its_lines_and_what_is_asked_for() -> None:
    assert encoded({"a": "\u00e9\x7f"}, 1) == '{\n "a": "\u00e9\\u007f"\n}'
    assert encoded(TOKEN, secrets=True) == f'"{TOKEN}"'
    assert json_list([]) == "[]"
    assert json_list(["1", "2"]) == "[\n  1,\n  2\n ]"


def test_markdown() -> None:
    assert plain("_a_ b_c <x> \\ & |") == "\\_a\\_ b_c \\<x\\> \\\\ \\& \\|"
    assert link("a", "http://x/[y]") == "[a](http://x/%5By%5D)"
    assert link("[a]", "x") == "\\[a\\]"
    assert [code(text) for text in ("a``b", "`a", "a`", "")] == ["```a``b```", "`` `a ``", "`` a` ``", "``"]
