"""What an earlier scan told is told again exactly as long as nothing has changed that it depends on."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from servelint.cache.context import program_contents
from servelint.core.settings import Settings
from servelint.readers import discover
from servelint.rules import folder as rule_folder
from servelint.scan import cache as caches
from servelint.scan import job, repository
from servelint.scan.job import GIT, TAR, Done, Job, Unit
from tests.repository import Repository
from tests.scan.samples import COMMON, COMPOSE, ONE_RULE, RULE, SCRIPT, asked, places, rows, scanned, written

LONG_AGO = 1_600_000_000


class Watched:
    """A repository and a cache; tells which files a scan has linted."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = written(tmp_path / "work")
        self.cache = tmp_path / "cache"
        self.asking = asked(cache=self.cache)
        self.linted: list[str] = []
        self.opened: list[str] = []
        lint, decode = repository.lint, discover.decode

        def linting(tree, source, blob, settings):  # type: ignore[no-untyped-def]
            self.linted.append(source.path)
            return lint(tree, source, blob, settings)

        def decoding(path, data):  # type: ignore[no-untyped-def]
            self.opened.append(path)
            return decode(path, data)

        monkeypatch.setattr(repository, "lint", linting)
        monkeypatch.setattr(repository, "decode", decoding)
        monkeypatch.setattr("servelint.scan.trees._FRESH_FOR", -(10**12))  # files of this test may be relied on at once

    def scan(self, asking: Job | None = None, unit: Unit | None = None) -> Done:
        """Scan with nothing in memory, as a new process does."""
        repository._CACHES.clear()
        self.linted.clear()
        self.opened.clear()
        return scanned(unit or self.folder, asking or self.asking)


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(tmp_path, monkeypatch)


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    yield
    repository._CACHES.clear()


def test_a_second_run_opens_nothing(watched: Watched) -> None:
    first = watched.scan()
    assert watched.opened == ["compose.yml", "scripts/common.sh", "scripts/serve.sh"]
    assert watched.linted == ["compose.yml", "scripts/serve.sh"], "the other one names no engine"
    second = watched.scan()
    assert watched.opened == []
    assert second.rows == first.rows
    assert second.counts == first.counts._replace(reused=3)


def test_a_file_that_has_changed(watched: Watched) -> None:
    watched.scan()
    (watched.folder / "compose.yml").write_text(COMPOSE.replace("1.5", "0.9"))
    assert places(watched.scan()) == [("scripts/common.sh", 1, RULE)]
    assert watched.opened == ["compose.yml"]


def test_a_file_of_the_same_size_and_time(watched: Watched) -> None:
    """Whoever sets the time of a file back cannot set back when its inode changed."""
    times = (watched.folder / "compose.yml").stat()
    watched.scan()
    (watched.folder / "compose.yml").write_text(COMPOSE.replace("1.5", "0.5"))
    os.utime(watched.folder / "compose.yml", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert places(watched.scan()) == [("scripts/common.sh", 1, RULE)]


def test_a_file_that_changes_while_its_times_stand_still(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """The times of some file systems are exact to two seconds: a file that is younger is read again."""
    monkeypatch.setattr("servelint.scan.trees._FRESH_FOR", 10**12)
    watched.scan()
    watched.scan()
    assert watched.opened == ["compose.yml", "scripts/common.sh", "scripts/serve.sh"]
    assert watched.linted == []


def test_a_neighbour_that_has_changed(watched: Watched) -> None:
    watched.scan()
    (watched.folder / "scripts/common.sh").write_text(COMMON.replace("1.5", "0.9"))
    assert places(watched.scan()) == [("compose.yml", 4, RULE)]
    assert watched.linted == ["scripts/serve.sh"]


def test_a_neighbour_whose_name_is_not_looked_at(watched: Watched) -> None:
    (watched.folder / "scripts/common.sh").rename(watched.folder / "scripts/common.inc")
    (watched.folder / "scripts/serve.sh").write_text(SCRIPT.replace("common.sh", "common.inc"))
    assert ("scripts/common.inc", 1, RULE) in places(watched.scan())
    (watched.folder / "scripts/common.inc").write_text(COMMON.replace("1.5", "0.9"))
    assert places(watched.scan()) == [("compose.yml", 4, RULE)]


def test_a_neighbour_that_was_not_there(watched: Watched) -> None:
    watched.scan()
    (watched.folder / ".env").write_text("SHARE=0.9\n")
    assert places(watched.scan()) == [("scripts/common.sh", 1, RULE)]
    (watched.folder / ".env").unlink()
    assert len(places(watched.scan())) == 2


def test_a_file_that_was_written_anew_as_it_was(watched: Watched) -> None:
    first = watched.scan()
    for path in ("compose.yml", "scripts/common.sh"):
        text = (watched.folder / path).read_text()
        (watched.folder / path).unlink()
        (watched.folder / path).write_text(text)
        os.utime(watched.folder / path, (LONG_AGO, LONG_AGO))
    assert watched.scan().rows == first.rows
    assert watched.opened == ["compose.yml", "scripts/common.sh"]
    assert watched.linted == []


def test_files_that_come_and_go(watched: Watched) -> None:
    watched.scan()
    (watched.folder / "compose.yml").rename(watched.folder / "docker-compose.yml")
    assert places(watched.scan()) == [("docker-compose.yml", 4, RULE), ("scripts/common.sh", 1, RULE)]
    shutil.rmtree(watched.folder / "scripts")
    assert places(watched.scan()) == [("docker-compose.yml", 4, RULE)]


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        (Settings(select=(RULE,), rule_settings={RULE: {"severity": "info"}}), "info"),
        (Settings(select=(RULE,), engine_versions={"vllm": "0.19.0"}), "error"),
        (Settings(select=(RULE,), ignore=(RULE,)), None),
        (Settings(select=(RULE,), severity="error"), "error"),
    ],
)
def test_other_settings(settings: Settings, found: str | None, watched: Watched) -> None:
    watched.scan()
    done = watched.scan(asked(settings, cache=watched.cache))
    assert len(watched.linted) == 2
    assert {row["severity"] for row in rows(done.rows)} == ({found} if found else set())
    watched.scan()
    assert watched.linted == []


