"""Edits of a text: where its characters stand after one, and the edits that code actions offer.

An action is a fix, an ignore comment, another release of the image, or every safe fix at once. Each is tried before it is
offered: the text that it leaves is read again.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from copy import copy
from dataclasses import dataclass

from servelint.autofix import attempt, mend
from servelint.core.finding import SEVERITIES, Finding, Fix, Related
from servelint.core.result import Report
from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.engines.releases import is_final, known_releases, release_key, sort_key
from servelint.files.directives import ignores
from servelint.files.siblings import Neighbours
from servelint.lint import add_source
from servelint.upgrade import compared, judged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    Edit: TypeAlias = tuple[int, int, str]
    """Start and end of a range of the text, and what replaces it."""

_REASON = "why"
"""Stands for the reason in an ignore comment until the user writes one."""
_LINES_AT_MOST = 5_000
_AFTER_TAG = re.compile(r"[\w.-]")
_RELEASES_TRIED = 60


# -- where characters stand


class Standing:
    """Where the characters of a text stand after edits, as far as they are still there. Never changed: an edit makes another.

    >>> text = Standing.whole(40).edited(0, 0, 3)
    >>> text.place(10, 14), text.back(13)
    ((13, 17), 10)
    >>> text = text.edited(15, 16, 1)
    >>> text.place(10, 14) is None, text.place(20, 24)
    (True, (23, 27))
    """

    __slots__ = ("_pieces",)

    def __init__(self, pieces: list[tuple[int, int, int]]) -> None:
        self._pieces = pieces  # offset before, offset now, length

    @classmethod
    def whole(cls, length: int) -> Standing:
        """A text of some length that was not edited."""
        return cls([(0, 0, length)])

    def edited(self, start: int, end: int, count: int) -> Standing:
        """The text after a range of it was replaced by a number of characters."""
        moved = count - (end - start)
        pieces: list[tuple[int, int, int]] = []
        for was, now, length in self._pieces:
            if now + length <= start and now < start:
                pieces.append((was, now, length))
                continue
            if now < start:
                pieces.append((was, now, start - now))
            if (cut := max(0, end - now)) < length:
                pieces.append((was + cut, now + cut + moved, length - cut))
        joined = pieces[:1]
        for was, now, length in pieces[1:]:
            before, there, size = joined[-1]
            if (before + size, there + size) == (was, now):
                joined[-1] = (before, there, size + length)
            else:
                joined.append((was, now, length))
        return Standing(joined)

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """The range at which a range of the first text stands now; None if it was changed."""
        for was, now, length in self._pieces:
            if was <= start and end <= was + length:
                return start - was + now, end - was + now
        return None

    def back(self, offset: int) -> int | None:
        """The offset in the first text of an offset now; None within what is new. Between two pieces the second one counts."""
        found: int | None = None
        for was, now, length in self._pieces:
            if now <= offset <= now + length:
                found = offset - now + was
        return found


def differing(before: str, after: str) -> tuple[int, int]:
    """Start and end of the one range of a text that has to be replaced to make another text of it."""
    most = min(len(before), len(after))
    start = _most(most, lambda count: before[:count] == after[:count])
    same = _most(most - start, lambda count: before[len(before) - count :] == after[len(after) - count :])
    return start, len(before) - same


def _most(limit: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to a limit for which a condition holds that holds for all smaller ones."""
    low = 0
    while low < limit:
        middle = (low + limit + 1) // 2
        low, limit = (middle, limit) if holds(middle) else (low, middle - 1)
    return low


def moved(findings: list[Finding], standing: Standing, before: Source, after: Source) -> list[Finding]:
    """Findings of a text at their places in a later one, where their characters still stand, without their fixes."""
    found: list[Finding] = []
    for finding in findings:
        span = _moved(finding.span, standing, before, after)
        if span is None:
            continue
        one = copy(finding)
        one.span, one.fix = span, None
        places = [(_moved(related.span, standing, before, after), related.message) for related in finding.related]
        one.related = [Related(place, message) for place, message in places if place is not None]
        found.append(one)
    return found


