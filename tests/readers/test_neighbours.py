"""Neighbours: the files beside a file that its format names itself, and no others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import servelint
from servelint.core import safe_open
from servelint.files.project import Project
from servelint.files.siblings import Neighbours
from tests.together import together


def test_a_file_beside(tmp_path: Path) -> None:
    (tmp_path / "llm.env").write_text("A=1\n")
    source = Neighbours(str(tmp_path), "deploy").read("llm.env")
    assert source is not None
    assert (source.path, source.text) == ("deploy/llm.env", "A=1\n")


def test_in_another_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "llm.env").write_text("A=1\n")
    source = Neighbours(str(tmp_path / "a")).read("../llm.env")
    assert source is not None
    assert source.path == "../llm.env"


def test_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "llm.env").write_text("A=1\n")
    source = Neighbours("/").read("~/llm.env")
    assert source is not None
    assert source.text == "A=1\n"


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"\xef\xbb\xbfA=1\n")
    source = Neighbours(str(tmp_path)).read(".env")
    assert source is not None
    assert source.text == "A=1\n"


def test_it_is_read_once(tmp_path: Path) -> None:
    neighbours = Neighbours(str(tmp_path))
    (tmp_path / ".env").write_text("A=1\n")
    first = neighbours.read(".env")
    (tmp_path / ".env").write_text("A=2\n")
    assert neighbours.read(".env") is first


def test_a_text_without_a_file_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("A=1\n")
    assert Neighbours(None).read(".env") is None


class TestUnreadable:
    @pytest.fixture
    def neighbours(self, tmp_path: Path) -> Neighbours:
        return Neighbours(str(tmp_path))

    @pytest.mark.parametrize("path", ["missing", "", ".", "a\0b", "missing/deeper", "x" * 5000])
    def test_not_there(self, neighbours: Neighbours, path: str) -> None:
        assert neighbours.read(path) is None

    def test_not_utf8(self, neighbours: Neighbours, tmp_path: Path) -> None:
        (tmp_path / ".env").write_bytes(b"A=\xff\n")
        assert neighbours.read(".env") is None

    def test_too_large(self, neighbours: Neighbours, tmp_path: Path) -> None:
        with (tmp_path / ".env").open("wb") as file:
            file.truncate((4 << 20) + 1)
        assert neighbours.read(".env") is None

    def test_a_pipe_is_not_waited_for(self, neighbours: Neighbours, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / ".env")
        assert neighbours.read(".env") is None

    def test_a_link_in_a_circle(self, neighbours: Neighbours, tmp_path: Path) -> None:
        (tmp_path / ".env").symlink_to(".env")
        assert neighbours.read(".env") is None


def test_files_of_another_folder(tmp_path: Path) -> None:
    (tmp_path / "docker").mkdir()
    (tmp_path / "docker" / "Dockerfile").write_text("FROM x\n")
    found = Neighbours(str(tmp_path), "deploy").below("./docker/").read("Dockerfile")
    assert found is not None
    assert (found.path, found.text) == ("deploy/docker/Dockerfile", "FROM x\n")
    assert Neighbours(None).below("docker").read("Dockerfile") is None


class TestNames:
    """What a folder holds."""

    def test_those_that_match_in_order(self, tmp_path: Path) -> None:
        for name in ("b.yaml", "a.yaml", "c.txt"):
            (tmp_path / name).write_text("")
        (tmp_path / "below").mkdir()
        (tmp_path / "below" / "d.yaml").write_text("")
        found = Neighbours(str(tmp_path))
        assert found.names("./", r".*\.yaml") == ["a.yaml", "b.yaml"]
        assert found.names("below/", r".*\.yaml") == ["below/d.yaml"]
        assert found.names("missing/", ".*") == found.names("a.yaml/", ".*") == []
        assert found.answer(("./",)) is not None

    def test_a_folder_with_too_many(self, tmp_path: Path) -> None:
        for number in range(safe_open.NAMES_AT_MOST + 1):
            (tmp_path / f"{number}.yaml").write_text("")
        assert Neighbours(str(tmp_path)).names("./", ".*") == []

    def test_a_folder_outside_of_the_project(self, tmp_path: Path) -> None:
        (tmp_path / "inside").mkdir()
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside" / "a.yaml").write_text("")
        (tmp_path / "inside" / ".git").mkdir()
        (tmp_path / "inside" / "link").symlink_to(tmp_path / "outside")
        found = Neighbours(str(tmp_path / "inside"), "", Project(str(tmp_path / "inside")))
        assert found.names("./", ".*") == [".git", "link"]
        assert found.names("../outside/", ".*") == found.names("link/", ".*") == []


SERVE = "#!/bin/bash\nexec vllm serve m --port ${PORT:-8000}\n"
STEPS = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: {}\n        env: {}\n"


@together(
    "name, text, ports",
    [
        ("a.service", "[Service]\nEnvironment=PORT=9\nExecStart=/opt/app/scripts/serve.sh\n", ["9"]),
        ("Makefile", "serve:\n\tPORT=9 ./scripts/serve.sh\n", ["9"]),
        ("justfile", "serve:\n\tPORT=9 ./scripts/serve.sh\n", ["9"]),
        (".gitlab-ci.yml", "a:\n  variables: {PORT: 9}\n  script: [./scripts/serve.sh]\n", ["9"]),
        (".github/workflows/a.yml", STEPS.format("./scripts/serve.sh", "{PORT: 9}"), ["9"]),
        # what the script starts by itself is found where it is read
        ("Makefile", "serve:\n\t./scripts/serve.sh\n", []),
        (".github/workflows/a.yml", STEPS.format("./scripts/serve.sh", "{A: 9}"), []),
        (".github/workflows/a.yml", STEPS.format("./scripts/serve.sh", "{PORT: '${{ vars.PORT }}'}"), []),
        # another script, or none that is there
        ("Makefile", "serve:\n\tPORT=9 ./scripts/test.sh\n", []),
        ("Makefile", "serve:\n\tPORT=9 ./missing.sh\n", []),
    ],
)
def test_what_runs_a_script_and_names_no_engine(name: str, text: str, ports: list[str], tmp_path: Path) -> None:
    folder = tmp_path / str(abs(hash((name, text))))
    for path, content in {"scripts/serve.sh": SERVE, "scripts/test.sh": "pytest $PORT\n", name: text, ".git/HEAD": ""}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    found = servelint.check([str(folder / name)]).launches
    assert [one.argv[-1].value for one in found] == ports
