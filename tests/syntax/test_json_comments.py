"""JSON with comments as JSON of the same length."""

from __future__ import annotations

from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.syntax.json import without_comments
from tests.together import together


def blanked(text: str, *, lenient: bool = True) -> str:
    whole = TracedText.at(Source("a.json", text), 0, len(text)) if text else TracedText(())
    found = without_comments(whole, lenient=lenient)
    assert len(found.flat) == len(text)
    assert all(piece.span is None or piece.span.text == piece.text for piece in found.pieces if piece.verbatim)
    return found.flat


@together(
    "text, expected",
    [
        ('{"a": 1} // b', '{"a": 1}     '),
        ('// b\n{"a": 1}', '    \n{"a": 1}'),
        ('{/* b\nc */"a": 1}', '{    \n    "a": 1}'),
        ('{"a": 1,}', '{"a": 1 }'),
        ('["a", // b\n]', '["a"      \n]'),
        ('["a", /* b */ "c"]', '["a",         "c"]'),
        ('{"a": "//b", "c": "/*d*/"}', '{"a": "//b", "c": "/*d*/"}'),
        ('{"a": "\\"//b"}', '{"a": "\\"//b"}'),
        ('{"a": ",}"}', '{"a": ",}"}'),
        ("[1,,2,]", "[1,,2 ]"),
        ("/* a", "    "),
        ('"a', '"a'),
        ("", ""),
    ],
)
def test_blanks(text: str, expected: str) -> None:
    assert blanked(text) == expected


def test_a_comma_alone_is_left_where_nothing_says_otherwise() -> None:
    assert blanked('{"a": 1,}', lenient=False) == '{"a": 1,}'
    assert blanked('{"a": 1,} //', lenient=False) == '{"a": 1 }   '


def test_a_long_text_takes_no_longer_than_its_length() -> None:
    for text in ("/*" * 20_000, "," * 40_000, ", " * 20_000, "//\n" * 20_000, '"\\' * 20_000):
        assert len(blanked(text)) == len(text)
