"""A cluster of Dask (extra `dask`): its workers read the repositories, which all of them must see under the same paths."""

from __future__ import annotations

from collections.abc import Generator
from itertools import islice

from servelint.scan import repository
from servelint.scan.job import Job
from servelint.scan.pool import ENDED
from servelint.scan.unit import Done, Unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_AHEAD = 4
"""Tasks for each thread of the cluster that are handed over before the first of them is done."""
_AT_ONCE = 16
"""Repositories of a task, once there are enough tasks: one costs the scheduler about as much as a small repository costs us."""
_TIMEOUT = 20


class ClusterError(Exception):
    """Why the cluster cannot be used: one sentence."""


def run(units: Iterable[Unit], job: Job, address: str) -> Generator[tuple[Unit, Done], None, None]:
    """The rows of repositories, as they come. A repository whose worker is lost goes to another one.

    Raises ClusterError, and repository.Mismatch.
    """
    try:
        from distributed import Client, KilledWorker, as_completed
    except ImportError:
        raise ClusterError("Dask is not installed here: pip install 'servelint[dask]'") from None
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
                    for unit in some:  # one of them did it
                        give([unit])
            future.release()
            more()
