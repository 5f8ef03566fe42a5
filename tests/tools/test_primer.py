"""tools/primer: what another servelint finds in pinned repositories."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from tests.repository import Repository
from tests.scan.samples import COMPOSE, RULE, written

TOOL = Path(__file__).parent.parent.parent / "tools/primer/primer.py"
CHECKOUT = str(TOOL.parent.parent.parent)


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("primer", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["primer"] = module
    spec.loader.exec_module(module)
    return module


primer = _loaded()


class Ran(NamedTuple):
    status: int
    out: str
    err: str


class Clones:
    """Clones of repositories, and a list that pins them."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder / "clones"
        self.list = folder / "list.tsv"
        self.list.write_text("# owner/name, commit, paths\n")
        self._capsys = capsys

    def add(self, place: str, name: str, files: dict[str, str], paths: str = ".") -> Repository:
        repository = Repository(written(self.folder / place, {**files, "README.md": ""}))
        repository.commit("files")
        self.pin(name, repository.git("rev-parse", "HEAD").strip(), paths)
        return repository

    def pin(self, name: str, commit: str, paths: str = ".") -> None:
        with self.list.open("a") as file:
            file.write(f"{name}\t{commit}\t{paths}\n")

    def run(self, old: str, new: str, *options: str) -> Ran:
        try:
            status = primer.main([old, new, "--clones", str(self.folder), "--list", str(self.list), *options])
        except SystemExit as stop:
            status = int(stop.code or 0)
        return Ran(status, *self._capsys.readouterr())


@pytest.fixture
def clones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Clones:
    return Clones(tmp_path, capsys)


def other(folder: Path, options: str) -> str:
    """An interpreter whose servelint has other settings, which is as good as another servelint."""
    path = folder / "python"
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{CHECKOUT}/src" exec {sys.executable} "$@" {options}\n')
    path.chmod(0o755)
    return str(path)


def test_the_same_servelint_finds_the_same(clones: Clones) -> None:
    clones.add("owner/one", "owner/one", {"compose.yml": COMPOSE})
    ran = clones.run(CHECKOUT, CHECKOUT, f"--option=--select={RULE}")
    assert ran == (0, "0 added, 0 removed, 0 changed, 1 the same; 0 of 1 repositories differ\n", "")


def test_findings_that_come_and_go(clones: Clones, tmp_path: Path) -> None:
    repository = clones.add("owner/one", "owner/one", {"compose.yml": COMPOSE})
    clones.add("owner__two", "owner/two", {"readme.md": "vllm\n"})
    (repository.folder / "compose.yml").unlink()  # the clone's own files do not matter
    without = other(tmp_path, f"--ignore {RULE}")
    commit = repository.git("rev-parse", "HEAD").strip()[:12]
    shown = f"compose.yml:4:80: error[{RULE}] --gpu-memory-utilization 1.5 is out of range (above 0, at most 1):"
    ran = clones.run(without, CHECKOUT, f"--option=--select={RULE}")
    assert ran.status == 1
    first, second, *rest = ran.out.splitlines()
    assert first == f"owner/one@{commit}"
    assert second.startswith(f"  + {shown}")
    assert rest == ["", f"{RULE}: +1 -0 !0", "1 added, 0 removed, 0 changed, 0 the same; 1 of 2 repositories differ"]
    ran = clones.run(CHECKOUT, without, f"--option=--select={RULE}")
    assert ran.out.splitlines()[1].startswith(f"  - {shown}")
    assert ran.out.splitlines()[-2] == f"{RULE}: +0 -1 !0"


def test_a_finding_that_says_something_else(clones: Clones, tmp_path: Path) -> None:
    clones.add("one.git", "owner/one", {"compose.yml": COMPOSE.replace("v0.20.0", "latest")})
    older = other(tmp_path, "--engine-version vllm=0.19.0")
    ran = clones.run(older, CHECKOUT, f"--option=--select={RULE}", "--option=--engine-version=vllm=0.20.0")
    assert ran.status == 1
    assert ran.out.splitlines()[2:4] == ["      release: 0.19.0 -> 0.20.0", ""]
    assert ran.out.splitlines()[-1].startswith("0 added, 0 removed, 1 changed, 0 the same; ")


def test_as_markdown(clones: Clones, tmp_path: Path) -> None:
    repository = clones.add("owner/one", "owner/one", {"my compose.yml": COMPOSE})
    commit = repository.git("rev-parse", "HEAD").strip()
    ran = clones.run(other(tmp_path, f"--ignore {RULE}"), CHECKOUT, f"--option=--select={RULE}", "--format", "markdown")
    lines = ran.out.splitlines()
    assert lines[0] == "**servelint primer**: 1 added, 0 removed, 0 changed, 0 the same; 1 of 1 repositories differ"
    assert f"- https://github.com/owner/one/blob/{commit}/my%20compose.yml#L4" in lines
    assert any(line.startswith("+ my compose.yml:4:80: error[") for line in lines)
    assert lines.count("```diff") == lines.count("</details>") == 1
    assert lines[-1] == "- would not start: owner/one my compose.yml:4"


def test_only_the_paths_of_the_list_count(clones: Clones, tmp_path: Path) -> None:
    clones.add("owner/one", "owner/one", {"a/compose.yml": COMPOSE, "ab/compose.yml": COMPOSE, "c.yml": COMPOSE}, "a c.yml")
    ran = clones.run(other(tmp_path, f"--ignore {RULE}"), CHECKOUT, f"--option=--select={RULE}")
    assert [line.split(":")[0] for line in ran.out.splitlines()[1:3]] == ["  + a/compose.yml", "  + c.yml"]
    assert "2 added" in ran.out