def test_another_servelint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a folder of the test's own: a file of this checkout may change during a run of the suite."""
    code = tmp_path / "code.py"
    code.write_text("one = 1\n")
    monkeypatch.setattr("servelint.cache.context.program_folders", lambda: [str(tmp_path)])

    def context() -> str:
        program_contents.cache_clear()  # as a new process
        return job.context(ONE_RULE, ())

    try:
        first = context()
        with monkeypatch.context() as patch:
            patch.setattr(job, "VERSION", "99.0")
            assert context() != first
        assert context() == first
        code.write_text("one = 2\n")
        assert context() != first
    finally:
        program_contents.cache_clear()


POLICY = """\
id: policy/no-remote-code
title: Code of a model repository is not run here
severity: warning
confidence: high
impact: security
engine: vllm
versions: ">=0.6"
when:
  trust-remote-code: true
at: trust-remote-code
message: "--trust-remote-code runs whatever the repository holds"
advice: leave it out
why: The cluster runs with credentials that a model of its own code must never see, so nothing that contains code is loaded.
evidence:
  - {url: "https://example.invalid/policy", says: so it was decided}
examples:
  bad:
    - {version: 0.27.1, run: "vllm serve Qwen/Qwen3-8B ⟦--trust-remote-code⟧"}
  good:
    - {version: 0.27.1, run: "vllm serve Qwen/Qwen3-8B"}
"""


def test_other_rules(tmp_path: Path) -> None:
    rule = tmp_path / "rules/policy/no-remote-code.yaml"
    rule.parent.mkdir(parents=True)
    rule.write_text(POLICY)
    settings = Settings(rules=(str(tmp_path / "rules"),))
    assert [str(one) for one in rule_folder.load(settings.rules[0]).problems] == []
    first = job.context(settings, ())
    assert first == job.context(settings, ()) != job.context(Settings(), ())
    rule.write_text(POLICY.replace("warning", "error"))
    rule_folder.forget()  # as a new process
    assert job.context(settings, ()) not in (first, job.context(Settings(), ()))
    assert job.context(settings, ("vendor",)) != job.context(settings, ())


def test_what_is_made_of_servelints_files_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "code.py").write_text("one = 1\n")
    (tmp_path / "vllm.json").write_text("{}")
    monkeypatch.setattr("servelint.cache.context.program_folders", lambda: [str(tmp_path)])
    first = program_contents.__wrapped__()
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__/code.pyc").write_text("made of the code")
    (tmp_path / "vllm.catalog").write_text("made of the data")
    assert program_contents.__wrapped__() == first
    (tmp_path / "code.py").write_text("one = 2\n")
    assert program_contents.__wrapped__() != first


def test_a_program_in_one_file_has_no_contents_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "servelint.pyz").write_text("packed")
    monkeypatch.setattr("servelint.cache.context.program_folders", lambda: [str(tmp_path / "servelint.pyz")])
    assert program_contents.__wrapped__() == ""


def test_equal_files_of_several_repositories_are_linted_once(watched: Watched, tmp_path: Path) -> None:
    """Forks: the same content at the same path, with the same beside it."""
    watched.scan()
    fork = written(tmp_path / "fork")
    assert len(places(watched.scan(unit=Unit("fork", "folder", str(fork))))) == 2
    assert watched.linted == []
    (fork / "scripts/common.sh").write_text(COMMON.replace("1.5", "1.6"))
    assert len(places(watched.scan(unit=Unit("fork", "folder", str(fork))))) == 2
    assert watched.linted == ["scripts/serve.sh"]
    other = written(tmp_path / "other", {"deploy/compose.yml": COMPOSE})
    assert places(watched.scan(unit=Unit("other", "folder", str(other)))) == [("deploy/compose.yml", 4, RULE)]


