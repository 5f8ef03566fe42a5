"""Linting many files on several processors: forked processes, each with a share of the files.

A forked process starts with everything that is loaded, so nothing is imported twice; a pool of the standard library would cost
as much start-up as a hundred files. What a process found comes back through a pipe.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable

from servelint.core.launch import Launch, OpenedFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.result import Report
    from servelint.core.text import TracedText

FILES_AT_LEAST = 120
"""Fewer are done before other processes would be."""

_PROCESSES_AT_MOST = 16


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processes(files: int) -> int:
    """How many processes to use for a number of files: 1 where it cannot be done, or does not pay."""
    if files < FILES_AT_LEAST or not hasattr(os, "fork"):
        return 1
    return max(1, min(processors(), files // (FILES_AT_LEAST // 2), _PROCESSES_AT_MOST))


def run(paths: list[str], lint: Callable[[str], Report], count: int, *, words: bool) -> list[Report]:
    """Lint each path; the reports are in the order of the paths.

    A share that another process does not deliver, because it was killed or failed, is linted in this one.

    Args:
        paths: The files.
        lint: Lints one file.
        count: How many processes to use.
        words: Whether the words of the launches are needed afterwards.
    """
    import pickle  # noqa: F401 - before the processes part

    shares = [range(start, len(paths), count) for start in range(count)]
    pipes: list[tuple[int, int]] = []
    for share in shares[1:]:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            _work(writing, [paths[index] for index in share], lint, words)
        os.close(writing)
        pipes.append((child, reading))
    reports: dict[int, Report] = {index: lint(paths[index]) for index in shares[0]}
    for share, (child, reading) in zip(shares[1:], pipes, strict=True):
        with os.fdopen(reading, "rb") as pipe:
            data = pipe.read()
        os.waitpid(child, 0)
        found = _loaded(data)
        if found is None or len(found) != len(share):
            found = [lint(paths[index]) for index in share]
        reports.update(zip(share, found, strict=True))
    return [reports[index] for index in range(len(paths))]


def _loaded(data: bytes) -> list[Report] | None:
    import pickle

    if not data:
        return None
    enabled = gc.isenabled()
    gc.disable()
    try:
        found: list[Report] = pickle.loads(data)  # noqa: S301 - our own process wrote it
    except (pickle.UnpicklingError, EOFError):
        return None  # it ended in the middle
    finally:
        if enabled:
            gc.enable()
    return found


def _work(writing: int, paths: list[str], lint: Callable[[str], Report], words: bool) -> None:
    import pickle
    import signal

    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        gc.disable()
        reports = [lint(path) for path in paths]
        for report in reports:
            if words:
                for launch in report.launches:
                    launch.others = launch.alternatives
            for launch in [one for main in report.launches for one in main.every]:
                launch.later = None
                launch.open = _carried(launch) if words else None  # what opens files cannot travel, what is in them can
                if not words:
                    _lighten(launch)
        data = pickle.dumps(reports, pickle.HIGHEST_PROTOCOL)
        at = 0
        while at < len(data):
            at += os.write(writing, data[at:])
        status = 0
    finally:
        os._exit(status)  # nothing of the parent's is flushed or cleaned up twice


def _carried(launch: Launch) -> Callable[[TracedText], OpenedFile | None] | None:
    from servelint.engines.launch_files import carry

    return carry(launch)


def _lighten(launch: Launch) -> None:
    """Drop the words of a launch: most of its size, and no report shows them."""
    launch.argv, launch.verb, launch.env = [], (), {}