def test_what_is_not_here(clones: Clones) -> None:
    clones.add("owner/one", "owner/one", {"readme.md": "vllm\n"})
    clones.pin("owner/gone", "0" * 40)
    clones.add("owner/shallow", "owner/other", {})
    clones.pin("owner/one", "1" * 40)
    ran = clones.run(CHECKOUT, CHECKOUT)
    assert (ran.status, ran.err.splitlines()) == (
        2,
        [
            "primer: not here: owner/gone at 000000000000",
            f"primer: not here: owner/other at {_commit(clones, 'owner/other')[:12]}",
            "primer: not here: owner/one at 111111111111",
        ],
    )
    assert clones.run(CHECKOUT, CHECKOUT, "--skip-missing").status == 0


def _commit(clones: Clones, name: str) -> str:
    return next(line.split("\t")[1] for line in clones.list.read_text().splitlines() if line.startswith(name))


def test_a_revision_is_taken_from_git(clones: Clones, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each revision is unpacked into a folder of its own."""
    program = 'import sys\nopen(sys.argv[sys.argv.index("--output") + 1], "w").write({row!r} * {count})\n'
    row = json.dumps(
        {"kind": "error", "repository": "owner/one", "path": "a.yml", "line": 1, "column": 1, "rule": None, "message": "m"}
    )
    servelint = Repository(
        written(tmp_path / "servelint", {"rules/a.yaml": "", "schemas/a.json": "", "src/servelint/__init__.py": ""})
    )
    for count in (0, 2):
        written(servelint.folder, {"src/servelint/__main__.py": program.format(row=row + "\n", count=count)})
        servelint.commit(f"finds {count}")
    monkeypatch.setattr(primer, "CHECKOUT", str(servelint.folder))
    clones.add("owner/one", "owner/one", {"a.yml": ""})
    ran = clones.run("HEAD~1", "main")
    assert (ran.status, ran.out.splitlines()[1:4]) == (1, ["  + a.yml:1:1: error m", "  + a.yml:1:1: error m", ""])
    assert clones.run("HEAD", "main").status == 0
    assert servelint.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("old", "message"),
    [
        ("no-such-revision", "'no-such-revision' is neither a revision, a folder nor an interpreter: fatal: "),
        ("--output=x", "the following arguments are required: NEW"),
        ("{empty}", "is not a checkout of servelint"),
        ("/bin/false", "servelint at /bin/false cannot scan: status 1"),
    ],
)
def test_a_revision_that_there_is_not(old: str, message: str, clones: Clones, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    clones.add("owner/one", "owner/one", {"readme.md": "vllm\n"})
    ran = clones.run(old.format(empty=tmp_path / "empty"), CHECKOUT)
    assert (ran.status, ran.out) == (2, "")
    assert message in ran.err


def test_a_list_that_is_none(clones: Clones) -> None:
    clones.list.write_text("owner/one main .\n")
    ran = clones.run(CHECKOUT, CHECKOUT)
    assert ran.status == 2
    assert "list.tsv:1: write owner/name, a whole commit id and paths, with tabs between" in ran.err


def _row(**values: Any) -> dict[str, Any]:
    return {
        "kind": "finding",
        "path": "a.yml",
        "source": "a.yml",
        "line": 1,
        "column": 1,
        "rule": "r",
        "launch": "l",
        "severity": "error",
        "message": "m",
        **values,
    }


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ([], [], (0, 0, 0, 0)),
        ([_row()], [_row()], (0, 0, 0, 1)),
        ([_row()], [_row(line=2)], (0, 0, 1, 0)),
        ([_row()], [_row(severity="warning")], (0, 0, 1, 0)),
        ([_row()], [_row(rule="other")], (1, 1, 0, 0)),
        ([_row()], [_row(launch="other")], (1, 1, 0, 0)),
        ([_row(), _row()], [_row()], (0, 1, 0, 1)),
        ([_row(), _row(line=5)], [_row(line=5), _row(line=7), _row(line=9)], (1, 0, 1, 1)),
    ],
)
def test_what_is_the_same(old: list[dict[str, Any]], new: list[dict[str, Any]], counts: tuple[int, ...]) -> None:
    found = primer.compared(old, new)
    assert (len(found.added), len(found.removed), len(found.changed), found.same) == counts
    back = primer.compared(new, old)
    assert (len(back.removed), len(back.added), len(back.changed), back.same) == counts


def test_launches_that_stop_and_start() -> None:
    crash, slow = _row(impact="crash-at-start"), _row(impact="slow", path="b.yml")
    assert primer.starting("o/n", [slow], [slow, crash]) == ["- would not start: o/n a.yml:1"]
    assert primer.starting("o/n", [crash, crash], [slow]) == ["- would start: o/n a.yml:1"]
    assert primer.starting("o/n", [crash, _row(impact="crash-at-load")], [crash]) == []


def test_a_change_says_what_has_changed() -> None:
    one = primer.compared([_row()], [_row(line=3, severity="warning")])
    assert primer._lines(one) == ["! a.yml:3:1: warning[r] m", "    place: 1:1 -> 3:1", "    severity: error -> warning"]


def test_the_repositories_of_the_list() -> None:
    pinned = primer.listed(str(TOOL.parent / "repositories.tsv"))
    assert len(pinned) > 30
    assert len({one.name for one in pinned}) == len(pinned)
    assert [one.name for one in pinned] == sorted([one.name for one in pinned], key=str.lower)
