"""Patterns of paths."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from servelint.settings import layers
from servelint.settings.layers import Glob, GlobError
from tests.together import together


def matched(pattern: str, path: str, folder: str = "/repo", otherwise: str = "/repo") -> bool:
    return Glob(pattern, folder).covers(path, otherwise)


@together(
    "pattern, path",
    [
        ("vendor", "vendor/a.sh"),
        ("vendor", "deep/vendor/b/a.sh"),
        ("vendor/", "deep/vendor/b/a.sh"),
        ("*.yml", "a.yml"),
        ("*.yml", "deep/down/a.yml"),
        ("*.{yml,yaml}", "deep/a.yaml"),
        ("*.{yml,y?ml}", "a.yaml"),
        ("deploy/**", "deploy/a.yml"),
        ("deploy/**", "deploy/b/c/a.yml"),
        ("deploy/*", "deploy/b/c/a.yml"),
        ("deploy/prod", "deploy/prod/a.yml"),
        ("/deploy", "deploy/a.yml"),
        ("./deploy", "deploy/a.yml"),
        ("**/dev/**", "dev/a.yml"),
        ("**/dev/**", "x/y/dev/z/a.yml"),
        ("a/**/b.yml", "a/b.yml"),
        ("a/**/b.yml", "a/x/y/b.yml"),
        ("**", "a/b/c.yml"),
        ("*", "a/b/c.yml"),
        ("file?.sh", "x/file1.sh"),
        ("file[0-9].sh", "file7.sh"),
        ("file[!0-9].sh", "filex.sh"),
        ("a.b+c(d)$", "a.b+c(d)$"),
        ("a\\*b", "a*b"),
        ("#a", "#a"),
        ("!a", "!a"),
        ("a ", "a "),
        ("{a,b}/{c,d}.sh", "b/c.sh"),
        ("a\\{b,c\\}", "a{b,c}"),
        ("[{]a,b}", "{a,b}"),
        ("weird\nname", "weird\nname"),
    ],
)
def test_matches(pattern: str, path: str) -> None:
    assert matched(pattern, f"/repo/{path}")


@together(
    "pattern, path",
    [
        ("vendor", "vendors/a.sh"),
        ("*.yml", "a.yaml"),
        ("deploy/**", "x/deploy/a.yml"),
        ("deploy/*.yml", "deploy/b/a.yml"),
        ("/deploy", "x/deploy/a.yml"),
        ("**/dev/**", "devel/a.yml"),
        ("a/**/b.yml", "a/xb.yml"),
        ("file?.sh", "file10.sh"),
        ("file[!0-9].sh", "file7.sh"),
        ("a*c", "a/c"),
        ("!a", "a"),
        ("a ", "a"),
        ("{a,b}/c", "a/d"),
        ("*.yml", "A.YML"),
    ],
)
def test_does_not_match(pattern: str, path: str) -> None:
    assert not matched(pattern, f"/repo/{path}")


def test_a_folder_itself_is_told_from_what_is_in_it() -> None:
    glob = Glob("vendor", "/repo")
    assert glob.matches("/repo/vendor", "/repo")
    assert not glob.matches("/repo/vendor/a.sh", "/repo")
    assert glob.matches("/repo/vendor/vendor", "/repo")


@pytest.mark.parametrize(
    ("pattern", "path", "itself"),
    [
        ("deploy/dev", "deploy/dev", True),
        ("deploy/dev", "deploy/dev/a.sh", False),
        ("deploy/**", "deploy/a.sh", True),
        ("deploy/**", "deploy/dev/a.sh", False),
        ("**/dev/*.sh", "x/dev/a.sh", True),
        ("deploy/", "deploy", True),
        ("deploy", "elsewhere", False),
    ],
)
def test_a_path_itself(pattern: str, path: str, itself: bool) -> None:
    assert Glob(pattern, "/repo").matches(f"/repo/{path}", "/repo") is itself


def test_what_stands_above_the_folder_does_not_count() -> None:
    assert not matched("repo", "/repo/a.sh")
    assert not matched("**/dev/**", "/dev/x/a.sh", "/dev/x", "/dev/x")


def test_relative_to_its_own_file_else_to_the_one_that_extends_it() -> None:
    assert matched("deploy/**", "/repo/deploy/a.yml", "/repo", "/repo/deploy")
    assert matched("deploy/**", "/team/deploy/a.yml", "/policy", "/team")
    assert not matched("deploy/**", "/elsewhere/deploy/a.yml", "/policy", "/team")
    assert os.name == "nt" or not matched("deploy/**", "/Team/deploy/a.yml", "/policy", "/team")


@together(
    "windows, path, expected",
    [
        (True, "c:\\Repo\\a\\b.sh", "a/b.sh"),
        (True, "c:\\other\\b.sh", None),
        (False, "C:\\repo\\a\\b.sh", "a\\b.sh"),
        (False, "c:\\Repo\\a\\b.sh", None),
    ],
)
def test_windows_folds_the_case_and_turns_the_slashes(
    windows: bool, path: str, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layers, "os", SimpleNamespace(sep="\\"))
    monkeypatch.setattr(layers, "_WINDOWS", windows)
    assert layers._relative(path, "C:\\repo", "D:\\") == expected


def test_below_the_root() -> None:
    assert matched("*.yml", "/a.yml", "/", "/")


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("", "matches nothing"),
        ("/", "matches nothing"),
        ("./", "matches nothing"),
        ("../x", "leads out of the folder"),
        ("..", "leads out of the folder"),
        ("[z-a]", "is not a pattern of paths"),
        ("{a,b}" * 10, "more than 1,000 choices"),
    ],
)
def test_what_is_no_pattern(pattern: str, said: str) -> None:
    with pytest.raises(GlobError, match=said):
        Glob(pattern, "/repo")
