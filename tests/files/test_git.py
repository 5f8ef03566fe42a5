"""What git says has changed: lines, new files, other names, and names that git quotes."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.finding import Related
from servelint.core.own_rules import MOVED_ENTRY as OWN_RULE
from servelint.core.own_rules import finding as finding_of
from servelint.core.source import Source, Span
from servelint.files.git import Base, GitError, checked_out, commit, of, since, tags
from tests.repository import Repository

LINES = "".join(f"line {number}\n" for number in range(1, 21))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def write(repository: Repository, name: str, text: str) -> None:
    path = repository.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def changed(repository: Repository, revision: str = "HEAD") -> dict[str, tuple[str | None, list[tuple[int, int]], list[int]]]:
    found = since(revision, str(repository.folder))
    return {name: (change.old, change.added, change.removed) for name, change in found.files.items()}


def test_lines(repository: Repository) -> None:
    write(repository, "a.sh", LINES)
    repository.commit("a")
    text = LINES.replace("line 3\n", "line 3\nnew\nnew\n").replace("line 9\n", "").replace("line 15\nline 16\n", "both\n")
    write(repository, "a.sh", text)
    assert changed(repository) == {"a.sh": ("a.sh", [(4, 5), (16, 16)], [10, 16])}
    change = since("HEAD", str(repository.folder)).files["a.sh"]
    assert [line for line in range(1, 21) if change.touches(line, line)] == [4, 5, 16]
    assert change.touches(10, 11)  # a line was taken out between them
    assert not change.touches(6, 10)


def test_lines_that_look_like_the_diff_itself(repository: Repository) -> None:
    write(repository, "a.sh", "-- old\n@@ -1 +1 @@\nkept\n")
    repository.commit("a")
    write(repository, "a.sh", "++ b/new\n@@ -7 +7 @@\nkept\n+++ b/other.sh\n")
    assert changed(repository) == {"a.sh": ("a.sh", [(1, 2), (4, 4)], [])}


@pytest.mark.parametrize(
    "name",
    ["with space.sh", "é.sh", 'a"b.sh', "tab\there.sh", "back\\slash.sh", "new\nline.sh", "bell\a.sh", "\b\v\f\r.sh", "a -> b"],
)
def test_names(name: str, repository: Repository) -> None:
    write(repository, "other/" + name, LINES)
    repository.commit("a")
    repository.git("mv", "other/" + name, name)
    write(repository, name, LINES + "more\n")
    found = since("HEAD", str(repository.folder))
    assert {one: change.old for one, change in found.files.items()} == {name: "other/" + name}
    assert found.files[name].added == [(21, 21)]
    assert found.gone == {"other/" + name}
    assert found.before("other/" + name) == LINES.encode()


def test_a_new_name_alone_touches_nothing(repository: Repository) -> None:
    write(repository, "a.sh", LINES)
    repository.commit("a")
    repository.git("mv", "a.sh", "b.sh")
    assert changed(repository) == {"b.sh": ("a.sh", [], [])}


def test_new_staged_untracked_ignored_and_deleted(repository: Repository) -> None:
    write(repository, ".gitignore", "ignored.sh\n")
    write(repository, "gone.sh", "x\n")
    repository.commit("a")
    for name in ("staged.sh", "untracked.sh", "ignored.sh"):
        write(repository, name, name)
    repository.git("add", "staged.sh")
    (repository.folder / "gone.sh").unlink()
    assert {name: old for name, (old, _, _) in changed(repository).items()} == {"staged.sh": None, "untracked.sh": None}
    assert since("HEAD", str(repository.folder)).gone == {"gone.sh"}


def test_staged_and_then_changed(repository: Repository) -> None:
    write(repository, "a.sh", LINES)
    repository.commit("a")
    write(repository, "a.sh", LINES.replace("line 2\n", "staged\n"))
    repository.git("add", "a.sh")
    write(repository, "a.sh", LINES.replace("line 2\n", "staged\n").replace("line 5\n", "not staged\n"))
    assert changed(repository) == {"a.sh": ("a.sh", [(2, 2), (5, 5)], [])}


def test_from_a_folder_below(repository: Repository) -> None:
    write(repository, "deploy/a.sh", LINES)
    found = since("HEAD", str(repository.folder / "deploy"))
    assert list(found.files) == ["deploy/a.sh"]
    assert found.is_changed(str(repository.folder / "deploy" / "a.sh"))
    assert not found.is_changed("/elsewhere/a.sh")


def test_before_the_first_commit(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.git("checkout", "-q", "--orphan", "new")
    write(repository, "a.sh", LINES)
    repository.git("add", "a.sh")
    write(repository, "b.sh", LINES)
    assert {name: old for name, (old, _, _) in changed(repository).items()} == {"a.sh": None, "b.sh": None}


class TestWrong:
    @pytest.mark.parametrize("revision", ["nothing", "--output=x", "HEAD~7", ""])
    def test_no_such_revision(self, revision: str, repository: Repository) -> None:
        with pytest.raises(GitError, match="git knows no revision"):
            since(revision, str(repository.folder))
        assert not (repository.folder / "x").exists()

    def test_nothing_in_common(self, repository: Repository) -> None:
        repository.git("checkout", "-q", "--orphan", "other")
        repository.git("commit", "-q", "--allow-empty", "-m", "other")
        with pytest.raises(GitError, match="no merge base; a shallow clone lacks it"):
            since("main", str(repository.folder))

    def test_no_repository(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
        (tmp_path / "x").mkdir()
        with pytest.raises(GitError, match="this folder is not in a git repository"):
            since("HEAD", str(tmp_path / "x"))

    def test_no_git(self, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "")
        with pytest.raises(GitError, match="git is not installed"):
            since("HEAD", str(repository.folder))


class TestCheckedOut:
    def test_a_commit_of_a_branch(self, repository: Repository) -> None:
        write(repository, "deploy/a.sh", LINES)
        repository.commit("a")
        head = repository.git("rev-parse", "HEAD").strip()
        assert checked_out(str(repository.folder / "deploy")) == (str(repository.folder), head)
        repository.git("pack-refs", "--all")
        assert checked_out(str(repository.folder)) == (str(repository.folder), head)

    def test_a_commit_without_a_branch_and_a_second_work_tree(self, repository: Repository) -> None:
        write(repository, "a.sh", LINES)
        repository.commit("a")
        head = repository.git("rev-parse", "HEAD").strip()
        repository.git("worktree", "add", "-q", "-b", "other", "second")
        assert checked_out(str(repository.folder / "second")) == (str(repository.folder / "second"), head)
        repository.git("checkout", "-q", "--detach")
        assert checked_out(str(repository.folder)) == (str(repository.folder), head)

    @pytest.mark.parametrize("head", ["", "ref: refs/heads/none\n", "ref: refs/../../secret\n", "x" * 40, "\0"])
    def test_no_commit(self, repository: Repository, head: str) -> None:
        (repository.folder / ".git" / "HEAD").write_text(head)
        (repository.folder / "secret").write_text("0" * 40)
        assert checked_out(str(repository.folder)) == (str(repository.folder), "")

    def test_no_repository(self, tmp_path: Path) -> None:
        (tmp_path / "below").mkdir()
        assert checked_out(str(tmp_path / "below")) == ("", "")


def test_a_link_below_the_top_is_not_followed(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repository, "a.sh", LINES)
    repository.commit("a")
    (repository.folder / "again").symlink_to(".")
    monkeypatch.chdir(repository.folder)
    base = of("HEAD")
    assert base.read(str(repository.folder / "a.sh")) == LINES.encode()
    assert base.read(str(repository.folder / "again" / "a.sh")) is None
    assert base.covers(str(repository.folder / "again" / "a.sh"))


class TestBase:
    """A revision whose files and comments are believed."""

    @pytest.fixture
    def base(self, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> Base:
        write(repository, "a.sh", LINES)
        write(repository, "d/e/b.sh", "b\n")
        (repository.folder / "d" / "link.sh").symlink_to("../a.sh")
        (repository.folder / "d" / "twice.sh").symlink_to("link.sh")
        (repository.folder / "d" / "away.sh").symlink_to("/etc/hosts")
        (repository.folder / "d" / "round.sh").symlink_to("round.sh")
        repository.commit("a")
        monkeypatch.chdir(repository.folder)
        return of("HEAD")

    def test_files_and_folders(self, base: Base, repository: Repository) -> None:
        (repository.folder / "new.sh").write_text("new")
        files = ["a.sh", "d/e/b.sh", "d/link.sh", "d/twice.sh"]
        for path in files:
            assert base.is_file(path)
            assert not base.is_folder(path)
        for path in ("new.sh", "d", "d/away.sh", "d/round.sh", "d/none.sh", "../x.sh"):
            assert not base.is_file(path)
            assert base.read(path) is None
        assert [base.is_folder(path) for path in ("", ".", "d", "d/e", "e", "..")] == [True, True, True, True, False, False]
        assert (base.read("d/twice.sh"), base.read("d/e/b.sh")) == (LINES.encode(), b"b\n")
        assert [base.covers(path) for path in ("new.sh", ".", "..")] == [True, True, False]
        assert base.name == "HEAD"

    def test_the_files_below_a_folder_without_links(self, base: Base, repository: Repository) -> None:
        top = str(repository.folder)
        assert base.below(top) == [f"{top}/a.sh", f"{top}/d/e/b.sh"]
        assert base.below("d") == ["d/e/b.sh"]
        assert base.below("e") == []

    def test_lines_that_are_as_they_were(self, base: Base, repository: Repository) -> None:
        write(repository, "a.sh", LINES.replace("line 9\n", "other\n"))
        write(repository, "new.sh", LINES)
        repository.git("mv", "d/e/b.sh", "moved.sh")

        def has(path: str, first: int, last: int, lines: tuple[int, ...] = ()) -> bool:
            source = Source(path, (repository.folder / path).read_text() if not path.startswith("/") else LINES)
            starts = source.line_starts
            comment = Span(source, starts[first - 1], starts[last - 1] + 1)
            return base.has_comment(comment, lines or (first,))

        assert has("a.sh", 1, 1)
        assert has("a.sh", 1, 8)
        assert has("a.sh", 10, 20, (10, 20, 999))
        assert not has("a.sh", 9, 9)
        assert not has("a.sh", 8, 8, (9,))
        assert not has("a.sh", 10, 10, (9,))
        assert not has("a.sh", 1, 20)
        assert not has("new.sh", 1, 1)
        assert has("moved.sh", 1, 1)
        assert has("/elsewhere/a.sh", 1, 1)

    def test_a_comment_suppresses_nothing_that_is_new(self, base: Base, repository: Repository) -> None:
        text = LINES.replace("line 9\n", "other\n")
        write(repository, "a.sh", text)
        source = Source("a.sh", text)

        def line(number: int) -> Span:
            return Span(source, source.line_starts[number - 1], source.line_starts[number - 1] + 2)

        def had(comment: int, finding: int, *related: int) -> bool:
            found = finding_of(OWN_RULE, line(finding), "", "")
            found.related = [Related(line(number), "used here") for number in related]
            return base.had(line(comment), (comment,), found)

        assert had(1, 2)
        assert had(1, 2, 3, 10)
        assert not had(9, 2)
        assert not had(1, 9)
        assert not had(1, 2, 3, 9)


def test_a_changed_file_whose_lines_git_does_not_tell(repository: Repository) -> None:
    write(repository, "a.sh", "a\0b\n")
    repository.commit("a")
    write(repository, "a.sh", "a\0c\n")
    found = since("HEAD", str(repository.folder))
    change = found.of(str(repository.folder / "a.sh"))
    assert change is not None
    assert (change.old, change.touches(1, 1)) == (None, True)
    assert found.of("/elsewhere/a.sh") is None
    assert found.place("/elsewhere/a.sh") is None


def test_the_tags_and_commits_of_a_repository(repository: Repository) -> None:
    repository.git("tag", "v1")
    repository.git("tag", "v2")
    head = repository.git("rev-parse", "HEAD").strip()
    assert tags(str(repository.folder)) == ["v1", "v2"]
    assert commit("v1", str(repository.folder)) == (str(repository.folder), head)
    with pytest.raises(GitError, match="git knows no revision"):
        commit("v3", str(repository.folder))
