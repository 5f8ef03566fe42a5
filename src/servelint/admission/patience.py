"""A time for something that is awaited, without a task of its own as asyncio.wait_for makes one up to Python 3.11."""

from __future__ import annotations

import asyncio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


class Patience:
    """What stands in the `with` is given up after some seconds, with asyncio.TimeoutError, as Python 3.11's asyncio.timeout."""

    __slots__ = ("_late", "_seconds", "_task", "_timer")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._late = False
        self._task: asyncio.Task[object] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._give_up)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if not self._late:
            return
        # whoever else cancels the task at the same moment is not to be overheard
        others = self._task.uncancel() if self._task is not None and hasattr(self._task, "uncancel") else 0
        if kind is asyncio.CancelledError and not others:
            raise asyncio.TimeoutError from error

    def _give_up(self) -> None:
        self._late = True
        if self._task is not None:
            self._task.cancel()
