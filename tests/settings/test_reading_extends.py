"""What a settings file extends."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.problem import Problem
from servelint.settings.layers import Layer
from servelint.settings.reading import read_layers


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(path: str, text: str) -> str:
    full = Path.cwd() / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_text(text)
    return str(full)


def loaded(path: str, known: dict[str, Layer | None] | None = None) -> tuple[list[str], list[str]]:
    """The names of the layers, and what is wrong."""
    problems: list[Problem] = []
    layers = read_layers(path, problems, {} if known is None else known)
    return [layer.origin.name for layer in layers], [repr(problem) for problem in problems]


def test_alone() -> None:
    assert loaded(write("servelint.toml", "")) == (["servelint.toml"], [])


def test_what_is_extended_comes_first() -> None:
    write("base.toml", "")
    write("team/base.toml", 'extends = "../base.toml"')
    path = write("team/a/servelint.toml", 'extends = "../base.toml"')
    assert loaded(path) == (["base.toml", "team/base.toml", "team/a/servelint.toml"], [])


def test_by_its_absolute_path() -> None:
    base = write("base.toml", "")
    assert loaded(write("servelint.toml", f"extends = '{base}'"))[0] == ["base.toml", "servelint.toml"]


def test_a_project_file() -> None:
    write("pyproject.toml", "[tool.servelint]\nprofile = 'audit'\n")
    assert loaded(write("a/servelint.toml", 'extends = "../pyproject.toml"'))[0] == ["pyproject.toml", "a/servelint.toml"]


def test_what_is_not_there() -> None:
    path = write("servelint.toml", '# one\nextends = "base.toml"')
    assert loaded(path) == (["servelint.toml"], ["servelint.toml:2:11: there is no file base.toml"])


def test_a_project_file_without_the_table() -> None:
    write("pyproject.toml", "[project]\n")
    path = write("a/servelint.toml", 'extends = "../pyproject.toml"')
    assert loaded(path)[1] == ["a/servelint.toml:1:11: pyproject.toml has no table [tool.servelint]"]


def test_circles() -> None:
    write("b.toml", 'extends = "servelint.toml"')
    names, problems = loaded(write("servelint.toml", 'extends = "b.toml"'))
    assert names == ["b.toml", "servelint.toml"]
    assert problems == ["b.toml:1:11: extends servelint.toml -> b.toml -> servelint.toml: a circle"]
    assert loaded(write("own.toml", 'extends = "./own.toml"'))[1] == ["own.toml:1:11: extends own.toml -> own.toml: a circle"]


def test_a_circle_through_a_link() -> None:
    path = write("servelint.toml", 'extends = "link.toml"')
    (Path.cwd() / "link.toml").symlink_to(path)
    assert loaded(path)[1] == ["servelint.toml:1:11: extends servelint.toml -> servelint.toml: a circle"]


def test_what_is_wrong_further_up_is_told_where_it_is() -> None:
    write("base.toml", "profile = 1\nselct = []\n")
    write("broken.toml", "a = \n")
    assert loaded(write("servelint.toml", 'extends = "base.toml"'))[1] == [
        "base.toml:1:11: profile is one of default, strict, audit, not a number",
        'base.toml:2:1: unknown key "selct" (did you mean "select"?)',
    ]
    assert loaded(write("other.toml", 'extends = "broken.toml"'))[1] == ["broken.toml:1:5: not valid TOML: invalid value"]


def test_a_file_is_read_once() -> None:
    write("base.toml", "profile = 1\n")
    known: dict[str, Layer | None] = {}
    assert len(loaded(write("a/servelint.toml", 'extends = "../base.toml"'), known)[1]) == 1
    write("base.toml", "profile = 2\n")
    assert loaded(write("b/servelint.toml", 'extends = "../base.toml"'), known) == (["base.toml", "b/servelint.toml"], [])
