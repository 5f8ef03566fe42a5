"""The processes that judge, each with one review at a time. One that takes too long is ended, and another is started."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import subprocess
import sys

from servelint.admission.answer import Answer, Rules, unjudged
from servelint.admission.worker import LENGTHS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LOG = logging.getLogger("servelint.admission")
_PROGRAM = (
    "import sys; sys.path[:1] == [''] and sys.path.pop(0); import runpy;"
    " runpy.run_module('servelint.admission.worker', run_name='__main__')"
)
"""As `python -m`, which would take modules from the current folder first."""
_STARTED_WITHIN = 60.0
_PAUSE = 1.0
_OUTPUT_AT_MOST = 1 << 26


class WorkerError(Exception):
    """A worker that cannot be started, or that ended."""


class Worker:
    """One process, and the connection to it."""

    def __init__(self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.process = process
        self.reader = reader
        self.writer = writer

    async def ask(self, path: str, body: bytes) -> Answer:
        """The answer to a review. Raises WorkerError where the process ends over it."""
        name = path.encode()
        try:
            self.writer.writelines((LENGTHS.pack(len(name), len(body)), name, body))
            await self.writer.drain()
            facts, text = await self.frame()
        except (asyncio.IncompleteReadError, OSError) as error:
            raise WorkerError("the process that judged it ended") from error
        told = json.loads(facts)
        return Answer(told.pop("status"), text, told)

    async def frame(self) -> tuple[bytes, bytes]:
        lengths = LENGTHS.unpack(await self.reader.readexactly(LENGTHS.size))
        first = await self.reader.readexactly(lengths[0])
        return first, await self.reader.readexactly(lengths[1])

    def end(self) -> None:
        """End the process without waiting for what it does."""
        self.writer.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Workers:
    """count: how many;  policy, settings: files
    budget:    seconds for which one may judge, memory: bytes that it may take, 0 for any
    restarted: is told why a process had to be replaced: "timeout" or "ended"
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
        self._idle: asyncio.LifoQueue[Worker] = asyncio.LifoQueue()
        self._all: set[Worker] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._running: set[asyncio.Task[Answer | str]] = set()
        self._stopped = False

    @property
    def ready(self) -> bool:
        """Whether any process can judge."""
        return bool(self._all)

    async def start(self) -> None:
        """Start all of them. Raises WorkerError where one does not come up."""
        for worker in await asyncio.gather(*[self._started() for _ in range(self.count)]):
            self._idle.put_nowait(worker)

    async def ask(self, path: str, body: bytes, seconds: float) -> Answer:
        """The answer to a review within some seconds, what the policy has for an object that nobody judged otherwise."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        why = f"no answer within {seconds:g} s"
        try:
            worker = self._idle.get_nowait() if not self._idle.empty() else await asyncio.wait_for(self._idle.get(), seconds)
        except asyncio.TimeoutError:
            return unjudged(body, self.rules, path, why)
        judging = loop.create_task(self._judged(worker, path, body))
        self._running.add(judging)
        judging.add_done_callback(self._running.discard)
        # one that waited for long is given up without ending the process, which is not to blame
        await asyncio.wait((judging,), timeout=max(0.0, until - loop.time()))
        found = judging.result() if judging.done() else why
        return found if isinstance(found, Answer) else unjudged(body, self.rules, path, found)

    async def _judged(self, worker: Worker, path: str, body: bytes) -> Answer | str:
        """What a process answers, or why it does not: then another takes its place."""
        late = asyncio.get_running_loop().call_later(self.budget, worker.process.kill)
        try:
            found = await worker.ask(path, body)
        except WorkerError as error:
            timed_out = late.when() <= asyncio.get_running_loop().time()
            self._replace(worker, "timeout" if timed_out else "ended")
            return f"no answer within {self.budget:g} s" if timed_out else str(error)
        finally:
            late.cancel()
        self._idle.put_nowait(worker)
        return found

    def stop(self) -> None:
        """End all of them."""
        self._stopped = True
        for task in (*self._starting, *self._running):
            task.cancel()
        for worker in list(self._all):
            self._all.discard(worker)
            worker.end()

    def _replace(self, worker: Worker, reason: str) -> None:
        self._all.discard(worker)
        worker.end()
        if self._stopped:
            return
        if self.restarted is not None:
            self.restarted(reason)
        _LOG.warning("a process that judges is replaced", extra={"facts": {"reason": reason}})
        task = asyncio.get_running_loop().create_task(self._replaced())
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _replaced(self) -> None:
        while not self._stopped:
            with contextlib.suppress(WorkerError):
                self._idle.put_nowait(await self._started())
                return
            await asyncio.sleep(_PAUSE)

    async def _started(self) -> Worker:
        here, there = socket.socketpair()
        with there:
            # not asyncio's own: up to Python 3.12.3 it never ends if it is given up before its pipes are connected
            process = subprocess.Popen(  # noqa: S603 - this very program
                [sys.executable, "-c", _PROGRAM, self._words],
                stdin=there.fileno(),
                stdout=there.fileno(),
            )
        reader, writer = await asyncio.open_connection(sock=here, limit=_OUTPUT_AT_MOST)
        worker = Worker(process, reader, writer)
        up = False
        try:
            await asyncio.wait_for(worker.frame(), _STARTED_WITHIN)
            up = True
        except (asyncio.IncompleteReadError, asyncio.TimeoutError, OSError) as error:
            raise WorkerError("a process that judges did not come up") from error
        finally:
            if not up:
                worker.end()
        self._all.add(worker)
        return worker
