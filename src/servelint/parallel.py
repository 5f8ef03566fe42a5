"""Work on several processes: the files of a check, the repositories of a scan.

A process that is killed costs only time: its task goes to a new process. A task that ends two processes has no result, and the
others go on. (The pools of the standard library do not report whose work was lost, or wait for it forever.)
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from multiprocessing.connection import Connection
    from typing import Any, TypeVar

    from servelint.core.result import Report

    Task = TypeVar("Task")
    Result = TypeVar("Result")

FILES_AT_LEAST = 120
"""Fewer are done before other processes would be."""

TRIES = 2
ENDED = "the process that read it came to an end each time (killed, or out of memory)"
NOT_READ = f"not read: {ENDED}"

_PROCESSES_AT_MOST = 64
_FILES_OF_A_TASK = 16


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processes(files: int) -> int:
    """How many processes to use for a number of files: 1 where it cannot be done, or does not pay."""
    if files < FILES_AT_LEAST or not hasattr(os, "fork"):
        return 1
    return max(1, min(processors(), files // (FILES_AT_LEAST // 2), _PROCESSES_AT_MOST))


def lint_files(paths: list[str], lint: Callable[[str], Report], count: int) -> Generator[tuple[int, Report | None], None, None]:
    """Lint files on forked processes, and yield the number of each with its report when it is ready.

    The report is None for a file that ended two processes. The first file is linted in this process: what that loads the others
    share.

    Args:
        paths: The files.
        lint: Lints one file. What it returns goes through a pipe.
        count: How many processes to use.
    """
    yield 0, lint(paths[0])
    size = max(1, min(_FILES_OF_A_TASK, len(paths) // (4 * count)))
    tasks = [range(start, min(start + size, len(paths))) for start in range(1, len(paths), size)]

    def work(task: range) -> list[Report]:
        return [lint(paths[number]) for number in task]

    for task, reports in run_tasks(tasks, work, count, split=lambda task: [range(one, one + 1) for one in task], fork=True):
        yield from zip(task, reports if reports is not None else [None] * len(task), strict=True)


def run_tasks(
    tasks: Iterable[Task],
    work: Callable[[Task], Result],
    count: int,
    *,
    split: Callable[[Task], list[Task]] | None = None,
    fork: bool = sys.platform == "linux",
) -> Generator[tuple[Task, Result | None], None, None]:
    """Work on processes of this machine, and yield each task with its result when it is ready, None if it ended two processes.

    Args:
        tasks: The tasks.
        work: Returns the result of one.
        count: The number of processes.
        split: Divides a task of which a part ended its process.
        fork: Whether a process starts with everything that is loaded; else `work` goes to it through a pipe.

    Raises:
        Exception: What `work` raises.
    """
    from multiprocessing.connection import wait

    workers: list[_Worker] = []
    waiting = iter(tasks)
    again: list[tuple[Any, int]] = []
    try:
        while True:
            while sum(one.task is not None for one in workers) < count:
                task = again.pop() if again else next(((one, 0) for one in waiting), None)
                if task is None:
                    break
                idle = next((one for one in workers if one.task is None), None)
                if idle is None:
                    idle = _Worker(work, [one.pipe for one in workers], fork)
                    workers.append(idle)
                if not idle.give(*task):
                    workers.remove(idle)
                    idle.end()
                    again.append(task)
            busy = {one.pipe: (one, one.task) for one in workers if one.task is not None}
            if not busy:
                return
            ready = wait(list(busy))
            for pipe, (worker, (one, tried)) in busy.items():
                if pipe not in ready:
                    continue
                if (answer := worker.receive()) is not None:
                    yield one, answer[0]
                    continue
                workers.remove(worker)
                worker.end()
                parts = split(one) if split is not None and tried == 0 else [one]
                if len(parts) > 1:
                    again += [(part, 0) for part in parts]
                elif tried + 1 < TRIES:
                    again.append((one, tried + 1))
                else:
                    yield one, None
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """A process, and the task that it works on.

    Attributes:
        pipe: the connection to it.
        task: its task and the number of earlier attempts; None while it is idle.
    """

    __slots__ = ("_process", "pipe", "task")

    def __init__(self, work: Callable[[Any], Any], others: list[Connection], fork: bool) -> None:
        import multiprocessing

        context = multiprocessing.get_context("fork") if fork else multiprocessing.get_context("spawn")
        self.pipe, inner = context.Pipe()
        # a forked process inherits the pipes of those before it, which would then not notice our end
        held = [*others, self.pipe] if fork else []
        self._process = context.Process(target=_work, args=(inner, work, held), daemon=True)
        self._process.start()
        inner.close()
        self.task: tuple[Any, int] | None = None

    def give(self, task: Any, tried: int) -> bool:
        """Send a task. Returns whether the process still exists; if not, this task did not end it."""
        try:
            self.pipe.send(task)
        except OSError:
            return False
        self.task = task, tried
        return True

    def receive(self) -> tuple[Any] | None:
        """Return the result; None if the process ended. Raises what `work` raised."""
        try:
            good, answer = self.pipe.recv()
        except (EOFError, OSError):
            return None
        self.task = None
        if not good:
            raise answer
        return (answer,)

    def end(self) -> None:
        self.pipe.close()
        self._process.terminate()
        self._process.join()


def _work(pipe: Connection, work: Callable[[Any], Any], held: list[Connection]) -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
    for one in held:
        one.close()
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = True, work(task)
        except Exception as error:
            answer = False, error
        try:
            pipe.send(answer)
        except OSError:
            return
        except Exception as error:  # what cannot go through a pipe
            pipe.send((False, RuntimeError(f"{type(error).__name__}: {error}")))
