"""`.env` files in the dialect that docker compose reads (https://docs.docker.com/compose/how-tos/environment-variables/variable-interpolation/)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.syntax.dotenv import parse, raw, unclosed
from tests.together import together


def values(content: str) -> dict[str, str]:
    return {name: text.shown for name, text in parse(Source(".env", content)).items()}


@together(
    "content, expected",
    [
        ("", {}),
        ("# A=1\n\n", {}),
        ("A=1", {"A": "1"}),
        ("A=1\nB=2\r\nC=3\r\n", {"A": "1", "B": "2", "C": "3"}),
        ("export A=1\n", {"A": "1"}),
        ("A: 1\n", {"A": "1"}),
        ("A = 1 \n", {"A": "1"}),
        ("A=\n", {"A": ""}),
        ("A=one two\n", {"A": "one two"}),
        ("A=1 # why\n", {"A": "1"}),
        ("A=1#2\n", {"A": "1#2"}),
        ("A= # why\n", {"A": ""}),
        ("A='x # y' # why\n", {"A": "x # y"}),
        ("A='$B'\n", {"A": "$B"}),
        ('B=1\nA="$B"\n', {"B": "1", "A": "1"}),
        ("B=1\nA=${B}2\n", {"B": "1", "A": "12"}),
        ("A=${B:-d}\n", {"A": "d"}),
        ("A=${B}\n", {"A": "${B}"}),
        ('A="a\\nb"\n', {"A": "a\nb"}),
        ('A="say \\"x\\""\n', {"A": 'say "x"'}),
        ('A="one\ntwo"\nB=3\n', {"A": "one\ntwo", "B": "3"}),
        ("A='one\ntwo'\nB=3\n", {"A": "one\ntwo", "B": "3"}),
        ("A=1\nA=2\n", {"A": "2"}),
        ("not an assignment\nA=1\n", {"A": "1"}),
        ("A='unclosed\nB=2\n", {"A": "'unclosed", "B": "2"}),
    ],
)
def test_values(content: str, expected: dict[str, str]) -> None:
    assert values(content) == expected


def test_places() -> None:
    source = Source(".env", "A=1 # x\nB='two'\n")
    spans = {name: text.span() for name, text in parse(source).items()}
    assert {name: (span.start, span.text) for name, span in spans.items() if span is not None} == {
        "A": (2, "1"),
        "B": (11, "two"),
    }


def test_the_environment_before_the_file() -> None:
    parsed = parse(Source(".env", "A=$HOME/x\n"), lambda name: TracedText.of("/root") if name == "HOME" else None)
    assert parsed["A"].value == "/root/x"


@given(
    st.dictionaries(
        st.from_regex(r"[A-Z][A-Z0-9_]{0,6}", fullmatch=True), st.text(alphabet='ab 1#=:$"\\\n', max_size=12), max_size=5
    )
)
def test_single_quotes_keep_everything(variables: dict[str, str]) -> None:
    assert values("".join([f"{name}='{value}'\n" for name, value in variables.items()])) == variables


@given(st.text(alphabet="AB=\"'$\\{}:-# \n\r", max_size=40))
def test_any_text_ends(content: str) -> None:
    for text in parse(Source(".env", content)).values():
        for piece in text.pieces:
            assert not piece.verbatim or (piece.span is not None and piece.span.text == piece.text)


@together(
    "content, expected",
    [
        ("", {}),
        ("A=1\n", {"A": "1"}),
        ("A=1\r\nB=2", {"A": "1", "B": "2"}),
        ("A='x' # y\n", {"A": "'x' # y"}),
        ('A="$B"\n', {"A": '"$B"'}),
        ("A= x \n", {"A": " x "}),
        ("A=\n", {"A": ""}),
        ("  A=b=c\n", {"A": "b=c"}),
        ("# A=1\n  # B=2\nC\n=D\n", {}),
    ],
)
def test_a_raw_file_is_taken_as_it_stands(content: str, expected: dict[str, str]) -> None:
    source = Source("raw.env", content)
    values = raw(source)
    assert {name: text.shown for name, text in values.items()} == expected
    assert all(text.written is not None and text.written.text == text.flat for text in values.values() if text.flat)


def test_a_quote_that_nothing_closes() -> None:
    for text, shown in (
        ('A=1\nMODEL="Qwen/Qwen3-8B\nPORT=8000\n', '"Qwen/Qwen3-8B'),
        ("NAME='x", "'x"),
        ('export A: "b \r\nC=d\n', '"b'),
        ("A='b'\nC='d\n", "'d"),
    ):
        span = unclosed(Source(".env", text))
        assert span is not None
        assert span.text == shown
    for text in ('A="b"\n', 'A="b\nc"\n', "A='b'\n", "A=it's\n", '# A="b\n', "A=\n", 'A="b\nC="d"\n', 'A=b"\n', ""):
        assert unclosed(Source(".env", text)) is None, text
