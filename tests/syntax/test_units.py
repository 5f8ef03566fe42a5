"""Words of a unit's command lines, for any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.launch import Word
from servelint.core.source import Source
from servelint.core.text import HOLE, TracedText, unknown
from servelint.syntax.units import assignments, commands, expanded, file, parse, specified, split, substituted
from tests.together import together

LINES = st.text("ab '\"\\\t;$%{}n0x", max_size=60)


def text_of(line: str) -> TracedText:
    return TracedText.at(Source("x.service", line), 0, len(line)) if line else TracedText(())


def check(words: list[Word], line: str) -> None:
    """Every word stands in the line, its characters at their places."""
    end = 0
    for word in words:
        assert word.site is not None
        assert 0 <= end <= word.site.start < word.site.end <= len(line)
        end = word.site.end
        for piece in word.text.pieces:
            assert piece.span is not None
            assert word.site.start <= piece.span.start <= piece.span.end <= word.site.end
            assert not piece.verbatim or piece.span.text == piece.text


@given(LINES, st.booleans())
def test_words_stand_in_their_line(line: str, escapes: bool) -> None:
    check(split(text_of(line), escapes=escapes), line)


@given(LINES)
def test_commands_hold_the_same_words(line: str) -> None:
    found = commands(text_of(line))
    check([word for words in found for word in words], line)
    assert all(found)


@given(LINES, st.sampled_from(["", "c", "c d", "'c d' e"]))
def test_variables_add_words_of_their_value_only(line: str, value: str) -> None:
    variable = text_of(value)
    words = [specified(word) for word in split(text_of(line))]
    for word in expanded(words, lambda name: variable if name in ("a", "b") else None):
        for piece in word.text.pieces:
            assert piece.expression is not None or piece.span is not None
            assert piece.text != HOLE or piece.expression is not None


@given(st.lists(st.sampled_from(["a", " ", HOLE]), max_size=20))
def test_unknown_parts_stay(parts: list[str]) -> None:
    text = TracedText.join([TracedText((unknown("@V@", None),)) if part == HOLE else TracedText.of(part) for part in parts])
    words = split(text)
    assert [word.text.flat for word in words] == "".join(parts).split()
    assert [word.many for word in words] == [word.text.flat == HOLE for word in words]


def test_plain_words_are_those_between_blanks() -> None:
    line = "a  b\tc "
    words = split(text_of(line))
    assert [word.value for word in words] == line.split()
    assert [word.site.text for word in words if word.site is not None] == line.split()


@together(
    "line, words",
    [
        (r"a\sb", ["a b"]),
        (r"\a\b\f\n\r\t\v", ["\a\b\f\n\r\t\v"]),
        (r"\\ \" \'", ["\\", '"', "'"]),
        (r"\x41\u00e9\U0001F600\101", ["A\u00e9\U0001f600A"]),
        (r"\x7f\x01", ["\x7f\x01"]),
        (r"\ud7ff\ue000", ["\ud7ff\ue000"]),
        (r"a\qb", [r"a\qb"]),
        ("'a b'\"c d\"e", ["a bc de"]),
        ("'a\"b' \"c'd\"", ['a"b', "c'd"]),
        (r"'a\tb'", ["a\tb"]),
        ("'' x", ["", "x"]),
    ],
)
def test_quotes_and_escapes(line: str, words: list[str]) -> None:
    assert [word.value for word in split(text_of(line))] == words


@together("line", [r"\x80", r"\x00", r"\000", r"\200", r"\ud800", r"\udfff", r"\U00110000", r"\u0000"])
def test_an_escape_for_no_character_is_unknown(line: str) -> None:
    (word,) = split(text_of(line))
    assert word.text.flat == HOLE
    assert word.text.shown == line


def test_a_backslash_protects_where_escapes_are_not_read() -> None:
    assert [word.value for word in split(text_of(r"a\ b \n"), escapes=False)] == ["a b", "n"]


def test_a_word_with_quotes_has_them_in_its_site() -> None:
    words = split(text_of("x 'a'b c"))
    assert [word.site.text for word in words if word.site is not None] == ["x", "'a'b", "c"]


def test_the_rest_after_an_open_quote_is_unknown() -> None:
    words = split(text_of("a 'b c"))
    assert [word.text.shown for word in words] == ["a", "'b c"]
    assert (words[1].many, words[1].text.known) == (True, False)


def test_a_lone_semicolon_separates_commands() -> None:
    found = commands(text_of(r"a b ; ; c \; d;"))
    assert [[word.value for word in words] for words in found] == [["a", "b"], [";", "c", ";", "d;"]]


@together(
    "line, shown",
    [
        ("$A", ["c", "d e"]),
        ("x$A", ["x$A"]),
        ("${A}", ["c 'd e'"]),
        ("x${A}y", ["xc 'd e'y"]),
        ("$$A $$", ["$A", "$"]),
        ("$B", ["${B}"]),
        ("${B}x", ["${B}x"]),
        ("$", ["$"]),
    ],
)
def test_variables(line: str, shown: list[str]) -> None:
    words = expanded(split(text_of(line)), lambda name: text_of("c 'd e'") if name == "A" else None)
    assert [word.text.shown for word in words] == shown
    assert [word.many for word in words] == [line == "$B"] * len(words)


def test_a_value_of_another_file_may_be_another_where_it_is_used() -> None:
    source = Source("x.service", "A=c ${A}")
    word, inside = TracedText.at(source, 4, 8), TracedText.at(source, 2, 3)
    other = TracedText.at(Source("a.env", "c"), 0, 1)
    assert not substituted(word, {"A": inside}.get).assumed
    assert substituted(word, {"A": inside}.get).span() == inside.span()
    assert substituted(word, {"A": other}.get).assumed
    assert substituted(word, {"A": other}.get).span() == word.span()
    assert substituted(word, {"A": other}.get).origin == other.span()
    assert substituted(TracedText.of("$$"), lambda _: None).flat == "$"


def test_a_part_of_a_variable_that_is_not_known() -> None:
    value = TracedText.join([text_of("a "), TracedText((unknown("@V@", None),))])
    (word,) = expanded(split(text_of("$A")), lambda _: value)
    assert (word.text.shown, word.many) == ("a @V@", True)


def test_assignments_of_a_unit() -> None:
    found = assignments(text_of('A=b "C=d e" f 1=x G=%i H=%%'))
    assert [(one.name, one.value.shown if one.value is not None else None) for one in found] == [
        ("A", "b"),
        ("C", "d e"),
        ("G", "%i"),
        ("H", "%"),
    ]


ENVIRONMENT_FILE = """\
# A=1
; B=2
C = d e \\
 f
