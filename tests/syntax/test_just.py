"""just's expressions, for any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.source import Source
from servelint.core.text import HOLE, TracedText, unknown
from servelint.syntax.just import Expression, Justfile, Wrong
from tests.together import together

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


@together("text", ["", "+", "'a", "'a' +", "(", "if 'a' { 'b' }", "if 'a' == 'b' { 'c' }", "()" * 5, "(" * 100])
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


VARIABLES = {"a": TracedText.of("va"), "soft": TracedText.of("vs").as_default(), "hole": TracedText((unknown("$X", None),))}
ENVIRONMENT = {"HOME": TracedText.of("/root")}


def value_of(text: str) -> str:
    """What an expression is: an unknown as it is shown, a default with a ? behind it."""
    found = Expression(Source("justfile", text), 0, len(text), VARIABLES.get, ENVIRONMENT.get).read()
    return found.shown + ("?" if found.assumed else "")


@together(
    "text, value",
    [
        ("a", "va"),
        ("'x' + a", "xva"),
        ("a / 'x'", "va/x"),
        ("/ 'x' / a", "/x/va"),
        ("'a' + 'b' / 'c' + 'd'", "ab/cd"),
        ("nothing + 'x'", "{{nothing}}x"),
        ("(a + 'x') + 'y'", "vaxy"),
        ("(\n a # said\n + 'x'\n)", "vax"),
        ("a \\\n + 'x'", "vax"),
        ("a\n + 'x'", "va"),  # the line's end ends it outside brackets
        ("''", ""),
        ('"a\\tb\\n\\"\\\\\\r"', 'a\tb\n"\\\r'),
        ('"a\\\nb"', "ab"),
        ('"\\u{41}\\u{1F600}"', "A\U0001f600"),
        ('"\\u{d800}\\u{dfff}\\u{110000}"', "???"),
        ('"\\u{d7ff}\\u{e000}\\u{10ffff}"', "\ud7ff\ue000\U0010ffff"),
        ("'a\\'", "a\\"),  # a single quote has no escapes
        ("'''a'b'''", "a'b"),
        ("'''a\nb'''", "{{'''a\nb'''}}"),
        ("'a\nb'", "a\nb"),
        ("`date`", "{{`date`}}"),
        ("x'~/a' + 'b'", "{{x'~/a'}}b"),
        ('f"{a}"', '{{f"{a}"}}'),
        ("env('HOME')", "/root"),
        ("env_var('HOME')", "/root"),
        ("env_var_or_default('HOME', 'x')", "/root"),
        ("env('NONE')", "{{env('NONE')}}"),
        ("env('NONE', 'x')", "x?"),
        ("env_var_or_default( 'NONE' , 'x' )", "x?"),
        ("env_var('NONE', 'x')", "{{env_var('NONE', 'x')}}"),
        ("env('NONE', 'x', 'y')", "{{env('NONE', 'x', 'y')}}"),
        ("uppercase('HOME')", "{{uppercase('HOME')}}"),
        ("arch()", "{{arch()}}"),
        ("env('NONE',\n 'x')", "x?"),
        ("if a == 'va' { 'yes' } else { 'no' }", "yes"),
        ("if a == 'vb' { 'yes' } else { 'no' }", "no"),
        ("if a != 'va' { 'yes' } else { 'no' }", "no"),
        ("if a != 'vb' {\n 'yes'\n} else {\n 'no'\n}", "yes"),
        ("if a == 'x' { '1' } else if a == 'va' { '2' } else { '3' }", "2"),
        ("if soft == 'vs' { 'yes' } else { 'no' }", "yes?"),
        ("if 'vs' == soft { 'yes' } else { 'no' }", "yes?"),
        ("if a =~ 'v' { 'yes' } else { 'no' }", "{{if a =~ 'v' { 'yes' } else { 'no' }}}"),
        ("if hole == 'v' { 'x' } else { 'x' }", "{{if hole == 'v' { 'x' } else { 'x' }}}"),
        ("if 'v' == hole { 'x' } else { 'x' }", "{{if 'v' == hole { 'x' } else { 'x' }}}"),
        ("a && 'x'", "{{a && 'x'}}"),
        ("a || 'x'", "{{a || 'x'}}"),
        ("iffy", "{{iffy}}"),
    ],
)
def test_what_an_expression_is(text: str, value: str) -> None:
    assert value_of(text) == value


def test_parentheses_are_read_to_a_depth() -> None:
    assert value_of("(" * 31 + "'x'" + ")" * 31) == "x"
    with pytest.raises(Wrong):
        value_of("(" * 32 + "'x'" + ")" * 32)
    assert value_of("('x') + " * 40 + "'x'") == "x" * 41  # one after the other is not deep


def test_a_long_value_is_unknown() -> None:
    assert value_of("'" + "x" * 100_000 + "'") == "x" * 100_000
    assert value_of("'" + "x" * 100_001 + "'") != "x" * 100_001


def test_the_place_of_a_value_without_its_quotes() -> None:
    found = evaluated("'ab' + \"c\"")
    assert [(piece.text, piece.span and (piece.span.start, piece.span.end)) for piece in found.pieces] == [
        ("ab", (1, 3)),
        ("c", (8, 9)),
    ]


def scripts(text: str) -> list[str]:
    """The scripts of the recipe `r` of a justfile."""
    justfile = Justfile(Source("justfile", text))
    return [script.shown for one in justfile.recipes if one.name == "r" for script in justfile.scripts(one)]


@together(
    "text, expected",
    [
        ("r:\n  one\n  two\n", ["one", "two"]),
        ("r:\n  one \\\n    two\n  three\n", ["one two", "three"]),
        ("r:\n  one \\\n\n", ["one "]),
        ("r:\n  one\n\n  two\n\n\nb:\n  three\n", ["one", "two"]),
        ("r:\n  one\nset shell := ['bash']\n  two\n", ["one"]),
        ("@r:\n  one\n", ["one"]),
        ("# r\nr: # x\n  one\n", ["one"]),
        ("[script]\nr:\n  one\n    two\n", ["one\n  two\n"]),
        ("[script]\na:\n  x\nr:\n  one\n  two\n", ["one", "two"]),
        ("[private]\nr:\n  one\n  two\n", ["one", "two"]),
        ("r:\n  #!/bin/bash\n  one\n\n  two\n", ["#!/bin/bash\none\n\ntwo\n"]),
        ("r:\n  #!/usr/bin/env -S bash -e\n  one\n", ["#!/usr/bin/env -S bash -e\none\n"]),
        ("r:\n  #!/usr/bin/env zsh\n  one\n", ["#!/usr/bin/env zsh\none\n"]),
        ("r:\n  #!/usr/bin/env python3\n  one\n", []),
        ("r:\n  {{a}} {{{{b}}\n", ["{{a}} {{b}}"]),
        ("a := 'x'\nr:\n  {{a}}-{{ a + 'y' }}\n", ["x-xy"]),
        ("r:\n  {{ a + }}\n", ["{{ a + }}"]),
        ("r:\n  {{ b + 'y' }}\n", ["{{b}}y"]),
        ("a := 'x'\nr a='p' b=a *c +d:\n  {{a}} {{b}} {{c}}|{{d}}|{{d + 'x'}}\n", ["p x |{{d}}|{{d}}x"]),
        ("r a=('p' + 'q') $b='s':\n  {{a}}{{b}}\n", ["pqs"]),
        ("r a={ b:\n  {{a}}\n", ["{{a}}"]),
        ("a := '''\nr:\n  one\n'''\nr:\n  two\n", ["two"]),
    ],
)
def test_the_scripts_of_a_recipe(text: str, expected: list[str]) -> None:
    assert scripts(text) == expected


@pytest.mark.parametrize(
    ("setting", "on"),
    [("set export", True), ("set export := true", True), ("set export := false", False), ("set quiet", False), ("", False)],
)
def test_a_setting(setting: str, on: bool) -> None:
    assert Justfile(Source("justfile", setting + "\nr:\n  x\n")).is_set("export") is on


def test_what_a_file_assigns_exports_and_needs() -> None:
    text = "export a := 'x'\nb := a\nalias s := r\nr c='1': p q-1 # not t\n  x\np:\nq-1:\n"
    justfile = Justfile(Source("justfile", text))
    assert justfile.exported == ["a"]
    values = {name: justfile.variable(name) for name in ("a", "b", "s")}
    assert {name: value.shown for name, value in values.items() if value is not None} == {"a": "x", "b": "x"}
    assert [(one.name, one.needs) for one in justfile.recipes] == [("r", ["p", "q-1"]), ("p", []), ("q-1", [])]
    given = justfile.given(justfile.recipes[0])
    assert {name: (value.shown, value.assumed) for name, value in given.items()} == {"c": ("1", True)}
