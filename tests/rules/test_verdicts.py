"""The rule book against the engines themselves: launches of every kind, and what the releases' own start-up code says of each.

Each line of verdicts/<engine>.jsonl is a launch with a verdict for each release: null where argument parsing and config checks
pass it for a node of eight H100, else the engine's message. A refusal that the launch does not show (what the node has, what a
repository holds) is explained here, and so is one that comes later. Every second launch is judged; all with
SERVELINT_ALL_RELEASES.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import servelint
from servelint.core.finding import Finding

pytestmark = pytest.mark.book

FOLDER = Path(__file__).parent / "verdicts"
EVERYWHERE = "SERVELINT_ALL_RELEASES" in os.environ
NOT_IN_THE_LAUNCH = {
    "vllm": {
        r"larger than the number of available GPUs": "how many GPUs a node has",
        r"params\.json": "the files that a repository holds",
    },
    "sglang": {
        r"only supported on (?:Blackwell|Hopper)|requires Hopper|on SM100": "which GPU the launch gets",
    },
}
"""Messages whose reason is not visible in a launch, and what the reason is."""


def launches(engine: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{engine}.jsonl").read_text(encoding="utf-8").splitlines()]


def judged(engine: str) -> Iterator[tuple[str, str | None, list[Finding]]]:
    """The launch and release as they are told, the engine's message, and the findings of severity error."""
    for launch in launches(engine)[:: 1 if EVERYWHERE else 2]:
        for release, message in launch["verdicts"].items():
            found = servelint.check_command(engine, launch["argv"], version=release, env=launch.get("env", {}))
            shown = f"{release}: {launch.get('env', '')} {' '.join(launch['argv'])}"
            yield shown, message, [one for one in found if one.severity == "error"]


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_agrees_with_the_engine(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    caught, missed, wrong = 0, [], []
    for shown, message, errors in judged(engine):
        if message is None:
            crashes = {one.rule for one in errors if one.impact == "crash-at-start"}
            wrong += [f"{shown}: {crashes}"] if crashes else []
        elif errors:
            caught += 1
        elif not any(re.search(pattern, message) for pattern in NOT_IN_THE_LAUNCH[engine]):
            missed.append(f"{shown}: {message}")
    assert wrong == []
    assert caught / (caught + len(missed)) >= 0.95, "\n".join(missed)


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_each_explanation_is_needed(engine: str) -> None:
    messages = [message for launch in launches(engine) for message in launch["verdicts"].values() if message is not None]
    for pattern in NOT_IN_THE_LAUNCH[engine]:
        assert any(re.search(pattern, message) for message in messages), pattern


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_launches_are_many(engine: str) -> None:
    every = launches(engine)
    releases = {release for launch in every for release in launch["verdicts"]}
    refused = [bool(message) for launch in every for message in launch["verdicts"].values()]
    assert len(every) >= 300
    assert len(releases) >= 4
    assert 0.2 < sum(refused) / len(refused) < 0.8
