"""`servelint scan`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from servelint.scan import output
from tests.repository import Repository
from tests.running import Workspace
from tests.scan.samples import COMPOSE, RULE, rows, written

ONE = ("--select", RULE, "--no-cache")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home-cache"))


def repositories(folder: Path, count: int) -> list[str]:
    for number in range(count):
        written(folder / f"all/r{number}", {".git/HEAD": "", "compose.yml": COMPOSE, "README.md": "vllm\n"})
    return [f"all/r{number}" for number in range(count)]


def test_rows_and_a_summary(workspace: Workspace) -> None:
    repositories(workspace.folder, 2)
    ran = workspace.run("scan", "all", *ONE)
    assert ran.status == 1
    assert sorted(
        (row["repository"], row["path"], row["line"], row["column"], row["rule"]) for row in rows(ran.out.encode())
    ) == [
        ("all/r0", "compose.yml", 4, 80, RULE),
        ("all/r1", "compose.yml", 4, 80, RULE),
    ]
    assert ran.err.startswith("servelint: 2 errors in 2 launches; 4 files of 2 repositories in ")


@pytest.mark.parametrize(
    ("options", "status"),
    [((), 1), (("--fail-on", "never"), 0), (("--exit-zero",), 0), (("--ignore", "*"), 0), (("--severity", "warning"), 1)],
)
def test_the_exit_status(options: tuple[str, ...], status: int, workspace: Workspace) -> None:
    repositories(workspace.folder, 1)
    assert workspace.run("scan", "all", *ONE, *options).status == status
    workspace.file("all/r0/broken.yml", "services: [ # vllm")
    assert workspace.run("scan", "all", *ONE, *options).status == 2


def test_several_kinds_at_once(workspace: Workspace) -> None:
    work = written(workspace.folder / "work", {"compose.yml": COMPOSE})
    repository = Repository(work)
    repository.commit("files")
    repository.git("archive", "-o", "../a.tar.gz", "HEAD")
    workspace.file("list.txt", "a.tar.gz\towner/packed\n")
    ran = workspace.run("scan", *ONE, "work", "work@main", "--from", "list.txt")
    found = {(row["repository"], row["revision"]) for row in rows(ran.out.encode())}
    commit = repository.git("rev-parse", "HEAD").strip()
    assert found == {("work", None), ("work", commit), ("owner/packed", commit)}
    assert len(ran.out.splitlines()) == 3


def test_settings_of_repositories_are_not_read(workspace: Workspace) -> None:
    repositories(workspace.folder, 1)
    workspace.file("all/r0/servelint.toml", f'ignore = ["{RULE}"]\nexclude = ["*"]\n')
    assert workspace.run("scan", "all", *ONE).status == 1
    workspace.file("servelint.toml", f'ignore = ["{RULE}"]\n')
    assert workspace.run("scan", "all", "--no-cache", "--exclude", "README.md", "--fail-on", "error").status == 0
    assert workspace.run("scan", "all", *ONE, "--isolated").status == 1
    workspace.file("servelint.toml", 'exclude = ["compose.yml"]\n')
    assert workspace.run("scan", "all", *ONE).out == ""


def test_a_second_run_knows_the_files(workspace: Workspace) -> None:
    for path in repositories(workspace.folder, 2):
        for file in (workspace.folder / path).glob("*.*"):
            os.utime(file, (1_600_000_000, 1_600_000_000))
    first = workspace.run("scan", "all", "--select", RULE)
    assert (workspace.folder / "home-cache/servelint/scan/CACHEDIR.TAG").exists()
    second = workspace.run("scan", "all", "--select", RULE)
    assert sorted(second.out.splitlines()) == sorted(first.out.splitlines())
    workspace.run("scan", "all", "--select", RULE, "--cache", "own")
    assert (workspace.folder / "own/CACHEDIR.TAG").exists()


def test_files_that_are_known_are_counted(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("servelint.scan.trees._FRESH_FOR", -(10**12))
    repositories(workspace.folder, 2)
    assert "were known" not in workspace.run("scan", "all").err
    assert "; 4 files were known" in workspace.run("scan", "all").err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "name a SOURCE, or a list of them with --from"),
        (("nowhere",), "nowhere: is not there; name a folder, a git repository, or an archive"),
        (("--from", "nowhere"), "nowhere: cannot be read: No such file or directory"),
        ((".", "--jobs", "0"), '--jobs: "0" is not a whole number from 1'),
        ((".", "--depth", "-1"), '--depth: "-1" is not a whole number from 1'),
        ((".", "--jobs", "2", "--scheduler", "tcp://x:1"), "--jobs is for the processes of this machine"),
        ((".", "--restart"), "--restart is for a scan with --output"),
        ((".", "--format", "parquet"), "--format parquet needs --output FILE"),
        ((".", "--no-cache", "--cache", "x"), "--no-cache cannot be combined with --cache"),
        ((".", "--output", "nowhere/rows.jsonl"), "nowhere/rows.jsonl: cannot be written: No such file or directory"),
        ((".", "--cache", "file"), "--cache file: cannot be written:"),
        ((".", "--select", "vllm/no-such-rule"), "vllm/no-such-rule"),
    ],
)
def test_wrong_usage(args: tuple[str, ...], message: str, workspace: Workspace) -> None:
    workspace.file("file", "")
    ran = workspace.run("scan", *args)
    assert (ran.status, ran.out) == (2, "")
    assert message in ran.err
    assert len(ran.err.splitlines()) == 1


def test_wrong_settings(workspace: Workspace) -> None:
    workspace.file("servelint.toml", "profile = 1\n")
    ran = workspace.run("scan", ".", "--no-cache")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("servelint.toml:1:11: ")


def test_what_an_extra_brings(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    ran = workspace.run("scan", ".", "--no-cache", "--scheduler", "tcp://127.0.0.1:1")
    assert (ran.status, "pip install 'servelint[dask]'" in ran.err) == (2, True)
    ran = workspace.run("scan", ".", "--output", "x", "--format", "parquet")
    assert (ran.status, "pip install 'servelint[parquet]'" in ran.err) == (2, True)
    assert output.parquet_problem() == "pyarrow is not installed: pip install 'servelint[parquet]'"


def _killed(folder: Path, sources: list[str], output: str) -> None:
    """Scan what comes on standard input, and kill it (SIGKILL) when all that has come is done."""
    command = [sys.executable, "-m", "servelint", "scan", "--from", "-", *ONE, "--jobs", "1", "--output", output]
    awaited = _done(folder / f"{output}.journal") + len(sources)
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as scan:
        assert scan.stdin is not None
        scan.stdin.write("".join([source + "\n" for source in sources]).encode())
        scan.stdin.flush()
        while _done(folder / f"{output}.journal") < awaited:
            assert scan.poll() is None
        scan.send_signal(signal.SIGKILL)
        scan.wait()


def _done(journal: Path) -> int:
    return journal.read_bytes().count(b"\n") - 1 if journal.exists() else 0


def test_a_scan_that_was_killed_goes_on(workspace: Workspace) -> None:
    sources = repositories(workspace.folder, 6)
    workspace.run("scan", *sources, *ONE, "--output", "whole.jsonl")
    _killed(workspace.folder, sources[:2], "rows.jsonl")
    _killed(workspace.folder, sources[2:4], "rows.jsonl")
    before = Path("rows.jsonl").read_bytes()
    with open("rows.jsonl", "ab") as file:
        file.write(b'{"kind":"finding","repo')
    ran = workspace.run("scan", *sources, *ONE, "--output", "rows.jsonl")
    assert ran.err.startswith("servelint: continuing: 4 repositories were done before\nservelint: 6 errors in 6 launches; ")
    assert ran.status == 1
    found = Path("rows.jsonl").read_bytes()
    assert found.startswith(before)
    assert sorted(found.splitlines()) == sorted(Path("whole.jsonl").read_bytes().splitlines())
    assert not Path("rows.jsonl.journal").exists()


def test_other_settings_do_not_go_on(workspace: Workspace) -> None:
    sources = repositories(workspace.folder, 3)
    _killed(workspace.folder, sources[:1], "rows.jsonl")
    ran = workspace.run("scan", *sources, "--no-cache", "--output", "rows.jsonl")
    assert (ran.status, "add --restart to start over" in ran.err) == (2, True)
    ran = workspace.run("scan", *sources, *ONE, "--output", "rows.jsonl", "--restart")
    assert (ran.status, len(Path("rows.jsonl").read_bytes().splitlines())) == (1, 3)


def test_a_worker_that_is_killed_from_outside(workspace: Workspace) -> None:
    """Not by its own doing: the one that reads from a list is waited for, found, and killed."""
    sources = repositories(workspace.folder, 40)
    workspace.run("scan", *sources, *ONE, "--output", "whole.jsonl")
    command = [sys.executable, "-m", "servelint", "scan", "--from", "-", *ONE, "--jobs", "2", "--output", "rows.jsonl"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as scan:
        assert scan.stdin is not None
        scan.stdin.write("".join([source + "\n" for source in sources[:20]]).encode())
        scan.stdin.flush()
        while _done(Path("rows.jsonl.journal")) < 10:
            assert scan.poll() is None
        children = Path(f"/proc/{scan.pid}/task/{scan.pid}/children")
        if not children.exists():
            pytest.skip("nothing here tells of the children of a process")
        scan.send_signal(signal.SIGSTOP)  # it must not give to the second what the first had in hand
        while Path(f"/proc/{scan.pid}/stat").read_text().rpartition(") ")[2][0] != "T":
            assert scan.poll() is None
        killed = children.read_text().split()
        for child in killed:
            os.kill(int(child), signal.SIGKILL)
        for child in killed:  # one that is not gone yet would still take a task, and the task would seem to end it
            while Path(f"/proc/{child}/stat").read_text().rpartition(") ")[2][0] != "Z":
                assert scan.poll() is None
        scan.send_signal(signal.SIGCONT)
        _, err = scan.communicate("".join([source + "\n" for source in sources[20:]]).encode())
        assert (scan.returncode, b"40 errors in 40 launches; 80 files of 40 repositories" in err) == (1, True)
    assert sorted(Path("rows.jsonl").read_bytes().splitlines()) == sorted(Path("whole.jsonl").read_bytes().splitlines())


def test_nothing_of_it_is_imported_by_a_check(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(COMPOSE)
    program = (
        "import sys; from servelint.cli import main; main(['check', 'compose.yml', '--format', 'json']);"
        "never = ('servelint.scan', 'multiprocessing', 'pyarrow', 'distributed');"
        "print('\\n' + str([name for name in sys.modules if name.startswith(never)]))"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout.splitlines()[-1]) == []
