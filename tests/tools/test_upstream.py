"""tools/upstream.py: each cited thread has a state, and the script tells which rules may end."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.tools.loading import loaded

upstream = loaded("upstream.py")

ISSUE = "https://github.com/vllm-project/vllm/issues/53180"
PULL = "https://github.com/vllm-project/vllm/pull/52179"
RULES = ["vllm/turboquant-with-spec-decode (>=0.20)"]


@pytest.mark.book
def test_every_cited_thread_is_noted_and_no_other() -> None:
    noted = upstream.noted()
    assert list(noted) == list(upstream.cited())
    for one in noted.values():
        assert one["state"] in upstream.STATES
        assert ("read" in one) is (one["state"] != "unknown")
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", one.get("read", "2026-01-01"))


@pytest.mark.parametrize(
    ("given", "ends"),
    [
        ("open", None),
        ("unknown", None),
        ({"state": "closed", "state_reason": "not_planned"}, None),
        ("closed", ", is closed"),
        ({"state": "CLOSED", "state_reason": "completed"}, ", is closed as completed"),
        ({"state": "closed", "merged_at": "2026-12-01"}, ", is merged"),
        ({"state": "closed", "merged": True, "released_in": "0.34.0"}, ", is merged, released in 0.34.0"),
    ],
)
def test_rules_that_may_end(given: Any, ends: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream, "noted", lambda: {ISSUE: {"state": "open", "read": "2026-11-23"}})
    found = upstream.changes({ISSUE: given})
    assert found == ([] if ends is None else [f"{rule} may end: {ISSUE} was open on 2026-11-23{ends}" for rule in RULES])


def test_a_pull_request_that_was_given_up_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream, "noted", dict)
    assert upstream.changes({PULL: "closed"}) == []
    assert upstream.changes({PULL: "merged"}) == [
        f"vllm/pipeline-spec-without-async (>=0.30) may end: {PULL} was not known, is merged"
    ]


def test_a_thread_that_is_open_again(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "https://github.com/vllm-project/vllm/issues/53912"
    monkeypatch.setattr(upstream, "noted", lambda: {address: {"state": "closed", "read": "2026-11-23"}})
    found = upstream.changes({address: "open"})
    assert f"vllm/hybrid-mtp-prefix-caching (>=0.19,<0.29): {address} was closed on 2026-11-23, is open" in found


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    noted = tmp_path / "upstream.json"
    noted.write_text(upstream.NOTED.read_text())
    monkeypatch.setattr(upstream, "NOTED", noted)
    states = tmp_path / "states.json"
    states.write_text(json.dumps({ISSUE: "closed"}))
    assert upstream.main([str(states)]) == 0
    assert capsys.readouterr().out.startswith(f"{RULES[0]} may end: {ISSUE} was open")
    assert upstream.noted()[ISSUE]["state"] == "open"
    assert upstream.main([str(states), "--write"]) == 0
    assert upstream.noted()[ISSUE]["state"] == "closed"
    assert [one for one in upstream.noted() if one != ISSUE and upstream.noted()[one]["state"] == "closed"]
    assert "source" not in upstream.noted()[ISSUE]
    assert upstream.main([str(states), "--write", "--source", "the API"]) == 0
    assert upstream.noted()[ISSUE]["source"] == "the API"
    capsys.readouterr()
    assert upstream.main([str(states)]) == 0
    assert capsys.readouterr().out == "no rule may end\n"
    for text in ("{", "[]", json.dumps({ISSUE: "gone"})):
        states.write_text(text)
        assert upstream.main([str(states)]) == 2
        assert capsys.readouterr().err.startswith("tools/upstream.py: ")
    assert upstream.main([]) == 0
    assert ISSUE in capsys.readouterr().out.splitlines()
