"""The last bound: how long a file may take. Work is bounded by counting it; this stops what nobody thought of counting."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from servelint.core import bounds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


class TooLong(BaseException):
    """The time of a file is over. No `except Exception` on the way may take it for a fault of its own."""


def _over(_signal: int, _frame: FrameType | None) -> None:
    raise TooLong


@contextmanager
def running(times: int = 1) -> Iterator[None]:
    """Raises TooLong inside once the process has worked for limits.TIME, or some times as long.

    Where no such clock is (Windows), never.

    Only for a program of ours, in its main thread: it takes the process's timer and its signal.
    """
    import signal

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGPROF, _over)
    signal.setitimer(signal.ITIMER_PROF, bounds.TIME.most * times)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
