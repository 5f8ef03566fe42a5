"""A time for what is awaited."""

from __future__ import annotations

import asyncio

import pytest

from servelint.admission.app import Patience


def test_what_comes_in_time() -> None:
    async def run() -> str:
        with Patience(60):
            return "come"

    assert asyncio.run(run()) == "come"


def test_what_does_not_come() -> None:
    async def run() -> str:
        for _ in range(2):  # the task goes on, and may wait again
            with pytest.raises(asyncio.TimeoutError), Patience(0.01):
                await asyncio.Event().wait()
        return "gone on"

    assert asyncio.run(run()) == "gone on"


def test_an_error_is_the_caller_s() -> None:
    async def run() -> None:
        with Patience(60):
            raise ValueError("of the caller")

    with pytest.raises(ValueError, match="of the caller"):
        asyncio.run(run())


def test_who_cancels_the_task_is_heard() -> None:
    async def wait() -> None:
        with Patience(60):
            await asyncio.Event().wait()

    async def run() -> bool:
        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,))
        return task.cancelled()

    assert asyncio.run(run())
