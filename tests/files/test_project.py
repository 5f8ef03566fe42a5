"""What a file may have read: files of its own project, regular ones, and what the settings allow beside them."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from servelint.cli import main
from servelint.core import safe_open
from servelint.core.result import Report
from servelint.core.settings import Settings
from servelint.core.trust import Trust
from servelint.files.project import Project, Refused, folders, root
from servelint.lint import check

RULE = "vllm/gpu-memory-utilization-out-of-range"
SERVICE = """\
services:
  llm:
    image: vllm/vllm-openai:v0.20.0
    command: --model m --gpu-memory-utilization ${UTIL}
    env_file: [%s]
"""
SCRIPT = "source %s\nvllm serve m --gpu-memory-utilization $UTIL\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git checkout, which is the current folder, beside another folder."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "util.sh").write_text("UTIL=1.5\n")
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "deploy").mkdir()
    monkeypatch.chdir(folder)
    return folder


def told(report: Report) -> list[str]:
    return [repr(one) for one in report.notes]


def rules(report: Report) -> list[str]:
    return [finding.rule for finding in report.findings if finding.rule == RULE]


class TestRoot:
    def test_is_the_nearest_checkout(self, project: Path) -> None:
        assert root("deploy") == str(project)
        (project / "deploy" / ".git").write_text("gitdir: ../.git/modules/deploy\n")
        assert root("deploy") == str(project / "deploy")

    def test_without_one_the_current_folder_or_that_of_the_settings(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "a" / "b" / "c").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / "a" / "b")
        assert root("c") == str(tmp_path / "a" / "b")
        assert root(str(tmp_path / "a")) == str(tmp_path / "a")
        (tmp_path / "a" / "servelint.toml").write_text("")
        assert root("c") == str(tmp_path / "a")

    def test_without_one_is_the_folder_that_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "a" / "b" / "c").mkdir(parents=True)
        (tmp_path / "d").mkdir()
        monkeypatch.chdir(tmp_path / "d")
        inner = str(tmp_path / "a" / "b" / "c")
        assert (root(inner), root(inner, folders(["../a/b", inner]))) == (inner, str(tmp_path / "a" / "b"))
        assert root(inner, ("../d", str(tmp_path / "a" / "bb"))) == inner
        Path("../a/util.sh").write_text("UTIL=1.5\n")
        Path(inner, "run.sh").write_text(SCRIPT % "../../util.sh")
        Path("../a/link.sh").symlink_to(Path(inner, "run.sh"))
        assert (rules(check([inner])), rules(check(["../a"]))) == ([], [RULE])
        assert told(check(["../a/b"])) != told(check(["../a"])) == []


def test_folders_are_those_among_what_is_named(project: Path) -> None:
    Path("deploy/run.sh").write_text("")
    assert folders(["deploy", "deploy/run.sh", "gone", "."]) == (str(project / "deploy"), str(project))


class TestFilesThatAFileNames:
    @pytest.fixture(autouse=True)
    def _inside(self, project: Path) -> None:
        (project / "util.sh").write_text("UTIL=1.5\n")

    def test_of_the_project_are_read(self) -> None:
        Path("deploy/run.sh").write_text(SCRIPT % "../util.sh")
        report = check(["deploy"])
        assert (rules(report), report.notes, report.errors) == ([RULE], [], [])

    def test_by_a_link_inside_of_it_as_well(self) -> None:
        Path("deploy/link.sh").symlink_to("../util.sh")
        Path("run.sh").write_text(SCRIPT % "deploy/link.sh")
        assert rules(check(["run.sh"])) == [RULE]

    @pytest.mark.parametrize("path", ["../../other/util.sh", "link.sh", "folder/util.sh"])
    def test_outside_of_it_are_unknown_and_said_to_be(self, project: Path, path: str) -> None:
        Path("deploy/link.sh").symlink_to("../../other/util.sh")
        Path("deploy/folder").symlink_to("../../other")
        Path("deploy/run.sh").write_text(SCRIPT % path)
        report = check(["deploy/run.sh"])
        assert (rules(report), report.errors, len(report.launches)) == ([], [], 1)
        (note,) = told(report)
        assert re.match(r"deploy/run\.sh:1:\d+: not read: ", note)
        assert "is not a file of the project (.); what it says is taken as unknown" in note

    def test_outside_of_it_are_read_where_the_settings_say_so(self, project: Path) -> None:
        Path("deploy/run.sh").write_text(SCRIPT % "../../other/util.sh")
        for allowed in (str(project.parent / "other"),), True:
            assert rules(check(["deploy"], Settings(read_outside=allowed))) == [RULE]
        assert rules(check(["deploy"], Settings(read_outside=(str(project.parent / "oth"),)))) == []

    def test_the_settings_file_says_so_from_its_own_folder(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("deploy/run.sh").write_text(SCRIPT % "../../other/util.sh")
        Path("deploy/servelint.toml").write_text('read-outside = ["../../other"]\n')
        assert main(["check", "deploy", "--select", RULE]) == 1
        Path("deploy/servelint.toml").write_text("read-outside = false\n")
        assert main(["check", "deploy", "--select", RULE]) == 0
        assert "note: deploy/run.sh:1:8: not read: " in capsys.readouterr().out
        Path("deploy/servelint.toml").write_text("read-outside = 1\n")
        assert main(["check", "deploy"]) == 2

    def test_what_is_not_there_is_not_noted(self) -> None:
        Path("run.sh").write_text(SCRIPT % "../missing.sh")
        assert check(["run.sh"]).notes == []

    def test_a_large_one_is_an_error(self) -> None:
        with Path("util.sh").open("ab") as file:
            file.truncate(1 << 23)
        Path("run.sh").write_text(SCRIPT % "./util.sh")
        report = check(["run.sh"])
        assert [repr(one) for one in report.errors] == ["run.sh:1:8: not read: the file util.sh is larger than 4 MiB"]

    def test_an_env_file_as_well(self) -> None:
        Path("compose.yml").write_text(SERVICE % "/etc/hosts")
        assert "compose.yml:5:16: not read: /etc/hosts is not a file of the project" in told(check(["compose.yml"]))[0]


class TestWithin:
    """Folders that a run may read at all: narrower than the project, and than what settings allow."""

    @pytest.fixture
    def trust(self, project: Path) -> Trust:
        (project / "util.sh").write_text("UTIL=1.5\n")
        (project / "deploy" / "near.sh").write_text("UTIL=1.5\n")
        (project / "deploy" / "link.sh").symlink_to("../util.sh")
        return Trust(within=(str(project / "deploy"),))

    @pytest.mark.parametrize("outside", [(), ("..",), True])
    def test_files_beside_them_are_refused(self, outside: Any, trust: Trust, project: Path) -> None:
        found = Project("deploy", outside, trust=trust)
        assert found("deploy/near.sh") == b"UTIL=1.5\n"
        assert found("deploy/none.sh") is None
        for path in ("util.sh", "deploy/../util.sh", "deploy/link.sh", str(project.parent / "other" / "util.sh")):
            assert not found.holds(path)
            with pytest.raises(Refused, match="is outside the folders that may be read"):
                found(path)

    def test_nor_are_settings_read(self, trust: Trust) -> None:
        with pytest.raises(PermissionError):
            trust.read("util.sh", 100)
        assert not trust.is_file("util.sh")
        assert not trust.is_folder(".")
        assert trust.is_folder("deploy")
        assert not trust.holds("deployed")
        assert not trust.holds("deploy/\0")
        assert Trust().holds("util.sh")


class TestNoRegularFiles:
    """None of these is opened: a pipe would be waited for, and the test would not end."""

    def test_pipes_devices_and_sockets_are_not_there(self, project: Path) -> None:
        os.mkfifo("pipe")
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind("socket")
            Path("zero").symlink_to("/dev/zero")
            for name in ("pipe", "socket", "zero", "deploy", "/dev/stdin"):
                assert Project(".", True)(name) is None, name
                with pytest.raises(OSError, match="not a regular file"):
                    safe_open.descriptor(name)

    def test_a_pipe_that_a_script_sources(self, project: Path) -> None:
        os.mkfifo("pipe.sh")
        Path("run.sh").write_text(SCRIPT % "./pipe.sh")
        assert len(check(["run.sh", "."]).launches) == 1

    def test_one_that_takes_the_place_of_a_file(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        os.mkfifo("pipe")
        Path("file").write_text("A=1\n")
        regular = os.stat("file")
        monkeypatch.setattr("os.stat", lambda *_, **__: regular)
        with pytest.raises(OSError, match="not a regular file"):
            safe_open.descriptor("pipe")


class TestLinks:
    def test_out_of_the_project_are_not_followed_in_a_folder(self, project: Path) -> None:
        Path("inside.sh").write_text("vllm serve m\n")
        Path("link.sh").symlink_to("inside.sh")
        Path("away.sh").symlink_to("../other/run.sh")
        (project.parent / "other" / "run.sh").write_text("vllm serve m\n")
        report = check(["."])
        assert report.paths == ["inside.sh", "link.sh"]
        (note,) = told(report)
        assert note.startswith("away.sh:1:1: not read: a link that leads out of the project; name the file itself")
        assert check(["."], Settings(read_outside=True)).paths == ["away.sh", "inside.sh", "link.sh"]

    def test_that_are_named_are_followed(self, project: Path) -> None:
        Path("away.sh").symlink_to("../other/run.sh")
        (project.parent / "other" / "run.sh").write_text("vllm serve m\n")
        assert len(check(["away.sh"]).launches) == 1

    def test_that_are_put_in_the_way_meanwhile(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        Path("deploy/util.sh").write_text("UTIL=1\n")
        asked = Project(".")
        assert asked("deploy/util.sh") == b"UTIL=1\n"
        Path("deploy/util.sh").unlink()
        Path("deploy").rmdir()
        Path("deploy").symlink_to("../other")
        # as if the folder had been exchanged between the question where it leads and the opening
        monkeypatch.setattr("os.path.realpath", lambda path: str(project / path))
        assert asked("deploy/util.sh") is None

    def test_refused_ones_say_why(self, project: Path) -> None:
        with pytest.raises(Refused) as refused:
            Project(".")("../other/util.sh")
        assert refused.value.outside


def test_notes_are_in_the_json_report(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("run.sh").write_text(SCRIPT % "../other/util.sh")
    assert main(["check", "run.sh", "--format", "json"]) == 0
    assert '"notes": [\n  {"path": "run.sh", "line": 1, "column": 8, "message": "not read: ' in capsys.readouterr().out
    assert main(["launches", "run.sh"]) == 0
    assert "note: run.sh:1:8: not read: " in capsys.readouterr().err
