"""servelint against the engines' own parsers: recorded verdicts of real releases on argv's with every kind of slip.

Each line of verdicts/<engine>.jsonl holds an argv, a release, and whether that release's parser (with the checks that follow it
at once) accepts it; `says` is its message. The cases are options of the release, as they are and mutated: aliases, prefixes,
underscores, missing and superfluous values, wrong kinds, choices and cases, JSON, removed, later and foreign options.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import servelint
from servelint.rules.load import rules

pytestmark = pytest.mark.book

FOLDER = Path(__file__).parent / "verdicts"
EXPLAINED: dict[str, dict[str, str]] = {"vllm": {}, "sglang": {}}
"""Cases in which the two differ, and why."""
BEYOND = {
    "vllm": {
        "0.12.0#14:prefix": "the config class takes an object",
        "0.18.1#34:underscore": "the config class looks up the backend",
        "0.20.2#22:empty": "the config class takes texts",
        "0.23.0#24:prefix": "the config class takes an object",
        "0.27.1#34:single": "the config class is made of an object",
        "0.27.1#35:badtype": "the config class takes an object",
        "0.27.1#51:json": "the config class looks up the backend",
    },
    "sglang": {},
}
"""Cases that the parser lets pass and the config classes refuse, which these verdicts do not reach."""
MADE_LATER = (
    r"^--(?:override-generation-config|mm-processor-kwargs|media-io-kwargs|limit-mm-per-prompt) is .* takes an object$"
    r"|of --(?:media-io-kwargs|model-class-overrides) is not an? \w+;"
)
"""What is said of options whose JSON the parser reads, and that the config classes want to be an object."""
LATER = frozenset(rule.id for rule in rules() if rule.complaint is None and rule.impact == "crash-at-start")


def cases(engine: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{engine}.jsonl").read_text(encoding="utf-8").splitlines()]


def refused(engine: str, case: dict[str, Any]) -> bool:
    found = servelint.check_command(engine, case["argv"], version=case["release"])
    return any(finding.impact == "crash-at-start" for finding in found)


def refused_later(engine: str, case: dict[str, Any]) -> bool:
    """Whether all that servelint has to say is of a rule beyond the parser, which the recorded verdicts do not reach."""
    found = servelint.check_command(engine, case["argv"], version=case["release"])
    return all(
        one.rule in LATER or re.search(MADE_LATER, one.message) is not None for one in found if one.impact == "crash-at-start"
    )


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_accepts_and_refuses_as_the_engine_does(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    all_cases = cases(engine)
    assert len(all_cases) >= 1000
    differ = {case["id"] for case in all_cases if refused(engine, case) == case["accepts"]}
    differ = {
        case["id"] for case in all_cases if case["id"] in differ and not (case["accepts"] and refused_later(engine, case))
    }
    assert differ >= BEYOND[engine].keys()
    differ -= BEYOND[engine].keys()
    assert differ == EXPLAINED[engine].keys()
    assert len(differ) <= 0.005 * len(all_cases)


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_the_cases_are_of_many_kinds(engine: str) -> None:
    kinds = {case["id"].partition(":")[2] for case in cases(engine)}
    assert {
        "good",
        "alias",
        "prefix",
        "missing",
        "typo",
        "removed",
        "later",
        "otherengine",
        "json",
        "badchoice",
        "badtype",
    } <= kinds
    assert {case["accepts"] for case in cases(engine)} == {True, False}
    assert len({case["release"] for case in cases(engine)}) >= 15
