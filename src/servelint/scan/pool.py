"""Who reads the repositories: the processes of this machine, or the workers of a Dask cluster (extra `dask`).

A repository that ends two processes (servelint.parallel) becomes an error row, and the others go on. The workers of a cluster
must see the repositories under the same paths.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from functools import partial
from itertools import islice

from servelint.parallel import ENDED, run_tasks
from servelint.scan import repository
from servelint.scan.job import Done, Job, Unit


def run_processes(units: Iterable[Unit], job: Job, count: int) -> Generator[tuple[Unit, Done], None, None]:
    """Scan repositories on processes of this machine, and yield each result when it is ready.

    Args:
        units: the repositories.
        job: the work for each.
        count: the number of processes.

    Raises:
        Mismatch: a process has another servelint, or other rules.
    """
    for unit, done in run_tasks(units, partial(repository.scan, job=job), count):
        yield unit, repository.failed(unit, ENDED) if done is None else done


_AHEAD = 4
"""Tasks for each thread of the cluster that are submitted before the first is done."""
_AT_ONCE = 16
"""Repositories of a task, once there are enough tasks: a task costs the scheduler as much time as a small repository takes."""
_TIMEOUT = 20


class ClusterError(Exception):
    """The cluster cannot be used. The message is one sentence."""


def run_on_cluster(units: Iterable[Unit], job: Job, address: str) -> Generator[tuple[Unit, Done], None, None]:
    """Scan repositories on a cluster, and yield each result when it is ready.

    A repository whose worker is lost goes to another worker.

    Args:
        units: the repositories.
        job: the work for each.
        address: the scheduler, such as `tcp://host:8786`.

    Raises:
        ClusterError: the cluster cannot be used.
        Mismatch: a worker has another servelint, or other rules.
    """
    try:
        from distributed import Client, KilledWorker, as_completed
    except ImportError:
        raise ClusterError("Dask is not installed: pip install 'servelint[dask]'") from None
    try:
        client = Client(address, timeout=_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(f"no scheduler of Dask answers at {address}: {error}") from None
    with client:
        waiting = iter(units)
        running: dict[object, list[Unit]] = {}
        done = as_completed(loop=client.loop)
        threads = sum(client.nthreads().values())
        if not threads:
            raise ClusterError(f"the scheduler at {address} has no workers")
        given = 0

        def give(some: list[Unit]) -> None:
            future = client.submit(repository.scan_all, some, job, pure=False)
            running[future.key] = some
            done.add(future)

        def more() -> bool:
            nonlocal given
            some = list(islice(waiting, min(_AT_ONCE, 1 + given // threads)))
            given += 1
            if some:
                give(some)
            return bool(some)

        for _ in range(max(threads * _AHEAD, 8)):
            if not more():
                break
        for future in done:
            some = running.pop(future.key)
            try:
                yield from zip(some, future.result(), strict=True)
            except KilledWorker:
                if len(some) == 1:
                    yield some[0], repository.failed(some[0], ENDED)
                else:
                    for unit in some:  # one of them ended it
                        give([unit])
            future.release()
            more()
