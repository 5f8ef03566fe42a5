"""Several processes find what one finds, in the same order."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from servelint import lint, parallel
from servelint.core.result import Report
from servelint.core.settings import Settings
from servelint.lint import check, check_in_parallel
from servelint.report.formats.json import render as render_json

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Files that start engines, with findings, without, broken, and one that two of the others read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parallel, "processes", lambda files: 3)
    Path("lib.sh").write_text("start() { vllm serve m --gpu-memory-utilization 1.5 $1; }\n")
    for number in range(30):
        Path(f"serve-{number:02}.sh").write_text(f"vllm serve m --port {number} --gpu-memory-utilization 1.{number}\n")
        Path(f"run-{number:02}.sh").write_text(f". ./lib.sh\nstart --port {number} # vllm\n")
    Path("broken.yml").write_text("services: [ # vllm")
    Path("bytes.sh").write_bytes(b"vllm serve \xff\n")
    return ["."]


def test_the_report_is_the_same(many: list[str]) -> None:
    one, several = check(many), check_in_parallel(many, Settings())
    assert len(one.findings) > 20
    assert render_json(several) == render_json(one)
    assert [launch.argv for launch in several.launches[1:]] != [launch.argv for launch in one.launches[1:]]


def test_the_words_come_along_where_they_are_asked_for(many: list[str]) -> None:
    one, several = check(many), check_in_parallel(many, Settings(), words=True)
    assert [[word.shown for word in launch.argv] for launch in several.launches] == [
        [word.shown for word in launch.argv] for launch in one.launches
    ]


def killing(monkeypatch: pytest.MonkeyPatch, paths: tuple[str, ...], times: int) -> None:
    """Have a process that reads one of these files be killed, so many times each."""
    parent, read, folder = os.getpid(), lint._one, Path.cwd()

    def dies(path: str, *more: Any) -> Report:
        if path in paths and os.getpid() != parent:
            for number in range(times):
                mark = folder / f"{path}.killed-{number}"
                if not mark.exists():
                    mark.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
        return read(path, *more)

    monkeypatch.setattr(lint, "_one", dies)


def test_a_process_that_is_killed_costs_nothing(many: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = render_json(check(many))
    killing(monkeypatch, ("serve-07.sh", "serve-08.sh"), 1)
    assert render_json(check_in_parallel(many, Settings())) == whole


def test_a_file_that_ends_every_process_is_an_error(many: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = check(many)
    killing(monkeypatch, ("serve-07.sh",), 9)
    found = check_in_parallel(many, Settings())
    lost = [str(one) for one in found.errors if one.path == "serve-07.sh"]
    assert lost == ["serve-07.sh:1:1: not read: the process that read it came to an end each time (killed, or out of memory)"]
    assert len(found.launches) == len(whole.launches) - 1
    assert found.paths == whole.paths


def test_an_error_of_the_work_is_raised_here() -> None:
    def fails(number: int) -> int:
        raise ValueError(f"no {number}")

    with pytest.raises(ValueError, match="no 1"):
        list(parallel.run_tasks([1], fails, 2, fork=True))


@pytest.mark.parametrize(("files", "most"), [(0, 1), (1, 1), (parallel.FILES_AT_LEAST - 1, 1), (100_000, 64)])
def test_few_files_are_done_at_once(files: int, most: int) -> None:
    assert 1 <= parallel.processes(files) <= most


def test_a_report_adds_up() -> None:
    one, other = Report(), Report()
    one.files, other.files = 1, 2
    one.add(other)
    assert one.files == 3
