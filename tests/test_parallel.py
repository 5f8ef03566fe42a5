"""Several processes find what one finds, in the same order."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from servelint import parallel
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


def test_what_a_process_does_not_give_is_done_here(many: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    parent = os.getpid()
    dumps = pickle.dumps

    def dies(data: object, protocol: int) -> bytes:
        assert os.getpid() != parent
        whole = dumps(data, protocol)
        return whole[: len(whole) // 2]

    monkeypatch.setattr("pickle.dumps", dies)
    assert render_json(check_in_parallel(many, Settings())) == render_json(check(many))


@pytest.mark.parametrize(("files", "most"), [(0, 1), (1, 1), (parallel.FILES_AT_LEAST - 1, 1), (100_000, 16)])
def test_few_files_are_done_at_once(files: int, most: int) -> None:
    assert 1 <= parallel.processes(files) <= most


def test_a_report_adds_up() -> None:
    one, other = Report(), Report()
    one.files, other.files = 1, 2
    one.add(other)
    assert one.files == 3
