"""Processes that are killed lose nothing and double nothing."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from servelint.parallel import ENDED
from servelint.scan import pool, repository
from servelint.scan.job import FOLDER, Done, Job, Unit
from tests.scan.samples import COMPOSE, asked, rows, scanned, written

forked = pytest.mark.skipif(sys.platform != "linux", reason="what is replaced here goes along with a fork only")


@pytest.fixture
def units(tmp_path: Path) -> list[Unit]:
    return [
        Unit(f"r{number}", FOLDER, str(written(tmp_path / f"r{number}", {"compose.yml": COMPOSE + f"# {number}\n"})))
        for number in range(12)
    ]


def told(units: list[Unit], count: int, job: Job | None = None) -> Counter[tuple[str, str]]:
    """Repository and message of every row."""
    found = [done.rows for _, done in pool.run_processes(units, job or asked(), count)]
    return Counter((row["repository"], row["message"]) for row in rows(b"".join(found)))


def alone(units: list[Unit]) -> Counter[tuple[str, str]]:
    """The same of this process, without a pool."""
    return Counter((row["repository"], row["message"]) for unit in units for row in rows(scanned(unit).rows))


@pytest.mark.parametrize("count", [1, 3, 40])
def test_every_repository_once(count: int, units: list[Unit]) -> None:
    found = told(units, count)
    assert {name for name, _ in found} == {unit.name for unit in units}
    assert set(found.values()) == {1}
    assert found == alone(units)


def test_none_at_all() -> None:
    assert told([], 2) == Counter()


def killed_once(monkeypatch: pytest.MonkeyPatch, folder: Path, names: Iterable[str]) -> None:
    """Have the process that reads one of these repositories first be killed."""
    scan, wanted = repository.scan, frozenset(names)

    def dies(unit: Unit, job: Job) -> Done:
        mark = folder / f"{unit.name}.killed"
        if unit.name in wanted and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return scan(unit, job)

    monkeypatch.setattr(repository, "scan", dies)


@forked
def test_a_process_that_is_killed(units: list[Unit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = alone(units)
    killed_once(monkeypatch, tmp_path, ("r3", "r7", "r11"))
    assert told(units, 2) == expected
    assert len(list(tmp_path.glob("*.killed"))) == 3


@forked
def test_a_repository_that_ends_every_process(units: list[Unit], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = alone(units)
    scan = repository.scan

    def dies(unit: Unit, job: Job) -> Done:
        if unit.name == "r5":
            os.kill(os.getpid(), signal.SIGKILL)
        return scan(unit, job)

    monkeypatch.setattr(repository, "scan", dies)
    found = told(units, 2)
    assert found == Counter({key: count for key, count in expected.items() if key[0] != "r5"}) + Counter({("r5", ENDED): 1})


@forked
def test_killed_with_nothing_in_hand(units: list[Unit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is none of the two times which a repository has: each here ends one process, and is given to a dead one before."""
    import multiprocessing

    expected = alone(units)
    killed_once(monkeypatch, tmp_path, [unit.name for unit in units])
    found = []
    for _, done in pool.run_processes(units, asked(), 1):
        found.append(done.rows)
        for child in multiprocessing.active_children():
            child.kill()
            child.join()
    assert Counter((row["repository"], row["message"]) for row in rows(b"".join(found))) == expected


def test_an_error_of_ours_is_a_row(units: list[Unit], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(repository, "_opened", fails)
    done = repository.scan(units[0], asked())
    assert (done.counts.problems, done.counts.own) == (1, 1)
    assert rows(done.rows)[0]["message"] == "servelint failed on this repository, which is a bug: RuntimeError: no"


def test_a_worker_with_another_servelint(units: list[Unit]) -> None:
    with pytest.raises(repository.Mismatch, match="a worker has another servelint or other rules"):
        told(units, 1, asked()._replace(context="0" * 32))


def test_no_process_is_left(units: list[Unit]) -> None:
    import multiprocessing

    running = pool.run_processes(units, asked(), 2)
    next(running)
    assert len(multiprocessing.active_children()) == 2
    running.close()
    assert multiprocessing.active_children() == []
