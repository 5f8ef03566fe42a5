"""Dask: the same rows as without it, also where one of its workers is killed half-way."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from servelint.scan import pool, repository
from servelint.scan.job import FOLDER, Unit
from servelint.scan.pool import ClusterError
from tests.running import Workspace
from tests.scan.samples import COMPOSE, RULE, asked, rows, scanned, written

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def local() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as made:
        yield made


@pytest.fixture
def units(tmp_path: Path) -> list[Unit]:
    return [
        Unit(f"r{number}", FOLDER, str(written(tmp_path / f"r{number}", {"compose.yml": COMPOSE + f"# {number}\n"})))
        for number in range(30)
    ]


def test_a_worker_that_is_killed(local: Any, units: list[Unit]) -> None:
    expected = Counter(line for unit in units for line in scanned(unit).rows.splitlines())
    assert len(expected) == 30
    found: Counter[bytes] = Counter()
    for count, (_, done) in enumerate(pool.run_on_cluster(units, asked(), local.scheduler_address)):
        found.update(done.rows.splitlines())
        if count == 10:
            os.kill(next(iter(local.workers.values())).pid, signal.SIGKILL)
    assert found == expected


def test_by_the_command(local: Any, workspace: Workspace) -> None:
    for name in ("a", "b"):
        written(workspace.folder / "all" / name, {".git/HEAD": "", "compose.yml": COMPOSE})
    ran = workspace.run("scan", "all", "--select", RULE, "--no-cache", "--scheduler", local.scheduler_address)
    assert (ran.status, [row["repository"] for row in sorted(rows(ran.out.encode()), key=str)]) == (1, ["all/a", "all/b"])


def test_a_worker_with_another_servelint(local: Any, units: list[Unit]) -> None:
    with pytest.raises(repository.Mismatch, match="a worker has another servelint"):
        list(pool.run_on_cluster(units, asked()._replace(context="0" * 32), local.scheduler_address))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x"])
def test_no_scheduler(address: str, units: list[Unit], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_TIMEOUT", 0.2)
    with pytest.raises(ClusterError, match=f"no scheduler of Dask answers at {address}"):
        list(pool.run_on_cluster(units, asked(), address))
