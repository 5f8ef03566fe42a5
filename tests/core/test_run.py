"""The context of a run: what it counts and collects, and that runs do not share it."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from servelint.core.bounds import STEPS
from servelint.core.problem import Problem
from servelint.core.run import Run, TooMuchWork, current
from servelint.core.text import TracedText


def make(texts: int) -> None:
    for _ in range(texts):
        TracedText.of("x")


def test_outside_of_a_run_work_is_not_limited() -> None:
    assert current() is None
    make(1_000)
    STEPS.reached(None)


def test_a_run_ends_with_its_block() -> None:
    with pytest.raises(TooMuchWork), Run("a.sh", 10):
        make(11)
    assert current() is None
    make(1_000)


def test_a_run_counts_from_where_it_is_entered() -> None:
    for _ in range(3):
        with Run("a.sh", 10):
            make(10)


def test_an_inner_run_shares_what_is_left_and_keeps_its_own_limits() -> None:
    with Run("a.sh", 10) as outer:
        make(5)
        with Run("b.sh") as inner:
            make(5)
            STEPS.reached(None)
            with pytest.raises(TooMuchWork):
                make(1)
    assert [(one.path, one.message) for one in inner.problems] == [("b.sh", STEPS.message)]
    assert outer.problems == []


def test_an_inner_run_may_have_work_of_its_own() -> None:
    with Run("a.sh", 10):
        with Run("b.sh", 100):
            make(50)
        make(10)


def test_a_run_is_extended_by_a_factor() -> None:
    with Run("a.sh", 10) as run:
        make(5)
        run.extend(3)
        make(15)
        with pytest.raises(TooMuchWork):
            make(1)


def test_a_limit_is_reported_once_for_each_file() -> None:
    with Run("a.sh") as run:
        for path in ("", "b.sh", "", "b.sh"):
            run.report(Problem(path, "too long"))
    assert [repr(one) for one in run.problems] == ["a.sh:1:1: too long", "b.sh:1:1: too long"]


def test_two_threads_do_not_share_a_run() -> None:
    both = Barrier(2)

    def lint(path: str, pieces: int) -> tuple[bool, list[str]]:
        stopped = False
        with Run(path, pieces) as run:
            both.wait(10)
            make(10)
            if pieces < 20:
                STEPS.reached(None)
            both.wait(10)
            try:
                make(10)
            except TooMuchWork:
                stopped = True
        return stopped, [one.path for one in run.problems]

    with ThreadPoolExecutor(2) as pool:
        small, large = pool.submit(lint, "a.sh", 15), pool.submit(lint, "b.sh", 1_000)
        assert small.result(timeout=10) == (True, ["a.sh"])
        assert large.result(timeout=10) == (False, [])


def test_two_tasks_do_not_share_a_run() -> None:
    async def lint(path: str) -> list[str]:
        with Run(path, 15) as run:
            make(10)
            await asyncio.sleep(0)
            STEPS.reached(None)
            await asyncio.sleep(0)
            make(5)
        return [one.path for one in run.problems]

    async def both() -> tuple[list[str], list[str]]:
        first, second = await asyncio.gather(lint("a.sh"), lint("b.sh"))
        return first, second

    assert asyncio.run(both()) == (["a.sh"], ["b.sh"])
