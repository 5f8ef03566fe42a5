"""Dockerfiles as instructions, and the words of an instruction."""

from __future__ import annotations

import pytest

from servelint.core.source import Source
from servelint.core.text import Text
from servelint.readers.dockerfile_stages import Instruction, expand, instructions, words


def read(text: str) -> list[Instruction]:
    return instructions(Text.at(Source("Dockerfile", text), 0, len(text)))


def pairs(text: str) -> list[tuple[str, str]]:
    return [(one.keyword, one.text.flat) for one in read(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM a\n", [("FROM", "a")]),
        ("from a AS b", [("FROM", "a AS b")]),
        ("  FROM   a  \r\n\tRUN b\r\n", [("FROM", "a"), ("RUN", "b")]),
        ("# c\n\nFROM a\n # c\nRUN b # not a comment\n", [("FROM", "a"), ("RUN", "b # not a comment")]),
        ("RUN a \\\n  b\nRUN c", [("RUN", "a   b"), ("RUN", "c")]),
        ("RUN a \\  \n  b\n", [("RUN", "a   b")]),
        ("RUN a \\\r\n  b\r\n", [("RUN", "a   b")]),
        ("RUN a \\\n# c\n   # d\n  b\n", [("RUN", "a   b")]),
        ("RUN a \\\n\n  b\n", [("RUN", "a   b")]),
        ("RUN a \\\\\nRUN b\n", [("RUN", "a \\\\"), ("RUN", "b")]),  # an escaped backslash does not go on
        ("RUN a \\", [("RUN", "a")]),
        ("# escape=`\nRUN a `\n  b\\\nRUN c\n", [("RUN", "a   b\\"), ("RUN", "c")]),
        ("# syntax=docker/dockerfile:1\n# escape=`\nRUN a `\n b", [("RUN", "a  b")]),
        ("# a comment\n# escape=`\nRUN a `\nRUN b", [("RUN", "a `"), ("RUN", "b")]),  # too late for a directive
        ("{% if gpu %}\nFROM a\n{% endif %}\n", [("FROM", "a")]),
        ("", []),
    ],
)
def test_instructions(text: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(text) == expected
    assert not any(one.cut for one in read(text))


@pytest.mark.parametrize(
    "text",
    [
        'CMD ["vllm",\n     "serve"]\nEXPOSE 1\n',
        "CMD vllm serve m \\\n  --port 1\n  --host h\n",
        "CMD vllm serve m\n  --port 1\n",
    ],
)
def test_a_continuation_that_is_missing(text: str) -> None:
    found = read(text)
    assert found[0].keyword == "CMD"
    assert found[0].cut
    assert not any(one.cut for one in found[1:])


class TestHeredocs:
    def test_their_lines_are_no_instructions(self) -> None:
        run, last = read("RUN <<EOF\nFROM b\n\n# c\nEOF\nCMD d\n")
        assert [(doc.name, doc.text.flat, doc.expands) for doc in run.heredocs] == [("EOF", "FROM b\n\n# c\n", True)]
        assert run.raw.flat == "<<EOF\nFROM b\n\n# c\nEOF\n"
        assert last.keyword == "CMD"

    def test_quotes_tabs_and_several(self) -> None:
        (copy,) = read("COPY <<'A' <<-B /x/\n$a\nA\n\tb\n\tB\n")
        assert [(doc.name, doc.text.flat, doc.expands) for doc in copy.heredocs] == [("A", "$a\n", False), ("B", "b\n", True)]

    @pytest.mark.parametrize("text", ["RUN echo $((1<<2))\nCMD a\n", "RUN cat <<EOF\nCMD a\n", "LABEL a=<<EOF\nCMD a\n"])
    def test_what_is_none(self, text: str) -> None:
        found = read(text)
        assert [one.keyword for one in found][-1] == "CMD"
        assert found[0].heredocs == []


def test_places() -> None:
    text = "FROM a\nCMD b \\\n  # c\n  d\nEXPOSE 1\n"
    cmd = read(text)[1]
    assert cmd.site is not None
    assert cmd.site.text == "CMD b \\\n  # c\n  d"
    assert [piece.span.text for piece in cmd.text.pieces if piece.span is not None] == ["b ", "  d"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b", ["a", "b"]),
        ("a='b c' d", ["a='b c'", "d"]),
        ('a="b \\" c" d', ['a="b \\" c"', "d"]),
        ("a\\ b c", ["a\\ b", "c"]),
        ("'a b", ["'a b"]),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert [word.flat for word in words(Text.of(text))] == expected


def test_a_backtick_as_escape() -> None:
    assert [word.flat for word in words(Text.of("C:\\a` b c"), "`")] == ["C:\\a` b", "c"]
    assert expand(Text.of("C:\\a` b"), lambda _: None, "`").flat == "C:\\a b"


@pytest.mark.parametrize("text", ["$", "a$", "$$", "${", "${}", "${A", "$ a", "${A:-${A:-${A:-"])
def test_what_is_no_variable_stays(text: str) -> None:
    assert expand(Text.of(text), lambda _: None).shown == text
