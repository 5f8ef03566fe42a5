"""What reads and judges texts while the server answers: a thread for ordinary texts, a process of its own for a large one."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from servelint.core.data import environment
from servelint.core.finding import Finding, Related
from servelint.core.problem import Problem
from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.files.project import Project
from servelint.files.siblings import Neighbours
from servelint.lsp import edits
from servelint.lsp.analysis import Analysis, GivenUp, analyse
from servelint.lsp.documents import Document, Documents, Pending
from servelint.lsp.settings import Folders, Options
from servelint.readers import discover, mentions_engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")

LARGE = 1 << 17
"""Characters (128 Ki). To read a text of this length takes half a second."""
_STACK = 16 << 20
"""Bytes. Other threads than the first have 512 KiB on some systems, which is less than texts that are nested deeply need."""
_SETTLED = (2, 8)
"""Analyses after which the collector of garbage leaves alone what is there: catalogs and rules, which it would look through
again and again with each keystroke."""
_PROGRAM = "import sys, runpy; sys.path[:1] == [''] and sys.path.pop(0); runpy.run_module('servelint', run_name='__main__')"
"""As `python -m servelint`, which would take modules from the current folder first: that is the editor's, and anybody's."""


class Worker:
    """One thread, on which everything runs that takes time, one job after the other.

    So the server's loop always reads messages, and the modules below this package never run in two threads at once.

    Attributes:
        jobs: How many jobs have begun or wait.
    """

    def __init__(self) -> None:
        self.jobs = 0
        self._thread = ThreadPoolExecutor(1, "servelint")
        before = threading.stack_size(_STACK)
        try:
            self._thread.submit(int)  # starts the thread
        finally:
            threading.stack_size(before)

    async def run(self, job: Callable[..., T], *args: object, stop: threading.Event | None = None) -> T:
        """Run a function on the thread and give its result.

        If this is cancelled `stop` is set, and a job that has not begun by then does not run at all.
        """
        self.jobs += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, job, *args)
        except asyncio.CancelledError:
            if stop is not None:
                stop.set()
            raise
        finally:
            self.jobs -= 1

    def close(self) -> None:
        """Drop the jobs that have not begun."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class Analyses:
    """Has the worker make the analyses of open texts, each when it is needed, and keeps it until something changes."""

    __slots__ = ("_documents", "_folders", "_made", "_worker")

    def __init__(self, documents: Documents, folders: Folders, worker: Worker) -> None:
        self._documents = documents
        self._folders = folders
        self._worker = worker
        self._made = 0

    def begin(self, document: Document, *, requested: bool) -> Pending:
        """The analysis of a text as it stands now, which may not be made yet. requested: a client's request waits for it."""
        pending = document.pending
        if pending is None:
            self._made += 1
            source, reads, stop = document.source, set[str](), threading.Event()
            settings = self._folders.settings(document.path, is_file=document.is_file)
            neighbours = self.neighbours(document, reads, stop)

            async def make() -> Analysis:
                started = time.perf_counter()
                if is_large(source):
                    found = await check(source, self._folders.of(document.path).options, settings)
                else:
                    found = await self._worker.run(analyse, source, settings, neighbours, document.cache, stop, stop=stop)
                if document.pending is pending:
                    self._keep(document, found, time.perf_counter() - started)
                return found

            pending = document.pending = Pending(self._made, source, reads, asyncio.ensure_future(make()))
        pending.requested = pending.requested or requested
        return pending

    def _keep(self, document: Document, found: Analysis, seconds: float) -> None:
        document.seconds = seconds
        if self._made in _SETTLED:
            gc.collect()
            gc.freeze()
        if found.launches:
            document.launched = found
        if not found.broken:
            document.sound, document.standing = found, edits.Standing.whole(len(found.source.text))

    def findings(self, document: Document, found: Analysis) -> list[Finding]:
        """The findings of a text; while it cannot be parsed, those of before, as far as their characters still stand."""
        sound = document.sound
        if sound is None or sound is found or found.source is not document.source:
            return found.findings
        return edits.moved(sound.findings, document.standing, sound.source, found.source)

    def neighbours(self, document: Document, reads: set[str] | None = None, stop: threading.Event | None = None) -> Neighbours:
        """The files beside a text, as they stand in the editor if they are open there.

        `reads` gets the paths that are read, and `stop` ends the analysis that reads them.
        """
        folder = os.path.dirname(document.path) if document.is_file else None
        settings = self._folders.settings(document.path, is_file=document.is_file)
        project = Project(folder or ".", settings.read_outside, (self._folders.of(document.path).path,))

        def fetch(path: str) -> bytes | None:
            if stop is not None and stop.is_set():
                raise GivenUp
            if path.endswith("/"):
                return project(path)
            path = os.path.normpath(path)
            if reads is not None:
                reads.add(path)
            other = self._documents.at(path)
            return other.source.text.encode("utf-8", "replace") if other is not None else project(path)

        return Neighbours(folder, folder or "", fetch)

    def forget(self, document: Document, *, settings: bool = False) -> None:
        """Drop the analysis of a text that has changed, or whose files or settings have: then earlier findings do not count."""
        if document.pending is not None:
            document.pending.give_up()
        document.pending = None
        if settings:
            document.sound = None


# -- large texts


def is_large(source: Source) -> bool:
    """Whether a text takes so long that a process of its own checks it, and nothing else is known of it."""
    return len(source.text) > LARGE


async def check(source: Source, options: Options, settings: Settings) -> Analysis:
    """Lint a large text in a process of its own, with the files beside it as they are on the disk.

    The process is killed when this is cancelled. The analysis has no launches, and its findings have no fixes and only places
    in this text. `options` are the editor's settings for its folder.
    """
    data = source.text.encode("utf-8", "replace")
    if not mentions_engine(data):
        return Analysis(source, settings, [], [], [])
    if len(data) > discover.bound(source.path).most:
        is_json = source.path.lower().endswith(".json")  # most are not configuration
        problems = [] if is_json else [discover.too_large(source.path, len(data))]
        return Analysis(source, settings, [], [], problems)
    words = ["check", "-", f"--stdin-filename={source.path}", "--format=json", *options.words()]
    # not asyncio's own: up to Python 3.12.3 it never ends if it is given up before its pipes are connected
    process = subprocess.Popen(  # noqa: S603 - this very program
        [sys.executable, "-c", _PROGRAM, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=options.layer.folder,
        env=environment(),
    )
    try:
        out, _ = await asyncio.to_thread(process.communicate, data)
    finally:
        if process.poll() is None:
            process.kill()
    try:
        report = json.loads(out)
    except ValueError:  # it was killed, or has failed: nothing is known of the text
        return Analysis(source, settings, [], [], [])
    problems = [
        Problem(one["path"], one["message"], one["line"], one["column"], note=note)
        for part, note in (("errors", ""), ("notes", "always"))
        for one in report.get(part, [])
    ]
    return Analysis(source, settings, [], [_finding(one, source) for one in report["findings"]], problems)


def _finding(data: dict[str, Any], source: Source) -> Finding:
    def span(place: dict[str, Any]) -> Span:
        start, end = [
            min(source.line_starts[place[at]["line"] - 1] + place[at]["column"] - 1, len(source.text))
            for at in ("start", "end")
        ]
        return Span(source, start, end)

    places = [one for one in (data, *data["related"]) if one["path"] == source.path]
    return Finding(
        **{name: data[name] for name in ("rule", "severity", "confidence", "impact", "message")},
        advice="",  # the message of a report has it
        span=span(places[0]) if places else Span(source, 0, 0),
        related=[Related(span(one), one["message"]) for one in places[1:]],
    )
