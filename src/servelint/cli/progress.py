"""A bar on a terminal while a check takes long; nothing anywhere else."""

from __future__ import annotations

import os
import sys
import time

_AFTER = 2.0
"""Seconds: a run that is done by then shows no bar."""
_EVERY = 0.1
_WIDTH = 30


def wanted(quiet: bool) -> bool:
    """Whether somebody is there to see a bar."""
    return not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class Progress:
    """Counts files, or what else is named, and draws how many are done."""

    __slots__ = ("_begun", "_done", "_drawn", "_last", "_what")

    def __init__(self, what: str = "files") -> None:
        self._what = what
        self._begun = self._last = time.monotonic()
        self._done = 0
        self._drawn = False

    def clear(self) -> None:
        """Wipe away what was drawn."""
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def step(self, total: int, count: int = 1) -> None:
        """Some more of all are done."""
        self._done = min(self._done + count, total)
        now = time.monotonic()
        if now - self._begun < _AFTER or now - self._last < _EVERY:
            return
        self._last, self._drawn = now, True
        filled = _WIDTH * self._done // max(total, 1)
        sys.stderr.write(f"\r[{'#' * filled}{'.' * (_WIDTH - filled)}] {self._done:,} of {total:,} {self._what}\x1b[K")
        sys.stderr.flush()