def _moved(span: Span, standing: Standing, before: Source, after: Source) -> Span | None:
    if span.source is not before:
        return span
    place = standing.place(span.start, span.end)
    return Span(after, *place) if place is not None else None


# -- code actions


@dataclass(slots=True, eq=False)
class Action:
    """A code action.

    Attributes:
        title: What it does.
        edits: The edits of the text.
        preferred: Whether it is the one that a user is most likely to want.
    """

    title: str
    edits: list[Edit]
    preferred: bool = False


class Desk:
    """A text and the report on it, on which actions are tried."""

    __slots__ = ("neighbours", "report", "settings", "source")

    def __init__(self, source: Source, settings: Settings, neighbours: Neighbours) -> None:
        self.source = source
        self.settings = settings
        self.neighbours = neighbours
        self.report = self.lint(source.text)

    def lint(self, text: str) -> Report:
        """Lint another text instead of this one."""
        report = Report()
        source = self.source if text is self.source.text else Source(self.source.path, text, self.source.encoding)
        add_source(report, source, self.settings, self.neighbours)
        return report

    def after(self, edit: Edit) -> Report:
        """Lint the text after an edit."""
        start, end, new = edit
        text = self.source.text
        return self.lint(text[:start] + new + text[end:])

    def same(self, finding: Finding) -> Finding | None:
        """The finding of this report that equals one of another analysis of the same text."""
        key = _key(finding)
        return next((one for one in self.report.findings if _key(one) == key), None)


def _key(finding: Finding) -> tuple[str, int, int, str]:
    return finding.rule, finding.span.start, finding.span.end, finding.message


def of_findings(desk: Desk, findings: list[Finding]) -> Iterator[tuple[Finding, Action | None]]:
    """The actions for findings of a text, one at a time: each takes as long as reading the text a few times.

    Fixes come first, that of the worst finding before the others, then other releases, then ignore comments. None stands for an
    action that was tried and does not hold.
    """
    worst = sorted(findings, key=lambda one: -SEVERITIES.index(one.severity))
    pairs = [(finding, own) for finding in worst if (own := desk.same(finding)) is not None]
    for finding, own in pairs:
        yield finding, _fix(desk, own, own.fix) if own.fix is not None else None
    for finding, own in pairs:
        yield finding, _release(desk, own)
    for finding, own in pairs:
        yield finding, _ignore(desk, own)


def all_safe(desk: Desk) -> Action | None:
    """Every safe fix of a text at once; None if there is none that holds."""
    new, fixed = mend(desk.source, desk.settings, desk.neighbours, unsafe=False, before=desk.report)
    if not fixed:
        return None
    title = "Apply the safe fix" if len(fixed) == 1 else f"Apply all {len(fixed)} safe fixes"
    return Action(title, between(desk.source.text, new.text))


