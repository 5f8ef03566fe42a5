"""What the worker does of what it is asked for, and what it gives up: nothing waits for a time, only for events."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types

from servelint.core.settings import DEFAULT
from servelint.core.source import Source
from servelint.lint import beside
from servelint.lsp.analysis import GivenUp, analyse
from servelint.lsp.documents import Document, Documents, Positions
from servelint.lsp.settings import Folders
from servelint.lsp.worker import Analyses, Worker

RUN = "vllm serve Qwen/Qwen3-8B --gpu-memory-utilization 1.5\n"
PATIENCE = 60.0


class Gate:
    """A job that lasts until it is let go."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self._open = threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self._open.wait(PATIENCE)
        return threading.current_thread().name

    def open(self) -> None:
        self._open.set()


@pytest_asyncio.fixture
async def worker() -> AsyncIterator[Worker]:
    worker = Worker()
    yield worker
    worker.close()


async def begun(task: asyncio.Task[object]) -> None:
    """Let a task begin."""
    await asyncio.sleep(0)
    assert not task.done()


@pytest.mark.asyncio
async def test_jobs_run_one_after_the_other_on_one_thread(worker: Worker) -> None:
    gate, done = Gate(), list[int]()
    tasks = [asyncio.ensure_future(worker.run(gate)), *[asyncio.ensure_future(worker.run(done.append, at)) for at in range(3)]]
    await begun(tasks[0])
    assert worker.jobs == 4
    gate.open()
    names = await asyncio.gather(*tasks)
    assert names[0] != threading.current_thread().name
    assert done == [0, 1, 2]
    assert worker.jobs == 0


@pytest.mark.asyncio
async def test_a_job_that_has_not_begun_is_dropped(worker: Worker) -> None:
    gate, done = Gate(), list[int]()
    first, second = asyncio.ensure_future(worker.run(gate)), asyncio.ensure_future(worker.run(done.append, 1))
    await begun(second)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    gate.open()
    await first
    await worker.run(done.append, 2)
    assert done == [2]


@pytest.mark.asyncio
async def test_a_job_that_has_begun_is_told_to_stop(worker: Worker) -> None:
    gate, stop = Gate(), threading.Event()
    task = asyncio.ensure_future(worker.run(gate, stop=stop))
    await begun(task)
    assert not stop.is_set()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stop.is_set()
    gate.open()


def test_an_analysis_stops_before_the_next_launch() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(GivenUp):
        analyse(Source("run.sh", RUN), DEFAULT, beside("run.sh"), None, stop)


class Editor:
    """One open text and what analyses it."""

    def __init__(self, worker: Worker, path: Path) -> None:
        self.worker = worker
        self.document = Document(path.as_uri(), "shellscript", 1, RUN)
        documents = Documents({self.document.uri: self.document})
        self.analyses = Analyses(documents, Folders(), worker)

    def type(self, text: str) -> None:
        self.document.change([types.TextDocumentContentChangeWholeDocument(text)], 2, Positions("utf-16"))
        self.analyses.forget(self.document)

    async def blocked(self) -> Gate:
        """Keep the worker busy."""
        gate = Gate()
        self.task = asyncio.ensure_future(self.worker.run(gate))
        await begun(self.task)
        return gate


@pytest.fixture
def editor(worker: Worker, tmp_path: Path) -> Editor:
    return Editor(worker, tmp_path / "run.sh")


@pytest.mark.asyncio
async def test_an_analysis_is_made_once(editor: Editor) -> None:
    first = editor.analyses.begin(editor.document, requested=False)
    second = editor.analyses.begin(editor.document, requested=True)
    assert first is second
    found = await first.analysis()
    assert found is not None
    assert len(found.findings) == 1
    assert await second.analysis() is found
    assert editor.document.sound is found


@pytest.mark.asyncio
async def test_the_collector_leaves_alone_what_the_first_analyses_load(editor: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    frozen: list[str] = []
    monkeypatch.setattr("gc.freeze", lambda: frozen.append("frozen"))
    times: list[int] = []
    for _ in range(9):
        await editor.analyses.begin(editor.document, requested=True).analysis()
        editor.analyses.forget(editor.document)
        times.append(len(frozen))
    assert times == [0, 1, 1, 1, 1, 1, 1, 2, 2]


@pytest.mark.asyncio
async def test_what_no_request_waits_for_is_given_up_when_the_text_changes(editor: Editor) -> None:
    gate = await editor.blocked()
    stale = editor.analyses.begin(editor.document, requested=False)
    await asyncio.sleep(0)
    editor.type(RUN.replace("1.5", "0.5"))
    fresh = editor.analyses.begin(editor.document, requested=False)
    gate.open()
    assert await stale.analysis() is None
    found = await fresh.analysis()
    assert found is not None
    assert (found.source, found.findings) == (editor.document.source, [])


@pytest.mark.asyncio
async def test_a_request_is_answered_of_the_text_that_it_was_made_for(editor: Editor) -> None:
    gate = await editor.blocked()
    asked = editor.analyses.begin(editor.document, requested=True)
    source = editor.document.source
    await asyncio.sleep(0)
    editor.type(RUN.replace("1.5", "0.5"))
    gate.open()
    found = await asked.analysis()
    assert found is not None
    assert found.source is source
    assert len(found.findings) == 1
    assert editor.document.sound is None  # it is not what stands in the editor


@pytest.mark.asyncio
async def test_a_file_that_is_read_while_it_changes(editor: Editor, tmp_path: Path) -> None:
    """The paths that an analysis asks for are known before it is made: a change of one of them makes it stale."""
    (tmp_path / "compose.yml").write_text("")
    document = Document((tmp_path / "compose.yml").as_uri(), "yaml", 1, "services: {a: {image: 'vllm/vllm-openai:${TAG}'}}\n")
    pending = editor.analyses.begin(document, requested=False)
    assert pending.reads == set()
    await pending.analysis()
    assert str(tmp_path / ".env") in pending.reads