def test_without_a_cache_equal_files_are_linted_once_too(watched: Watched, tmp_path: Path) -> None:
    watched.scan(asked())
    fork = written(tmp_path / "fork")
    watched.linted.clear()
    assert len(places(scanned(fork, asked()))) == 2
    assert watched.linted == []


def test_a_blob_that_mentions_no_engine_is_read_once(watched: Watched) -> None:
    repository = Repository(written(watched.folder, {"a.md": "hello\n", "b/a.md": "hello\n", "c.md": "vllm\n"}))
    repository.commit("files")
    unit = Unit("one", GIT, str(watched.folder / ".git"), "HEAD")
    watched.scan(asked(), unit)
    repository.commit("empty")
    (watched.folder / "d.md").write_text("hello\n")
    repository.commit("another")
    watched.opened.clear()
    scanned(unit, asked())
    assert not {"a.md", "b/a.md", "d.md"} & set(watched.opened)


def test_a_commit_is_read_once(watched: Watched) -> None:
    git = Repository(watched.folder)
    git.commit("files")
    unit = Unit("one", GIT, str(watched.folder / ".git"), "HEAD")
    first = watched.scan(unit=unit)
    again = watched.scan(unit=unit)
    assert (again.rows, again.counts) == (first.rows, first.counts._replace(reused=first.counts.files))
    assert watched.opened == []
    git.commit("the same tree")
    assert [places(watched.scan(unit=unit)), watched.opened] == [places(first), []]
    assert watched.scan(unit=unit).rows != first.rows, "the commit is another one"


def test_an_archive_is_read_once(watched: Watched, tmp_path: Path) -> None:
    git = Repository(watched.folder)
    git.commit("files")
    git.git("archive", "-o", str(tmp_path / "a.tar.gz"), "HEAD")
    unit = Unit("one", TAR, str(tmp_path / "a.tar.gz"))
    first = watched.scan(unit=unit)
    assert watched.opened
    assert watched.scan(unit=unit).rows == first.rows
    assert watched.opened == []
    (watched.folder / "compose.yml").unlink()
    git.commit("less")
    git.git("archive", "-o", str(tmp_path / "a.tar.gz"), "HEAD")
    assert places(watched.scan(unit=unit)) == [("scripts/common.sh", 1, RULE)]


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]\n", b"[1,null,{}]\nx", b"\xff\xff"])
def test_an_entry_that_is_damaged_is_as_none(damage: bytes, watched: Watched) -> None:
    first = watched.scan()
    entries = [path for path in watched.cache.rglob("*") if path.is_file()]
    assert {path.relative_to(watched.cache).parts[1] for path in entries} == {"files", "folders"}
    for path in entries:
        path.write_bytes(damage)
    assert watched.scan().rows == first.rows


def _scan_often(folder: str, asking: Job, answers: multiprocessing.Queue[bytes]) -> None:
    for _ in range(20):
        repository._CACHES.clear()
        answers.put(scanned(Path(folder), asking).rows)


def test_several_scans_share_a_cache(tmp_path: Path) -> None:
    """Each writes what the other reads, all the time."""
    folder = written(tmp_path / "work")
    asking = asked(cache=tmp_path / "cache")
    expected = scanned(folder, asked()).rows
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    processes = [context.Process(target=_scan_often, args=(str(folder), asking, answers)) for _ in range(2)]
    for process in processes:
        process.start()
    found = [answers.get() for _ in range(40)]
    for process in processes:
        process.join()
    assert set(found) == {expected}
    assert not list((tmp_path / "cache").rglob("*.tmp"))


def test_a_cache_that_cannot_be_written(watched: Watched) -> None:
    watched.cache.write_text("a file")
    assert len(places(watched.scan())) == 2


def test_results_that_nobody_uses_are_deleted(tmp_path: Path) -> None:
    old, own, foreign = tmp_path / ("a" * 32), "b" * 32, tmp_path / "notes"
    for folder in (old, foreign):
        folder.mkdir()
        os.utime(folder, (LONG_AGO, LONG_AGO))
    (tmp_path / own).mkdir()
    os.utime(tmp_path / own, (LONG_AGO, LONG_AGO))
    caches.prepare(str(tmp_path), own)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["CACHEDIR.TAG", own, "notes"]
    assert (tmp_path / own).stat().st_mtime > time.time() - 3600


@pytest.mark.skipif(os.name == "nt", reason="another place there")
def test_where_results_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert caches.default_folder() == "/somewhere/servelint/scan"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert caches.default_folder().endswith("/.cache/servelint/scan")