def between(before: str, after: str) -> list[Edit]:
    """The edits of whole lines that make one text of another."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if len(old) > _LINES_AT_MOST:
        start, end = differing(before, after)
        return [(start, end, after[start : len(after) - len(before) + end])]
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    matched = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(starts[i], starts[j], "".join(new[k:m])) for kind, i, j, k, m in matched if kind != "equal"]


def _fix(desk: Desk, finding: Finding, fix: Fix) -> Action | None:
    """The fix of a finding; None if it does not do what it says, or if it edits another file, where it cannot be tried."""
    if any(edit.span.source is not desk.source for edit in fix.edits):
        return None
    if attempt(desk.source, desk.report, finding, desk.settings, desk.neighbours) is None:
        return None
    unsafe = "" if fix.safe else f" (unsafe: {fix.note})" if fix.note else " (unsafe)"
    edits = [(edit.span.start, edit.span.end, edit.text) for edit in fix.edits]
    return Action(f"{fix.title[:1].upper()}{fix.title[1:]}{unsafe}", edits, preferred=fix.safe)


# -- another release


def _release(desk: Desk, finding: Finding) -> Action | None:
    """The nearest release, a newer one first, whose image does not have the finding and brings no error and no warning.

    None if there is none, or if it is not the image's tag that names the release.
    """
    launch, present, source = finding.launch, finding.release, desk.source
    if launch is None or present is None or finding.release_from != "image":
        return None
    span = launch.release.span
    if span is None or span.source is not source or span.text != present or _AFTER_TAG.match(source.text, span.end):
        return None  # of a variant (`-cu126`) it is not known whether another release has it
    found = judged(launch, present, desk.settings)
    for release in _nearest(launch.engine, present):
        change = compared(launch, present, found, release, desk.settings)
        gone = any((one.rule, one.span) == (finding.rule, finding.span) for one in change.mended)
        if not gone or change.breaks or any(one.severity == "warning" for one in change.warns):
            continue
        edit = span.start, span.end, release
        if _improves(desk.report, desk.after(edit), finding):
            return Action(f"Use the image of release {release}", [edit])
    return None


def _nearest(engine: str, present: str) -> list[str]:
    key = release_key(present)
    if key is None:
        return []
    final = [(release, sort_key(release)) for release in known_releases(engine) if is_final(release)]
    newer = [release for release, one in final if one > key]
    older = [release for release, one in final if one < key]
    return [*newer[:_RELEASES_TRIED], *older[::-1][:_RELEASES_TRIED]]


def _improves(before: Report, after: Report, finding: Finding) -> bool:
    if len(after.errors) > len(before.errors) or len(after.launches) != len(before.launches):
        return False
    was, now = (
        Counter((one.rule, one.launch.name if one.launch else "") for one in report.findings if one.severity != "info")
        for report in (before, after)
    )
    key = (finding.rule, finding.launch.name if finding.launch else "")
    counts = [
        sum((one.rule, one.launch.name if one.launch else "") == key for one in report.findings) for report in (before, after)
    ]
    return counts[1] < counts[0] and not now - was


# -- ignore comments


def _ignore(desk: Desk, finding: Finding) -> Action | None:
    """A comment that ignores a finding and changes nothing else; None where no comment can."""
    for edit in _comments(finding, desk.source):
        if _ignores(desk.report, desk.after(edit), finding):
            return Action(f"Ignore {finding.rule} here, with a reason", [edit])
    return None


def _comments(finding: Finding, source: Source) -> Iterator[Edit]:
    lines = _lines(finding, source)
    for one in ignores(source):
        if one.patterns and set(one.lines) & set(lines):
            end = one.patterns[-1][1].end
            yield end, end, f", {finding.rule}"
    comment = f"# servelint: ignore[{finding.rule}] {_REASON}"
    line_end = "\r\n" if "\r\n" in source.text else "\n"
    for line in lines:
        start = source.line_starts[line - 1]
        text = source.line_text(line)
        indent = text[: len(text) - len(text.lstrip())]
        yield start, start, f"{indent}{comment}{line_end}"
    end = source.line_starts[lines[0] - 1] + len(source.line_text(lines[0])) if lines else 0
    yield end, end, f"  {comment}"


def _lines(finding: Finding, source: Source) -> list[int]:
    """The lines on which a comment counts for a finding, the nearest first."""
    found = [finding.span.line] if finding.span.source is source else []
    found += [one.span.line for one in finding.related if one.message == "used here" and one.span.source is source]
    if finding.launch is not None and finding.launch.source is source:
        found.append(finding.launch.line)
    return list(dict.fromkeys(found))


def _ignores(before: Report, after: Report, finding: Finding) -> bool:
    if len(after.errors) > len(before.errors) or len(after.launches) != len(before.launches):
        return False
    pairs = zip(before.launches, after.launches, strict=True)
    if any([word.shown for word in old.argv] != [word.shown for word in new.argv] for old, new in pairs):
        return False

    def key(one: Finding) -> tuple[str, str, str]:
        return one.rule, one.span.text, one.message

    return [key(one) for one in after.findings] == [key(one) for one in before.findings if key(one) != key(finding)]
