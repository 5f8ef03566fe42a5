"""Fixes: files in which something is wrong, mended, and mended again."""

from __future__ import annotations

from fuzz import grammar
from fuzz.case import Case, insist
from fuzz.counts import COUNTS
from fuzz.mutate import mutated
from fuzz.properties import SETTINGS, beside, findings_inside, inside, judged, reading
from servelint import fixes
from servelint.mending import mend
from tests.wrappers import WRAPPERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fuzz.chance import Chance
    from servelint.launch import Launch

_WRAPPERS = tuple(WRAPPERS)


def make(chance: Chance) -> Case:
    name, text = grammar.launch(chance, _WRAPPERS, fixable=chance.often(0.7))
    if chance.often(0.3):
        text = mutated(chance, text)
    return Case(name, text, chance.below(1 << 16))


def check(case: Case) -> None:
    found = reading(case)
    findings = judged(found)
    findings_inside(findings)
    fixable = [one for one in findings if one.fix is not None]
    if not fixable:
        return
    COUNTS["with a fix"] += 1
    every = fixes.apply(found.source, findings, unsafe=True)
    insist(bool(every.findings), "a fix can be applied", case.text)
    if case.turn % 4:
        return  # to mend a text and mend it again costs as much as twenty others
    unsafe = bool(case.turn % 16)
    mended, fixed = mend(found.source, SETTINGS, beside(), unsafe=unsafe)
    if not fixed:
        COUNTS["fixes that are not taken"] += 1
        insist(mended.text == case.text, "where nothing is fixed nothing is changed", mended.text)
        return
    COUNTS["mended"] += 1
    twice, more = mend(mended, SETTINGS, beside(), unsafe=unsafe)
    insist(not more and twice.text == mended.text, "a fix applied twice is a no-op", case.text, mended.text, twice.text)
    if case.turn % 8:
        COUNTS["judged after"] += 1
        after = reading(case, mended.text)
        inside(after)
        insist(_engines(after.launches) == _engines(found.launches), "a fix starts the same engines", mended.text)
        errors = {one.rule for one in findings if one.severity == "error"}
        added = [one for one in judged(after) if one.severity == "error" and one.rule not in errors]
        insist(not added, "a fix adds no error", added, mended.text)


def _engines(launches: list[Launch]) -> list[tuple[str, str]]:
    return [(launch.engine, launch.name) for launch in launches]
