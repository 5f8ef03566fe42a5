"""Reading TOML: what is wrong with a file, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.files.settings_finder import SIZE_AT_MOST
from servelint.files.toml_document import Document, parse, read


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a = 1\nb 2\n", 2, 3),
        ("a = 1\r\na = 2\r\n", 2, 6),
        ("[a]\nb = 1\n[a]\n", 3, 3),
        ("a = [1,\n", 2, 1),
        ('a = "x\n', 1, 7),
        ("a = 2026-13-01\n", 1, 9),
        ("a = {b = 1]\n", 1, 11),
    ],
)
def test_what_is_no_toml(text: str, line: int, column: int) -> None:
    problem = parse(Source("servelint.toml", text))
    assert isinstance(problem, Problem)
    assert problem.message.startswith("not valid TOML: ")
    assert "(at " not in problem.message
    assert (problem.line, abs(problem.column - column) <= 1) == (line, True)


def test_nested_too_deep() -> None:
    problem = parse(Source("servelint.toml", "a = " + "[" * 5000 + "]" * 5000))
    assert isinstance(problem, Problem)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a = 1\nb = '\xff'\n", "not valid UTF-8: byte 0xff"),
        (b"a = 1\n" * 200_000, "not read: settings files are read up to 1 MiB"),
    ],
)
def test_what_cannot_be_read(data: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "servelint.toml"
    path.write_bytes(data)
    problem = read(str(path), "shown.toml", SIZE_AT_MOST)
    assert isinstance(problem, Problem)
    assert (problem.path, problem.message) == ("shown.toml", said)


def test_what_is_not_there(tmp_path: Path) -> None:
    problem = read(str(tmp_path / "missing.toml"), "missing.toml", SIZE_AT_MOST)
    assert repr(problem) == "missing.toml:1:1: cannot be read: No such file or directory"


def test_the_place_of_a_byte_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "servelint.toml"
    path.write_bytes(b"\xef\xbb\xbfa = 1\nb = '\xff'\n")
    problem = read(str(path), "servelint.toml", SIZE_AT_MOST)
    assert isinstance(problem, Problem)
    assert (problem.line, problem.column) == (2, 6)


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_places(start: bytes, tmp_path: Path) -> None:
    path = tmp_path / "servelint.toml"
    path.write_bytes(start + b'a = 1\r\n[b]\r\n"c d" = [1,\r\n  "\xc3\xa9", 2]\r\n')
    document = read(str(path), "servelint.toml", SIZE_AT_MOST)
    assert isinstance(document, Document)
    assert document.key(("b", "c d")) == (3, 1)
    assert document.value(("b", "c d")) == (3, 9)
    assert document.value(("b", "c d", 2)) == (4, 8)
    assert document.value(("b", "not there")) == (2, 2)
    assert document.value(("not there",)) == (1, 1)


def test_tables() -> None:
    document = parse(Source("pyproject.toml", "[tool.servelint]\na = 1\n"))
    assert isinstance(document, Document)
    assert document.table(()) == {"tool": {"servelint": {"a": 1}}}
    assert document.table(("tool", "servelint")) == {"a": 1}
    assert document.table(("tool", "other")) is None
    assert document.table(("tool", "servelint", "a")) is None
