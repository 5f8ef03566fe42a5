"""The processes that judge: in which order they are asked, what is let into the row, and when one is replaced."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from servelint.admission.answer import Answer
from servelint.admission.workers import BusyError, Review, Worker, Workers
from tests.admission.reviews import BROKEN, by, deployment, review


class Process:
    """Stands for one that judges nothing by itself."""

    def __init__(self) -> None:
        self.killed = False

    def kill(self) -> None:
        self.killed = True

    def poll(self) -> None:
        return None

    def wait(self) -> int:
        return 0


class Silent(Worker):
    """Takes reviews, and answers when it is told to."""

    def __init__(self, of: Workers) -> None:
        self.stands_for = Process()
        super().__init__(self.stands_for, of._ended)  # type: ignore[arg-type]
        self.up.set_result(True)
        self.given: list[bytes] = []
        of._all.add(self)
        of._next(self)

    def judge(self, review: Review, budget: float) -> None:
        super().judge(review, budget)
        self.given.append(review.body)

    def says(self, text: str) -> None:
        facts = json.dumps({"status": 200, "result": text}).encode()
        frame = len(facts).to_bytes(4, "big") + (0).to_bytes(4, "big") + facts
        for at in range(0, len(frame), 7):  # as it comes
            self.data_received(frame[at : at + 7])


def run(test: Callable[[Workers], Coroutine[Any, Any, None]], **options: Any) -> None:
    async def main() -> None:
        of = Workers(by(), 1, **options)
        try:
            await test(of)
        finally:
            of.stop()

    asyncio.run(main())


async def asked(of: Workers, *bodies: bytes, seconds: float = 5.0) -> list[asyncio.Task[Answer]]:
    tasks = [asyncio.create_task(of.ask("", body, seconds)) for body in bodies]
    await asyncio.sleep(0)
    return tasks


def test_who_waits_longest_is_next() -> None:
    async def test(of: Workers) -> None:
        one = Silent(of)
        tasks = await asked(of, b"a", b"b", b"c")
        assert one.given == [b"a"]
        for number, task in enumerate(tasks):
            one.says(f"answer {number}")
            assert (await task).facts["result"] == f"answer {number}"
        assert one.given == [b"a", b"b", b"c"]
        (task,) = await asked(of, b"d")  # nobody waits: it is judged at once
        assert one.given[-1] == b"d"
        one.says("answer")
        await task

    run(test)


def test_who_gives_up_is_not_judged() -> None:
    body = json.dumps(review(deployment(BROKEN))).encode()

    async def test(of: Workers) -> None:
        one = Silent(of)
        first, second, third = [(await asked(of, text))[0] for text in (b"first", b"second", b"third")]
        (late,) = await asked(of, body, seconds=0.01)
        found = await late
        assert found.facts["result"] == "failed-open"
        assert b"no answer within 0.01 s" in found.body
        second.cancel()
        await asyncio.wait((second,))
        for task in (first, third):
            one.says("done")
            assert (await task).facts["result"] == "done"
        assert one.given == [b"first", b"third"]
        assert not one.stands_for.killed

    run(test)


def test_what_would_not_be_answered_in_its_time_is_not_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(of: Workers) -> None:
        now = [100.0]
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now[0])
        one = Silent(of)
        assert of.wait == 0
        for _ in range(64):  # each takes a second
            (task,) = await asked(of, b"a")
            now[0] += 1
            one.says("done")
            await task
        assert of.wait == pytest.approx(1, abs=0.05)
        (running,) = await asked(of, b"running")
        waiting = await asked(of, b"a", b"b", seconds=4.0)
        with pytest.raises(BusyError):
            await of.ask("", b"c", 2.5)
        (patient,) = await asked(of, b"d", seconds=3.5)
        for task in (running, *waiting, patient):
            one.says("done")
            assert (await task).facts["result"] == "done"
        assert one.given[-4:] == [b"running", b"a", b"b", b"d"]

    run(test)


def test_nobody_is_sent_away_while_a_process_has_nothing_to_do() -> None:
    async def test(of: Workers) -> None:
        one = Silent(of)
        of._takes = 100.0
        (task,) = await asked(of, b"a", seconds=1.0)
        one.says("done")
        assert (await task).facts["result"] == "done"

    run(test)


@pytest.mark.parametrize(
    ("budget", "reason", "why"),
    [(5.0, "ended", b"the process that judged it ended"), (0.0, "timeout", b"no answer within 0 s")],
)
def test_a_process_that_ends_is_replaced(monkeypatch: pytest.MonkeyPatch, budget: float, reason: str, why: bytes) -> None:
    body = json.dumps(review(deployment(BROKEN))).encode()

    async def test(of: Workers) -> None:
        async def started() -> Worker:
            return Silent(of)

        reasons: list[str] = []
        of.restarted = reasons.append
        one = Silent(of)
        monkeypatch.setattr(of, "_started", started)
        first, second = await asked(of, body, b"second")
        one.connection_lost(None)
        assert why in (await first).body
        assert reasons == [reason]
        await asyncio.sleep(0)
        (another,) = of._all
        assert isinstance(another, Silent)
        assert another is not one
        another.says("done")
        assert (await second).facts["result"] == "done"

    run(test, budget=budget)
