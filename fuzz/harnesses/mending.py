"""Fixes: files in which something is wrong, mended, and mended again."""

from __future__ import annotations

from fuzz import grammar
from fuzz.case import Case, insist
from fuzz.counts import COUNTS
from fuzz.mutate import mutated
from fuzz.properties import SETTINGS, beside, findings_inside, inside
from servelint import fixes
from servelint.autofix import mend
from servelint.core.result import Report
from servelint.core.source import Source
from servelint.lint import add_source
from servelint.readers import Reading
from tests.wrappers import WRAPPERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fuzz.chance import Chance
    from servelint.core.launch import Launch

_WRAPPERS = tuple(WRAPPERS)


def make(chance: Chance) -> Case:
    name, text = grammar.launch(chance, _WRAPPERS, fixable=chance.often(0.7))
    if chance.often(0.3):
        text = mutated(chance, text)
    return Case(name, text, chance.below(1 << 16))


def check(case: Case) -> None:
    source, found = _checked(case, case.text)
    findings_inside(found.findings)
    if all(one.fix is None for one in found.findings):
        return
    COUNTS["with a fix"] += 1
    every = fixes.apply(source, found.findings, unsafe=True)
    insist(bool(every.findings), "a fix can be applied", case.text)
    if case.turn % 4:
        return  # to mend a text and mend it again costs as much as several others
    unsafe = bool(case.turn % 16)
    mended, fixed = mend(source, SETTINGS, beside(), unsafe=unsafe, before=found)
    if not fixed:
        COUNTS["fixes that are not taken"] += 1
        insist(mended.text == case.text, "where nothing is fixed nothing is changed", mended.text)
        return
    COUNTS["mended"] += 1
    again, after = _checked(case, mended.text)
    inside(Reading(again, after.launches, after.errors))
    insist(_engines(after.launches) == _engines(found.launches), "a fix starts the same engines", mended.text)
    errors = {one.rule for one in found.findings if one.severity == "error"}
    added = [one for one in after.findings if one.severity == "error" and one.rule not in errors]
    insist(not added, "a fix adds no error", added, mended.text)
    twice, more = mend(again, SETTINGS, beside(), unsafe=unsafe, before=after)
    insist(not more and twice.text == mended.text, "a fix applied twice is a no-op", case.text, mended.text, twice.text)


def _checked(case: Case, text: str) -> tuple[Source, Report]:
    """A text as a file that is checked: no error stops a check, and those of ours are told as problems."""
    source, report = Source(case.name, text), Report()
    add_source(report, source, SETTINGS, beside())
    own = [problem for problem in report.errors if problem.own]
    insist(not own, "never a traceback", own)
    return source, report


def _engines(launches: list[Launch]) -> list[tuple[str, str]]:
    return [(launch.engine, launch.name) for launch in launches]
