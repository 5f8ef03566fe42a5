"""The context of one run over a file: how much work it may still take, and which limits it has reached.

A run is entered with `with Run(...)`. A context variable carries it to the code that counts, so that each thread and each
asyncio task has its own, and nothing of it is left when the block ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token

from servelint.core.problem import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

    from servelint.core.text import TracedText


WALKS = 300
"""Walks over the scripts of one file beside the first over each (bounds.WORLDS_OF_FILE)."""
STEPS_OF_WALKS = 30_000
"""Steps of those walks together (bounds.STEPS_OF_WORLDS)."""


class TooMuchWork(Exception):
    """A file takes more pieces of text than one file may."""


class _Meter:
    __slots__ = ("left",)

    def __init__(self, left: float) -> None:
        self.left = left


class Run:
    """The work on one file, or on a part of it inside another run.

    Outside of any run work is not limited, and reached limits are not collected.

    Args:
        path: The file that a limit is reported for when its place is not known.
        pieces: How many pieces of text the run may make; None to share what is left of the run around it.

    Attributes:
        walks: How often scripts may be walked again to decide their conditions another way.
        steps: How many steps those walks may take.
        unjudged: Images whose containers are not judged, each with a sentence.
    """

    __slots__ = ("_meter", "_path", "_reached", "_token", "steps", "unjudged", "walks")

    def __init__(self, path: str, pieces: float | None = None) -> None:
        self._path = path
        self._meter = None if pieces is None else _Meter(pieces)
        self._reached: dict[tuple[str, str], Problem] = {}
        self._token: Token[Run | None] | None = None
        self.walks = WALKS
        self.steps = STEPS_OF_WALKS
        self.unjudged: list[tuple[TracedText, str]] = []

    def __enter__(self) -> Run:  # noqa: PYI034 - Self is in typing from Python 3.11 on
        around = current()
        if self._meter is None:
            self._meter = around._meter if around is not None else _Meter(math.inf)
        self._token = _CURRENT.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _CURRENT.reset(self._token)
            self._token = None
        for problem in self._reached.values():
            problem.path = problem.path or self._path

    @property
    def problems(self) -> list[Problem]:
        """The limits that were reached, each once for each file, at the first place."""
        return list(self._reached.values())

    def report(self, problem: Problem) -> None:
        """Note a limit that was reached."""
        self._reached.setdefault((problem.message, problem.path), problem)

    def images(self) -> list[Problem]:
        """The images whose containers are not judged, each place once."""
        found: dict[str, Problem] = {}
        for image, message in self.unjudged:
            span = image.extent()
            path, place = (span.source.path, span.source.position(span.start)) if span is not None else (self._path, (1, 1))
            one = Problem(path, message, *place, note="unjudged")
            found[repr(one)] = one
        return list(found.values())

    def spend(self, pieces: float) -> None:
        """Count pieces of text that are made.

        Raises:
            TooMuchWork: The run has made more of them than it may.
        """
        if (meter := self._meter) is not None:
            meter.left -= pieces
            if meter.left < 0:
                raise TooMuchWork

    def extend(self, factor: int) -> None:
        """Allow some times as many pieces as are left."""
        if self._meter is not None:
            self._meter.left *= factor


class TooLong(BaseException):
    """A file takes too much time. Not an Exception, so that no `except Exception` takes it for a bug."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Limit the processor time of a block: the last limit, for work that no other limit counts.

    It takes the process's profiling timer and its signal: use it only in the main thread of a program that owns both. On a
    platform without that timer (Windows) nothing is limited.

    Raises:
        TooLong: Inside the block, when the time is over.
    """
    import _signal as signal  # type: ignore[import-not-found] # without the enumerations that `signal` makes of it

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGPROF, _time_is_over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _time_is_over(_signal: int, _frame: FrameType | None) -> None:
    raise TooLong


_CURRENT: ContextVar[Run | None] = ContextVar("servelint run", default=None)

current = _CURRENT.get
"""The innermost run of this thread or task; None outside of runs."""
