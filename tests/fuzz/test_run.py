"""The loop of fuzzing: what breaks a property is told once, made small, kept, and can be tried again."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from fuzz import __main__ as command
from fuzz import run
from fuzz.case import Case, insist
from fuzz.chance import Chance, Drawn, Seeded
from fuzz.counts import COUNTS


def make(chance: Chance) -> Case:
    return Case("a.sh", "\n".join([chance.pick(("good", "bad", "endless", "wrong")) for _ in range(5)]), chance.below(8))


def check(case: Case) -> None:
    insist("bad" not in case.text, "nothing is bad", case.text)


def loop(monkeypatch: pytest.MonkeyPatch, keep: Path | None = None, count: int = 50) -> run.Ran:
    monkeypatch.setattr(run, "harness", lambda name: SimpleNamespace(make=make, check=check))
    return run.loop("a-harness", count, 1, keep=keep, say=lambda told: None)


def test_a_failure_is_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = loop(monkeypatch)
    assert ran.executions == 50
    assert [(one.what, one.case.text) for one in ran.failures] == [("nothing is bad", "bad")]
    assert COUNTS["failures"] > 1


def test_it_is_kept_and_can_be_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loop(monkeypatch, tmp_path)
    (path,) = tmp_path.iterdir()
    name, case = run.stored(path)
    assert (name, case.text) == ("a-harness", "bad")
    monkeypatch.setattr(command, "harness", lambda name: SimpleNamespace(make=make, check=check))
    monkeypatch.setattr("sys.argv", ["fuzz", "--replay", str(path)])
    assert command.main() == 1
    assert "nothing is bad: 'bad'" in capsys.readouterr().out
    path.write_text(json.dumps({**json.loads(path.read_text()), "text": "good"}))
    assert command.main() == 0
    assert capsys.readouterr().out == "it holds\n"


def test_an_error_of_ours_is_one_by_its_place() -> None:
    def broken(case: Case) -> None:
        run.stored(Path(case.text))

    failure = run.failing(SimpleNamespace(make=make, check=broken), Case("a.sh", "/no/such/file", 0))
    assert failure is not None
    assert failure.what == "FileNotFoundError"


def test_what_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SECONDS_AT_MOST", 0.05)

    def endless(case: Case) -> None:
        while True:
            pass

    failure = run.failing(SimpleNamespace(make=make, check=endless), Case("a.sh", "", 0))
    assert failure is not None
    assert failure.what == "it hangs"


def test_the_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["fuzz", "--harness", "argv", "--executions", "60", "--keep", str(tmp_path)])
    assert command.main() == 0
    told = capsys.readouterr().out
    assert told.startswith("argv: 60 executions in ")
    assert "0 failures of 0 kinds" in told
    assert "read twice: " in told


def test_choices_of_bytes() -> None:
    chance = Drawn(bytes([5, 200, 0, 1, 2]))
    assert [chance.below(3), chance.below(1000), chance.pick("abc"), chance.pick("abc")] == [2, 200, "b", "c"]
    assert (chance.below(9), chance.pick("xyz")) == (0, "x")
    assert not chance.often(0.99)


def test_choices_of_a_seed() -> None:
    first, second = Seeded(3), Seeded(3)
    assert [first.below(10) for _ in range(20)] == [second.below(10) for _ in range(20)]
