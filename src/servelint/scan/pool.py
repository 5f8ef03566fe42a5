"""The processes of this machine: each reads one repository after the other.

A process that is killed costs nothing but time: its repository is given to a new one. One that ends two of them is an
error row, and the others go on. (The pools of the standard library cannot tell whose work was lost, or wait for it for ever.)
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Generator
from multiprocessing.connection import Connection, wait

from servelint.scan import repository
from servelint.scan.job import Job
from servelint.scan.unit import Done, Unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TRIES = 2
ENDED = "the process that read it came to an end each time (killed, or out of memory)"

_FORKS = sys.platform == "linux"


def processors() -> int:
    """How many processes may run at a time here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(units: Iterable[Unit], job: Job, count: int) -> Generator[tuple[Unit, Done], None, None]:
    """The rows of repositories, as they come. Raises repository.Mismatch."""
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
                done = worker.taken()
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
    """A process, and what it has in hand."""

    __slots__ = ("_process", "pipe", "task")

    def __init__(self, job: Job, others: list[Connection]) -> None:
        context = multiprocessing.get_context("fork") if _FORKS else multiprocessing.get_context("spawn")
        self.pipe, inner = context.Pipe()
        # a process that is forked holds the pipes of those before it, and they would not see that we are gone
        held = [*others, self.pipe] if _FORKS else []
        self._process = context.Process(target=_work, args=(inner, job, held), daemon=True)
        self._process.start()
        inner.close()
        self.task: tuple[Unit, int] | None = None

    def give(self, unit: Unit, tried: int) -> bool:
        """Whether it is still there to take it: one that was killed between two repositories has ended none."""
        try:
            self.pipe.send(unit)
        except OSError:
            return False
        self.task = unit, tried
        return True

    def taken(self) -> Done | None:
        """Its answer; None if it is gone. Raises repository.Mismatch."""
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
        self.pipe.close()
        self._process.terminate()
        self._process.join()


def _work(pipe: Connection, job: Job, held: list[Connection]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started us tells us when to end
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
