"""What can be done about a finding: its fix, an ignore comment, another release; and every safe fix of a text at once."""

from __future__ import annotations

import difflib

from servelint.autofix import attempt, mend
from servelint.core.finding import SEVERITIES, Finding, Fix
from servelint.core.result import Report
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.lint import add_source
from servelint.lsp import moving, silencing
from servelint.lsp.shifting import differing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    Edits: TypeAlias = list[tuple[int, int, str]]
    """From where to where in the text, and what takes its place."""

_LINES_AT_MOST = 5_000


class Action:
    """title: what it does;  edits: where;  preferred: whether it is what nearly everybody wants"""

    __slots__ = ("edits", "preferred", "title")

    def __init__(self, title: str, edits: Edits, *, preferred: bool = False) -> None:
        self.title = title
        self.edits = edits
        self.preferred = preferred


class Desk:
    """A text as it is, and what is found in it: what actions are tried on."""

    __slots__ = ("neighbours", "report", "settings", "source")

    def __init__(self, source: Source, settings: Settings, neighbours: Neighbours) -> None:
        self.source = source
        self.settings = settings
        self.neighbours = neighbours
        self.report = self.lint(source)

    def lint(self, source: Source) -> Report:
        report = Report()
        add_source(report, source, self.settings, self.neighbours)
        return report

    def same(self, finding: Finding) -> Finding | None:
        """The finding of this text that is like one of another analysis of it."""
        key = _key(finding)
        return next((one for one in self.report.findings if _key(one) == key), None)


def of_findings(desk: Desk, findings: list[Finding]) -> Iterator[tuple[Finding, Action | None]]:
    """The actions for findings of a text, one after the other: each takes as long as reading the text again a few times.

    The fixes first, of the worst finding the first; then other releases; what only silences comes last. None: that was tried,
    and is none.
    """
    worst = sorted(findings, key=lambda one: -SEVERITIES.index(one.severity))
    pairs = [(finding, own) for finding in worst if (own := desk.same(finding)) is not None]
    for finding, own in pairs:
        yield finding, _fix(desk, own, own.fix) if own.fix is not None else None
    for finding, own in pairs:
        yield finding, _release(desk, own)
    for finding, own in pairs:
        comment = silencing.comment(desk.report, own, desk.source, desk.lint)
        yield finding, Action(f"Ignore {own.rule} here, with a reason", [comment]) if comment is not None else None


def all_safe(desk: Desk) -> Action | None:
    """Every safe fix of a text, each held against what it makes of the launches; None if there is none."""
    new, fixed = mend(desk.source, desk.settings, desk.neighbours, unsafe=False, before=desk.report)
    if not fixed:
        return None
    title = "Apply the safe fix" if len(fixed) == 1 else f"Apply all {len(fixed)} safe fixes"
    return Action(title, between(desk.source.text, new.text))


def _release(desk: Desk, finding: Finding) -> Action | None:
    moved = moving.release_for(desk.report, finding, desk.source, desk.settings, desk.lint)
    return Action(f"Use the image of release {moved[0]}", [moved[1]]) if moved is not None else None


def _fix(desk: Desk, finding: Finding, fix: Fix) -> Action | None:
    """A fix that does what it says. Nobody can try one that changes another file than this."""
    if any(edit.span.source is not desk.source for edit in fix.edits):
        return None
    if attempt(desk.source, desk.report, finding, desk.settings, desk.neighbours) is None:
        return None
    unsafe = "" if fix.safe else f" (unsafe: {fix.note})" if fix.note else " (unsafe)"
    edits = [(edit.span.start, edit.span.end, edit.text) for edit in fix.edits]
    return Action(f"{fix.title[:1].upper()}{fix.title[1:]}{unsafe}", edits, preferred=fix.safe)


def between(before: str, after: str) -> list[tuple[int, int, str]]:
    """The lines of a text that another one has otherwise, as edits of them."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if len(old) > _LINES_AT_MOST:
        start, end, _ = differing(before, after)
        return [(start, end, after[start : len(after) - len(before) + end])]
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    matched = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(starts[i], starts[j], "".join(new[k:m])) for kind, i, j, k, m in matched if kind != "equal"]


def _key(finding: Finding) -> tuple[str, int, int, str]:
    return finding.rule, finding.span.start, finding.span.end, finding.message
