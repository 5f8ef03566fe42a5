"""The bar on a terminal: there for a run that takes long, gone at its end."""

from __future__ import annotations

import pytest

from servelint.cli.output import Progress, bar_wanted
from tests.running import Workspace


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_a_short_run_draws_nothing(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    bar = Progress()
    for _ in range(10):
        clock[0] += 0.15
        bar.step(10)
    bar.clear()
    assert capsys.readouterr().err == ""


def test_a_long_one_does_and_wipes_it_away(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    bar = Progress()
    for _ in range(3):
        clock[0] += 1.0
        bar.step(3000, 500)
    bar.clear()
    assert capsys.readouterr().err == (
        "\r[##########....................] 1,000 of 3,000 files\x1b[K"
        "\r[###############...............] 1,500 of 3,000 files\x1b[K"
        "\r\x1b[K"
    )


def test_no_more_often_than_anybody_can_see(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    bar = Progress()
    clock[0] += 5
    for _ in range(100):
        clock[0] += 0.01
        bar.step(100)
    assert 8 <= capsys.readouterr().err.count("\r") <= 11


@pytest.mark.parametrize(
    ("terminal", "quiet", "term", "wanted"),
    [(True, False, "xterm", True), (True, True, "xterm", False), (True, False, "dumb", False), (False, False, "xterm", False)],
)
def test_only_where_somebody_sees_it(
    terminal: bool, quiet: bool, term: str, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    monkeypatch.setenv("TERM", term)
    assert bar_wanted(quiet) is wanted


@pytest.mark.parametrize("count", [3, 400])
def test_counts_every_file(count: int, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(count):
        workspace.file(f"{number}.sh", "vllm serve m\n")
    done: list[int] = []
    monkeypatch.setattr(Progress, "step", lambda _, total, step=1: done.append(min(sum(done) + step, total) - sum(done)))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert workspace.run("check", "--isolated").status == 0
    assert sum(done) == count
