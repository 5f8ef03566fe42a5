"""A cluster of Dask (extra `dask`): its workers read the repositories, which all of them must see under the same paths."""

from __future__ import annotations

from collections.abc import Generator

from servelint.scan import repository
from servelint.scan.job import Job
from servelint.scan.pool import ENDED
from servelint.scan.unit import Done, Unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_AHEAD = 4
"""Repositories for each thread of the cluster that are handed over before the first of them is done."""
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
        running: dict[object, Unit] = {}
        done = as_completed(loop=client.loop)

        def give() -> bool:
            unit = next(waiting, None)
            if unit is None:
                return False
            future = client.submit(repository.scan, unit, job, pure=False)
            running[future.key] = unit
            done.add(future)
            return True

        threads = sum(client.nthreads().values())
        if not threads:
            raise ClusterError(f"the scheduler at {address} has no workers")
        for _ in range(max(threads * _AHEAD, 8)):
            if not give():
                break
        for future in done:
            unit = running.pop(future.key)
            try:
                yield unit, future.result()
            except KilledWorker:
                yield unit, repository.failed(unit, ENDED)
            future.release()
            give()
