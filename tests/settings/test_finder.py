"""Which settings file is the nearest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from servelint.files.settings_finder import Finder, shown


def nearest(folder: Path) -> str | None:
    return Finder().nearest(str(folder))


def below(root: Path, path: str = "a/b/c") -> Path:
    folder = root / path
    folder.mkdir(parents=True)
    return folder


def test_the_nearest_above(tmp_path: Path) -> None:
    folder = below(tmp_path)
    top, middle = tmp_path / "servelint.toml", tmp_path / "a" / "servelint.toml"
    top.write_text("")
    assert nearest(folder) == str(top)
    middle.write_text("")
    assert nearest(folder) == str(middle)
    assert nearest(tmp_path) == str(top)


def test_what_is_known_is_kept(tmp_path: Path) -> None:
    folder = below(tmp_path)
    (tmp_path / "servelint.toml").write_text("")
    finder = Finder()
    found = finder.nearest(str(folder))
    (folder / "servelint.toml").write_text("")
    assert finder.nearest(str(folder)) == finder.nearest(str(tmp_path / "a")) == found == str(tmp_path / "servelint.toml")


def test_its_own_file_comes_before_the_project_s(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.servelint]\n")
    assert nearest(tmp_path) == str(tmp_path / "pyproject.toml")
    (tmp_path / "servelint.toml").write_text("")
    assert nearest(tmp_path) == str(tmp_path / "servelint.toml")


@pytest.mark.parametrize(
    "text",
    [
        "[tool.servelint]\n",
        "[tool.servelint.engine-versions]\nvllm = '0.20.0'\n",
        "[[tool.servelint.per-path]]\npaths = ['x']\n",
        "[ tool . 'servelint' ]\n",
        '["tool"."servelint"]\n',
        "[tool]\nservelint = {profile = 'audit'}\n",
        "[tool]\nservelint.profile = 'audit'\n",
        "[tool]\n'servelint'.profile = 'audit'\n",
        "tool.servelint.profile = 'audit'\n",
        "tool = {servelint = {profile = 'audit'}}\n",
    ],
)
def test_a_project_file_with_the_table(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert nearest(tmp_path) == str(tmp_path / "pyproject.toml")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[project]\nname = 'x'\n",
        "[project]\nname = 'servelint'\n[project.scripts]\nservelint = 'servelint.cli:main'\n",
        "[project]\ndependencies = ['servelint']\n[tool.ruff]\nline-length = 100\n",
        "# [tool.servelint]\n",
        "[tool.servelint-other]\nx = 1\n",
        "[project\n",
        "x = '''\n[tool.servelint]\n'''\n",
    ],
)
def test_a_project_file_without_it_is_passed_over(text: str, tmp_path: Path) -> None:
    folder = below(tmp_path)
    (tmp_path / "servelint.toml").write_text("")
    (folder / "pyproject.toml").write_text(text)
    assert nearest(folder) == str(tmp_path / "servelint.toml")


def test_a_broken_project_file_that_may_have_it_is_not_passed_over(tmp_path: Path) -> None:
    folder = below(tmp_path)
    (tmp_path / "servelint.toml").write_text("")
    (folder / "pyproject.toml").write_text("[tool.servelint]\nprofile = \n")
    assert nearest(folder) == str(folder / "pyproject.toml")


def test_a_folder_of_that_name_is_no_settings_file(tmp_path: Path) -> None:
    folder = below(tmp_path, "a/servelint.toml")
    (tmp_path / "servelint.toml").write_text("")
    assert nearest(folder) == str(tmp_path / "servelint.toml")


def test_a_link_to_a_file_is_one_and_a_link_to_nothing_is_none(tmp_path: Path) -> None:
    folder = below(tmp_path)
    (tmp_path / "policy.toml").write_text("")
    (folder / "servelint.toml").symlink_to(tmp_path / "policy.toml")
    assert nearest(folder) == str(folder / "servelint.toml")
    (folder / "servelint.toml").unlink()
    (folder / "servelint.toml").symlink_to(tmp_path / "missing.toml")
    assert nearest(folder) is None


def test_paths_are_shown_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown(str(tmp_path / "a" / ".." / "b.toml")) == "b.toml"
    assert shown(str(tmp_path)) == "."
    assert shown(os.path.dirname(tmp_path)) == os.path.dirname(tmp_path)
    assert shown(str(tmp_path) + "-other") == str(tmp_path) + "-other"