D="g\\"h\\q" 'i j'k
E='l"
m'
F=n\\
o\\p
1x=q
G
H=
I=a'b
K=a\\b  \t
L= "c"\t
J="never closed
"""


def test_an_environment_file() -> None:
    found = file(Source("x.env", ENVIRONMENT_FILE))
    assert [(one.name, one.value.value if one.value is not None else None) for one in found] == [
        ("C", "d e  f"),
        ("D", 'g"h\\qi jk'),
        ("E", 'l"\nm'),
        ("F", "nop"),
        ("H", ""),
        ("I", "a'b"),
        ("K", "ab"),
        ("L", "c"),
        ("J", "never closed\n"),
    ]
    for one in found:
        assert one.value is not None
        for piece in one.value.pieces:
            assert piece.span is not None
            assert not piece.verbatim or piece.span.text == piece.text
    sites = {one.name: one.site.text for one in found if one.site is not None}
    assert (sites["H"], sites["I"], sites["E"]) == ("H", "a'b", 'l"\nm')


@pytest.mark.parametrize("end", ["# the end", "; the end", "no assignment"])
def test_an_environment_file_without_a_last_line_end(end: str) -> None:
    assert [one.name for one in file(Source("x.env", f"A=1\n{end}"))] == ["A"]


def test_a_line_that_goes_on_has_a_blank_for_its_backslash() -> None:
    (_, service) = parse(Source("x.service", '[Service]\nExecStart=a "b\\\n c"\n'))
    (setting,) = service.settings
    assert setting.value.flat == 'a "b c"'
    assert [piece.span.text for piece in setting.value.pieces if piece.span is not None] == ['a "b', "\\", 'c"']
