"""Who reads the repositories: the processes of this machine, or the workers of a Dask cluster (extra `dask`).

A process of this machine that is killed costs only time: its repository goes to a new process. A repository that ends two
processes becomes an error row, and the others go on. (The pools of the standard library do not report whose work was lost, or
wait for it forever.) The workers of a cluster must see the repositories under the same paths.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Generator
from itertools import islice
from multiprocessing.connection import Connection, wait

from servelint.scan import repository
from servelint.scan.job import Done, Job, Unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TRIES = 2
ENDED = "the process that read it came to an end each time (killed, or out of memory)"

_FORKS = sys.platform == "linux"


def run_processes(units: Iterable[Unit], job: Job, count: int) -> Generator[tuple[Unit, Done], None, None]:
    """Scan repositories on processes of this machine, and yield each result when it is ready.

    Args:
        units: the repositories.
        job: what is asked of each.
        count: the number of processes.

    Raises:
        Mismatch: a process has another servelint, or other rules.
    """
    workers: list[_Worker] = []
    waiting = iter(units)
    again: list[tuple[Unit, int]] = []
    try:
        while True:
            while sum(one.task is not None for one in workers) < count:
                task = again.pop() if again else next(((unit, 0) for unit in waiting), None)
                if task is None:
                    break
                idle = next((one for one in workers if one.task is None), None)
                if idle is None:
                    idle = _Worker(job, [one.pipe for one in workers])
                    workers.append(idle)
                if not idle.give(*task):
                    workers.remove(idle)
                    idle.end()
                    again.append(task)
            busy = {one.pipe: (one, one.task) for one in workers if one.task is not None}
            if not busy:
                return
            ready = wait(list(busy))
            for pipe, (worker, (unit, tried)) in busy.items():
                if pipe not in ready:
                    continue
                done = worker.receive()
                if done is None:
                    workers.remove(worker)
                    worker.end()
                    if tried + 1 < TRIES:
                        again.append((unit, tried + 1))
                        continue
                    done = repository.failed(unit, ENDED)
                yield unit, done
    finally:
        for one in workers:
            one.end()


class _Worker:
    """A process, and the repository that it reads.

    Attributes:
        pipe: the connection to it.
        task: its repository and the number of earlier attempts; None while it is idle.
    """

    __slots__ = ("_process", "pipe", "task")

    def __init__(self, job: Job, others: list[Connection]) -> None:
        context = multiprocessing.get_context("fork") if _FORKS else multiprocessing.get_context("spawn")
        self.pipe, inner = context.Pipe()
        # a forked process inherits the pipes of those before it, which would then not notice our end
        held = [*others, self.pipe] if _FORKS else []
        self._process = context.Process(target=_work, args=(inner, job, held), daemon=True)
        self._process.start()
        inner.close()
        self.task: tuple[Unit, int] | None = None

    def give(self, unit: Unit, tried: int) -> bool:
        """Send a repository. Returns whether the process still exists; if not, this repository did not end it."""
        try:
            self.pipe.send(unit)
        except OSError:
            return False
        self.task = unit, tried
        return True

    def receive(self) -> Done | None:
        """Return the result; None if the process ended. Raises Mismatch."""
        try:
            answer = self.pipe.recv()
        except (EOFError, OSError):
            return None
        self.task = None
        if isinstance(answer, Exception):
            raise answer
        done: Done = answer
        return done

    def end(self) -> None:
        """End the process."""
        self.pipe.close()
        self._process.terminate()
        self._process.join()


def _work(pipe: Connection, job: Job, held: list[Connection]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
    for one in held:
        one.close()
    while True:
        try:
            unit = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer: Done | Exception = repository.scan(unit, job)
        except repository.Mismatch as error:
            answer = error
        try:
            pipe.send(answer)
        except OSError:
            return


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
        job: what is asked of each.
        address: the scheduler, such as `tcp://host:8786`.

    Raises:
        ClusterError: the cluster cannot be used.
        Mismatch: a worker has another servelint, or other rules.
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
                    for unit in some:  # one of them ended it
                        give([unit])
            future.release()
            more()
