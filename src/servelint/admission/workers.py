"""The judging processes, each with one review at a time. One that takes too long is killed and replaced.

A review goes to an idle process, or else waits in a queue; callbacks of the loop do this, without a task for each review. A
review that could not be answered in time, by the present average, does not enter the queue.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import subprocess
import sys
from collections import deque
from dataclasses import dataclass
from typing import cast

from servelint.admission.answer import Answer, Rules, unjudged
from servelint.admission.worker import LENGTHS
from servelint.core.data import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Answered = asyncio.Future[Answer | str]
    """An answer, or why there is none."""

_LOG = logging.getLogger("servelint.admission")
_PROGRAM = (
    "import sys; sys.path[:1] == [''] and sys.path.pop(0); import runpy;"
    " runpy.run_module('servelint.admission.worker', run_name='__main__')"
)
"""Like `python -m`, which would import modules from the current folder first."""
_STARTED_WITHIN = 60.0
_PAUSE = 1.0
_LAST = 16
"""Number of reviews over which the time of a review is averaged."""


class WorkerError(Exception):
    """A worker cannot be started. The message is one sentence."""


class BusyError(Exception):
    """A review would not be answered in time."""


@dataclass(slots=True, eq=False)
class Review:
    """A review that waits for its answer.

    Attributes:
        path: the name after /validate/ in the request.
        body: its body.
        answered: receives the answer.
    """

    path: str
    body: bytes
    answered: Answered

    def answer(self, found: Answer | str) -> None:
        """Give the answer, or why there is none, unless the client no longer waits."""
        if not self.answered.done():
            self.answered.set_result(found)


class Worker(asyncio.Protocol):
    """One process, and the connection to it.

    Args:
        process: the process.
        ended: called with each answer of the process, or with None when it ends.

    Attributes:
        review: the review in progress.
        began: when it began, by the clock of the loop.
        late: kills the process at the end of the time limit.
        up: whether the process came up.
    """

    def __init__(self, process: subprocess.Popen[bytes], ended: Callable[[Worker, Answer | None], None]) -> None:
        self.process = process
        self.review: Review | None = None
        self.began = 0.0
        self.late: asyncio.TimerHandle | None = None
        self.loop = asyncio.get_running_loop()
        self.up: asyncio.Future[bool] = self.loop.create_future()
        self._ended = ended
        self._read = bytearray()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the connection."""
        self._transport = cast(asyncio.WriteTransport, transport)

    def data_received(self, data: bytes) -> None:
        """Read a frame once all of it is there: the first one says that the process is up."""
        self._read += data
        if len(self._read) < LENGTHS.size:
            return
        first, second = LENGTHS.unpack_from(self._read)
        end = LENGTHS.size + first + second
        if len(self._read) < end:
            return
        facts, body = bytes(self._read[LENGTHS.size : LENGTHS.size + first]), bytes(self._read[LENGTHS.size + first : end])
        del self._read[:end]
        if not self.up.done():
            self.up.set_result(True)
        elif self.review is not None:
            read = json.loads(facts)
            self._ended(self, Answer(read.pop("status"), body, read))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Note that the process ended."""
        if not self.up.done():
            self.up.set_result(False)
        else:
            self._ended(self, None)

    def judge(self, review: Review, budget: float) -> None:
        """Send a review to the process, which is killed if it takes longer than `budget` seconds."""
        self.review = review
        self.began = self.loop.time()
        self.late = self.loop.call_later(budget, self.process.kill)
        name = review.path.encode()
        if self._transport is not None:
            self._transport.write(b"".join((LENGTHS.pack(len(name), len(review.body)), name, review.body)))

    def done(self) -> Review | None:
        """Return the review that was in progress, and stop its clock."""
        review, self.review = self.review, None
        if self.late is not None:
            self.late.cancel()
        return review

    def end(self) -> None:
        """Kill the process."""
        if self._transport is not None:
            self._transport.abort()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Workers:
    """All judging processes.

    Args:
        rules: by what objects are judged, for answers without a process.
        count: the number of processes.
        policy: the policy file of each.
        settings: the settings file of each.
        budget: seconds for which a process may judge.
        memory: bytes of address space of each, 0 for no limit.

    Attributes:
        restarted: called when a process had to be replaced, with "timeout" or "ended".
    """

    def __init__(
        self,
        rules: Rules,
        count: int,
        policy: str | None = None,
        settings: str | None = None,
        *,
        budget: float = 5.0,
        memory: int = 0,
    ) -> None:
        self.rules = rules
        self.count = count
        self.budget = budget
        self.restarted: Callable[[str], None] | None = None
        self._words = json.dumps({"policy": policy, "settings": settings, "memory": memory})
        self._idle: list[Worker] = []
        self._queue: deque[Review] = deque()
        self._takes = 0.0
        self._all: set[Worker] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._stopped = False

    @property
    def ready(self) -> bool:
        """Whether any process can judge."""
        return bool(self._all)

    async def start(self) -> None:
        """Start all of them. Raises WorkerError where one does not come up."""
        for worker in await asyncio.gather(*[self._started() for _ in range(self.count)]):
            self._next(worker)

    async def ask(self, path: str, body: bytes, seconds: float) -> Answer:
        """Return the answer to a review; after `seconds`, what the policy has for an object that could not be judged.

        Raises:
            BusyError: too many reviews wait for an answer within that time.
        """
        loop = asyncio.get_running_loop()
        review = Review(path, body, loop.create_future())
        if self._idle:
            self._idle.pop().judge(review, self.budget)
        elif self.wait > seconds:
            raise BusyError
        else:
            self._queue.append(review)
        # a review that waited for long is given up without killing the process, which did nothing wrong
        until = loop.call_later(seconds, review.answer, f"no answer within {seconds:g} s")
        try:
            found = await review.answered
        finally:
            until.cancel()
            with contextlib.suppress(ValueError):  # it is in the queue only until a process begins with it
                self._queue.remove(review)
        return found if isinstance(found, Answer) else unjudged(body, self.rules, path, found)

    @property
    def wait(self) -> float:
        """Seconds until a new review would be answered, by the average of the last ones."""
        return (len(self._queue) + 1) * self._takes / max(1, len(self._all))

    def stop(self) -> None:
        """Kill all of them."""
        self._stopped = True
        for task in self._starting:
            task.cancel()
        for worker in list(self._all):
            self._all.discard(worker)
            worker.done()
            worker.end()

    def _ended(self, worker: Worker, found: Answer | None) -> None:
        if worker not in self._all:
            return
        took = worker.loop.time() - worker.began
        if found is None:
            self._lost(worker, timed_out=worker.review is not None and took >= self.budget)
            return
        self._takes += (took - self._takes) / _LAST
        review = worker.done()
        self._next(worker)
        if review is not None:
            review.answer(found)

    def _next(self, worker: Worker) -> None:
        """Give a process the review that has waited longest; without one, the process is idle."""
        while self._queue:
            review = self._queue.popleft()
            if not review.answered.done():
                worker.judge(review, self.budget)
                return
        self._idle.append(worker)

    def _lost(self, worker: Worker, *, timed_out: bool) -> None:
        review = worker.done()
        self._all.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        worker.end()
        if review is not None:
            review.answer(f"no answer within {self.budget:g} s" if timed_out else "the process that judged it ended")
        if self._stopped:
            return
        reason = "timeout" if timed_out else "ended"
        if self.restarted is not None:
            self.restarted(reason)
        _LOG.warning("a judging process is replaced", extra={"facts": {"reason": reason}})
        task = worker.loop.create_task(self._replaced())
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _replaced(self) -> None:
        while not self._stopped:
            with contextlib.suppress(WorkerError):
                self._next(await self._started())
                return
            await asyncio.sleep(_PAUSE)

    async def _started(self) -> Worker:
        here, there = socket.socketpair()
        with there:
            # not a process of asyncio: up to Python 3.12.3 one that is cancelled before its pipes are connected never ends
            process = subprocess.Popen(  # noqa: S603 - this very program
                [sys.executable, "-c", _PROGRAM, self._words], stdin=there.fileno(), stdout=there.fileno(), env=environment()
            )
        worker = Worker(process, self._ended)
        up = False
        try:
            here.setblocking(False)
            await asyncio.get_running_loop().create_connection(lambda: worker, sock=here)
            up = await asyncio.wait_for(worker.up, _STARTED_WITHIN)
        except (asyncio.TimeoutError, OSError) as error:
            raise WorkerError("a judging process did not start") from error
        finally:
            if not up:
                worker.end()
        if not up:
            raise WorkerError("a judging process did not start")
        self._all.add(worker)
        return worker
