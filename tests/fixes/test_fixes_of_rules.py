"""Every fix of a rule or a complaint, on the rules' own examples: it does what it says, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from servelint.autofix import attempt, mend
from servelint.core.result import Report
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.lint import add_source
from tests.book import id_of
from tests.rules.test_rules import ALL, asked
from tests.together import together
from tests.wrappers import WRAPPERS
from tests.wrapping import unmarked

pytestmark = pytest.mark.book

FIXED = [rule for rule in ALL if "fix" in rule]
BESIDE = Neighbours(None)


def _examples() -> list[tuple[dict[str, Any], dict[str, Any], int]]:
    return [
        (rule, example, number)
        for rule in ALL
        if "fix" in rule or "complaint" in rule
        for number, example in enumerate(rule["examples"]["bad"], start=1)
    ]


def _written(rule: dict[str, Any], example: dict[str, Any], number: int) -> list[tuple[str, Source]]:
    """The example in a shell script or in a list, and in some other formats: others for each."""
    if "text" in example:
        return [("as it is", unmarked(example["file"], example["text"])[0])]
    turn = (number + len(rule["id"])) % 26
    usual = "shell" if number % 2 else "compose-list"
    names = [name for index, name in enumerate(WRAPPERS) if name == usual or index % 26 == turn]
    return [(name, unmarked(WRAPPERS[name][0], WRAPPERS[name][1](rule["engine"], example))[0]) for name in names]


def _linted(source: Source, settings: Settings) -> Report:
    report = Report()
    add_source(report, source, settings, BESIDE)
    return report


def _outside(old: str, new: str, edits: list[tuple[int, int, str]]) -> bool:
    """Whether two texts are the same but for the edits."""
    at = shift = 0
    for start, end, text in sorted(edits):
        if old[at:start] != new[at + shift : start + shift] or not new.startswith(text, start + shift):
            return False
        at, shift = end, shift + len(text) - (end - start)
    return old[at:] == new[at + shift :]


@together("case", _examples(), name=lambda case: f"{case[0]['id']}-{case[2]}")
def test_a_fix_does_what_it_says(case: tuple[dict[str, Any], dict[str, Any], int]) -> None:
    rule, example, number = case
    settings = asked(example)
    for name, source in _written(rule, example, number):
        before = _linted(source, settings)
        finding = next((one for one in before.findings if one.rule == rule["id"]), None)
        if finding is None or finding.fix is None:
            assert "fix" not in rule or name != "shell" or number > 1, f"no fix is offered: {source.text}"
            continue
        assert "{" not in finding.fix.title.replace("${", "").replace("{{", ""), finding.fix.title
        done = attempt(source, before, finding, settings, BESIDE)
        assert done is not None, f"{name}: {finding.fix.title} does not hold in\n{source.text}"
        new, after = done
        edits = [(edit.span.start, edit.span.end, edit.text) for edit in finding.fix.edits]
        assert _outside(source.text, new.text, edits)
        assert len(after.launches) == len(before.launches)
        had = {one.rule for one in before.findings}
        assert [one for one in after.findings if one.severity == "error" and one.rule not in had] == []


@together("rule", FIXED, name=id_of)
def test_to_fix_twice_changes_nothing(rule: dict[str, Any]) -> None:
    example = rule["examples"]["bad"][0]
    settings = asked(example)
    source = next(source for name, source in _written(rule, example, 1) if name in ("shell", "as it is"))
    once, fixed = mend(source, settings, BESIDE, unsafe=True)
    assert fixed
    twice, again = mend(once, settings, BESIDE, unsafe=True)
    assert (twice.text, again) == (once.text, [])
    assert rule["id"] not in [one.rule for one in _linted(once, settings).findings if one.fix is not None]
