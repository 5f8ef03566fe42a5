"""Command strings as docker compose splits them: quotes as in POSIX, nothing expanded, an operator ends the command."""

from __future__ import annotations

from servelint.core.source import Source
from servelint.core.text import TracedText, unknown
from servelint.syntax.shell.words import dropped, split
from tests.together import together


def text(content: str) -> TracedText:
    return TracedText.at(Source("compose.yml", content), 0, len(content))


@together(
    "content, words, left_out",
    [
        ("vllm serve m", ["vllm", "serve", "m"], None),
        ("  a \t\n b  ", ["a", "b"], None),
        ("", [], None),
        ("'a b'c \"d e\"f", ["a bc", "d ef"], None),
        ("'a\"b' \"c'd\"", ['a"b', "c'd"], None),
        ("'' \"\" a''", ["", "", "a"], None),
        (r"a\ b \'c\" \\", ["a b", "'c\"", "\\"], None),
        (r"'a\b' " + r'"a\"b\c"', ["a\\b", 'a"bc'], None),
        ('a \\\nb "c\\\nd"', ["a", "b", "cd"], None),
        ("'a b", ["a b"], None),
        ('"a b', ["a b"], None),
        ("a\\", ["a"], None),
        ("$A ${B:-c} `d`", ["$A", "${B:-c}", "`d`"], None),
        ("a; b", ["a"], "; b"),
        ("a && b", ["a"], "&& b"),
        ("a|b", ["a"], "|b"),
        ("a < b", ["a"], "< b"),
        ("a > b", ["a"], "> b"),
        ("a 2>b", ["a"], "2>b"),
        ("a '2'>b", ["a", "2"], ">b"),
        ("a b2>c", ["a", "b2"], ">c"),
        ("a ';' \"&\" \\| b", ["a", ";", "&", "|", "b"], None),
        (";", [], ";"),
    ],
)
def test_the_words_of_a_command_string_and_what_is_left_out(content: str, words: list[str], left_out: str | None) -> None:
    assert [word.value for word in split(text(content))] == words
    rest = dropped(text(content))
    assert (rest.flat if rest is not None else None) == left_out


def test_the_places_of_words_and_of_their_characters() -> None:
    first, second = split(text("'a b' c\\ d"))
    assert (first.site.text if first.site else None, second.site.text if second.site else None) == ("'a b'", "c\\ d")
    span = first.text.span()
    assert span is not None
    assert (span.start, span.end) == (1, 4)
    assert [piece.span and (piece.span.start, piece.span.end) for piece in second.text.pieces] == [(6, 7), (7, 9), (9, 10)]


def test_an_unknown_alone_is_any_number_of_words() -> None:
    hole = TracedText((unknown("${X}", None),))
    words = split(TracedText.join([hole, TracedText.of(' "'), hole, TracedText.of('" a'), hole]))
    assert [(word.shown, word.many) for word in words] == [("${X}", True), ("${X}", False), ("a${X}", False)]


def test_an_empty_default_is_a_word_only_if_the_environment_gives_one() -> None:
    nothing = TracedText(()).as_default()
    cases = (("a ", " b", 1), ("", " b", 1), ("a", " b", 0), ("a ", "b", 0), ("a ", "", 1), ('"', '"', 0), ('" ', ' "', 0))
    for before, after, count in cases:
        words = split(TracedText.join([TracedText.of(before), nothing, TracedText.of(after)]))
        assert sum(word.many for word in words) == count, (before, after)
