"""`servelint check` with results of earlier checks, and `servelint cache`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from servelint.cache import FOLDER
from servelint.core.settings import FORMATS
from tests.running import Workspace
from tests.test_imports import imported

WRONG = "source ./env.sh\nvllm serve m --gpu-memory-utilization 1.5 $EXTRA\n"
TOKEN = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"


@pytest.fixture
def project(workspace: Workspace) -> Workspace:
    workspace.file("run.sh", WRONG)
    workspace.file("env.sh", "EXTRA=--swap-space\n")
    workspace.file(
        "sub/compose.yml", f"services: {{a: {{image: vllm/vllm-openai:v0.20.0, command: --model m --api-key {TOKEN}}}}}\n"
    )
    return workspace


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("?/*") if path.is_file())


@pytest.mark.parametrize("kind", FORMATS)
def test_a_report_is_the_same_bytes(kind: str, project: Workspace) -> None:
    args = ("check", "-q", "--format", kind)
    plain, *cached = [project.run(*args, *more) for more in (("--no-cache",), (), ())]
    assert cached == [plain, plain]
    assert plain.status == 1


def test_where_it_is(project: Workspace) -> None:
    files = project.run("check", "--no-cache", "--format", "json").data["files"]
    assert not (project.folder / FOLDER).exists()
    project.run("check")
    assert len(entries(project.folder / FOLDER)) == 2
    assert TOKEN.encode() not in b"".join(path.read_bytes() for path in entries(project.folder / FOLDER))
    project.file(f"{FOLDER}/0/compose.yml", "services: {a: {image: vllm/vllm-openai:v0.1.0}}\n")
    assert project.run("check", "--format", "json").data["files"] == files, "the cache itself is not searched"


def test_a_check_from_a_folder_of_a_checkout_uses_the_cache_of_the_checkout(project: Workspace) -> None:
    (project.folder / ".git").mkdir()
    os.chdir("sub")
    project.run("check")
    assert [path.name for path in project.folder.iterdir() if path.name.startswith(".serve")] == [FOLDER]
    assert not Path(FOLDER).exists()


def test_a_planted_result_does_not_count(project: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pull request may bring a cache that was made on another machine, in which the file is clean."""
    with monkeypatch.context() as other:
        other.setenv("XDG_CACHE_HOME", str(tmp_path / "theirs"))
        project.file("run.sh", WRONG)
        other.setattr("servelint.judge.judging.judge", lambda launch, settings: [])
        assert project.run("check", "-q").status == 0
    assert project.run("check", "-q").status == 1


@pytest.mark.parametrize("kind", ["link", "file", "foreign", "open", "dangling"])
def test_something_else_in_its_place_is_left_alone(kind: str, project: Workspace, tmp_path: Path) -> None:
    plain = project.run("check", "-q", "--no-cache")
    place = project.folder / FOLDER
    if kind == "link":
        (project.folder / "real").mkdir()
        place.symlink_to("real")
    elif kind == "dangling":
        place.symlink_to(tmp_path / "nowhere")
    elif kind == "file":
        place.write_text("x")
    else:
        place.mkdir(mode=0o700)
        (place / "letter.txt").write_text("dear")
        place.chmod(0o777 if kind == "open" else 0o700)
    found = project.run("check", "-q")
    assert (found.status, found.out) == (plain.status, plain.out)
    assert found.err.startswith(f"servelint: {place}: not used as the cache: ")
    assert found.err.count("\n") == 1
    assert not (project.folder / "real").exists() or not list((project.folder / "real").iterdir())
    assert project.run("cache", "clean").status == 2


def test_no_place_for_a_cache_is_no_matter(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = project.run("check", "-q", "--no-cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(project.file("file", "x")))
    assert project.run("check", "-q") == plain
    assert project.run("check", "-q", "--cache-dir", "file/cache") == plain


def test_contradicting_options(project: Workspace) -> None:
    found = project.run("check", "--no-cache", "--cache-dir", "x")
    assert found.status == 2
    assert "--no-cache cannot be combined with --cache-dir" in found.err


def test_fixes_and_gates_use_none(project: Workspace) -> None:
    project.run("check", "--diff", "-q")
    project.run("check", "--format", "html")
    assert not (project.folder / FOLDER).exists()


def test_a_known_result_needs_no_judge(project: Workspace) -> None:
    project.run("check", "--format", "json")
    _, modules = imported(project.folder, "check", "--format", "json")
    assert "servelint.cache" in modules
    assert [name for name in modules if name.startswith(("servelint.judge", "servelint.syntax.yaml"))] == []


class TestCommand:
    def test_show_and_clean(self, project: Workspace) -> None:
        place = project.folder / FOLDER
        assert project.run("cache").out == f"{place}: 0 results, 0.0 of 256 MiB\n"
        project.run("check")
        assert project.run("cache", "show").out.startswith(f"{place}: 2 results, 0.0 of 256 MiB\n")
        assert project.run("cache", "clean") == (0, "", f"servelint: deleted 2 results in {place}\n")
        assert not place.exists()
        assert project.run("cache", "clean").err == f"servelint: deleted 0 results in {place}\n"

    def test_another_folder(self, project: Workspace) -> None:
        project.run("check", "--cache-dir", "kept")
        assert len(entries(project.folder / "kept")) == 2
        assert project.run("cache", "show", "--cache-dir", "kept").out.startswith(f"{project.folder / 'kept'}: 2 results")
        assert project.run("cache", "clean", "--cache-dir", "sub").status == 2
        assert (project.folder / "sub" / "compose.yml").exists()


def test_json_of_a_stored_result_is_that_of_a_new_one(project: Workspace) -> None:
    first, second = (project.run("check", "--format", "json").out for _ in range(2))
    assert json.loads(first) == json.loads(second)
