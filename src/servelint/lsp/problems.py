"""What is known to go wrong with what stands in a launch: findings that it has, then rules that speak of it."""

from __future__ import annotations

from servelint.core.finding import SEVERITIES, Finding
from servelint.lsp import cursor
from servelint.lsp.analysis import Analysis
from servelint.lsp.cursor import Cursor
from servelint.lsp.facts import Here, rules_on
from servelint.lsp.markup import code, link, plain
from servelint.rules.condition import evaluate
from servelint.rules.ranges import describe
from servelint.rules.rule import Rule

_AT_MOST = 5


def problems(found: Cursor, here: Here, analysis: Analysis, names: list[str], *, near: bool = False) -> list[str]:
    """What fires here, then the rules that speak of it for these releases: those that may hold first. near: only those"""
    rules = [rule for name in names for rule in rules_on(name, here, analysis.settings)]
    ids = {rule.id for rule in rules}
    firing = [one for one in analysis.findings if one.launch is here.launch and (one.rule in ids or _touches(one, found))]
    said = {one.rule for one in firing}
    if near:
        rules = [rule for rule in rules if evaluate(rule.when, here.config) is not False]
    return told([rule for rule in rules if rule.id not in said], firing, here)


def _touches(finding: Finding, found: Cursor) -> bool:
    """Whether a finding is about what stands there: of an option and its value, about either."""
    places = [found.span]
    if found.setting is not None and found.kind in (cursor.OPTION, cursor.VALUE):
        places += [word.site for word in found.setting.words if word.site is not None]
    one = finding.span
    return any(one.source is other.source and one.start < other.end and other.start < one.end for other in places)


def told(rules: list[Rule], firing: list[Finding], here: Here) -> list[str]:
    """Findings and rules as a list in Markdown, the worst first."""
    firing = sorted(firing, key=lambda one: -SEVERITIES.index(one.severity))
    lines = [f"- **{one.severity}** here: {plain(one.sentence)}{_link(one.evidence)}" for one in firing]
    others = sorted(
        rules, key=lambda rule: (evaluate(rule.when, here.config) is False, -SEVERITIES.index(rule.severity), rule.id)
    )
    lines += [
        f"- {rule.severity}: {plain(rule.title)} ({describe(rule.versions)}), {code(rule.id)}{_link(rule.evidence)}"
        for rule in others
    ]
    if not lines:
        return []
    more = len(lines) - _AT_MOST
    head = "Found here:" if not others else "Known problems:"
    return ["", head, "", *lines[:_AT_MOST], *([f"- and {more} more"] if more > 0 else [])]


def _link(evidence: list[str]) -> str:
    """The first address that a rule's evidence gives, as a link."""
    address = next((one.partition(" ")[0] for one in evidence if one.startswith(("https://", "http://"))), None)
    return f" ({link('source', address)})" if address is not None else ""
