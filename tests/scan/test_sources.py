"""What is named is taken apart into repositories."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from servelint.scan import sources
from servelint.scan.sources import SourceError
from tests.repository import Repository


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def found(*names: str, revision: str | None = None, depth: int | None = None) -> list[tuple[str, ...]]:
    """Name, kind, place below the current folder and revision of each repository."""
    units = sources.units([(name, "") for name in names], revision, depth)
    return [(one.name, one.kind, os.path.relpath(one.place), *([one.revision] if one.revision else [])) for one in units]


def working(path: str) -> None:
    Path(path, ".git").mkdir(parents=True)


def bare(path: str) -> None:
    for name in ("objects", "refs"):
        Path(path, name).mkdir(parents=True)
    Path(path, "HEAD").write_text("ref: refs/heads/main\n")


def test_a_working_tree_is_read_as_it_is_or_at_a_revision() -> None:
    working("one")
    assert found("one") == [("one", "folder", "one")]
    assert found("./one/") == [("one", "folder", "one")]
    assert found("one@v1") == [("one", "git", "one/.git", "v1")]
    assert found("one", revision="v2") == [("one", "git", "one/.git", "v2")]
    assert found("one@v1", revision="v2") == [("one", "git", "one/.git", "v1")]


def test_a_bare_repository_is_read_at_a_revision() -> None:
    bare("one.git")
    assert found("one.git") == [("one.git", "git", "one.git", "HEAD")]
    assert found("one.git@feature/a@b") == [("one.git", "git", "one.git", "feature/a@b")]


def test_a_path_may_have_the_sign_in_it() -> None:
    working("me@home/one")
    working("me@home/one@two")
    assert found("me@home/one") == [("me@home/one", "folder", "me@home/one")]
    assert found("me@home/one@v1") == [("me@home/one", "git", "me@home/one/.git", "v1")]
    assert found("me@home/one@two") == [("me@home/one@two", "folder", "me@home/one@two")]


def test_a_folder_of_repositories() -> None:
    for path in ("all/b", "all/owner/a", "all/host/owner/c", "all/b/vendored", "all/node_modules/d", "all/1/2/3/4/5"):
        working(path)
    bare("all/e.git")
    Path("all/notes").mkdir()
    assert found("all") == [
        ("all/b", "folder", "all/b"),
        ("all/e.git", "git", "all/e.git", "HEAD"),
        ("all/host/owner/c", "folder", "all/host/owner/c"),
        ("all/owner/a", "folder", "all/owner/a"),
    ]
    assert [one[0] for one in found(".")][:2] == ["all/b", "all/e.git"]


def test_a_folder_without_repositories_is_one() -> None:
    Path("plain/deploy").mkdir(parents=True)
    assert found("plain") == [("plain", "folder", "plain")]
    assert found(".") == [(".", "folder", ".")]


def test_the_folders_at_a_depth() -> None:
    for path in ("all/x/1", "all/x/2", "all/y/3/deep", "all/z"):
        Path(path).mkdir(parents=True)
    assert found("all", depth=1) == [(f"all/{name}", "folder", f"all/{name}") for name in "xyz"]
    assert found("all", depth=2) == [(f"all/{name}", "folder", f"all/{name}") for name in ("x/1", "x/2", "y/3")]


def test_a_link_to_a_folder_is_not_followed() -> None:
    working("elsewhere/one")
    Path("all").mkdir()
    Path("all/link").symlink_to("../elsewhere")
    assert found("all") == [("all", "folder", "all")]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.tar", "tar"), ("a.tar.gz", "tar"), ("a.TGZ", "tar"), ("a.tar.xz", "tar"), ("a.tbz2", "tar"), ("a.zip", "zip")],
)
def test_archives(name: str, kind: str) -> None:
    Path(name).write_bytes(b"")
    assert found(name) == [(name, kind, name)]


def test_a_repository_comes_once() -> None:
    working("all/one")
    Path("link").symlink_to("all/one")
    assert found("all/one", "all", "./all/../all/one", "link") == [("all/one", "folder", "all/one")]
    assert [one[3:] for one in found("all/one", "all/one@v1", "all/one@v2")] == [(), ("v1",), ("v2",)]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere", "nowhere: is not there; name a folder"),
        ("file.txt", "file.txt: is neither a folder nor an archive; name a folder"),
        ("plain@v1", "plain@v1: no git repository is there that could have a revision 'v1'"),
        ("a.zip@v1", "a.zip@v1: only a git repository has a revision"),
    ],
)
def test_what_is_no_source(name: str, message: str) -> None:
    Path("plain").mkdir()
    for path in ("file.txt", "a.zip"):
        Path(path).write_bytes(b"")
    with pytest.raises(SourceError) as raised:
        found(name)
    assert str(raised.value).startswith(message)


def test_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"# repositories\n\none@v1\towner/one\r\n\ntwo parts\nthree\t\n"
    Path("list.txt").write_bytes(text)
    expected = [("one@v1", "owner/one"), ("two parts", ""), ("three", "")]
    assert list(sources.listed("list.txt")) == expected
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert list(sources.listed("-")) == expected
    assert list(sources.named(["zero"], ["list.txt"])) == [("zero", ""), *expected]
    with pytest.raises(SourceError, match=r"^nowhere.txt: cannot be read: No such file or directory$"):
        list(sources.listed("nowhere.txt"))


def test_a_name_in_a_list_is_the_repositorys() -> None:
    Path("work/deploy").mkdir(parents=True)
    (unit,) = sources.units([("work", "owner/one")], None, None)
    assert (unit.name, unit.kind) == ("owner/one", "folder")


def test_what_git_makes_is_found() -> None:
    Path("real").mkdir()
    repository = Repository(Path("real").absolute())
    repository.git("clone", "-q", "--bare", ".", "../copies/real.git")
    repository.git("worktree", "add", "-q", "../copies/tree")
    assert found("copies") == [
        ("copies/real.git", "git", "copies/real.git", "HEAD"),
        ("copies/tree", "folder", "copies/tree"),
    ]
    assert found("copies/tree@HEAD") == [("copies/tree", "git", "copies/tree/.git", "HEAD")]
