"""Fixing a file: apply a fix, read the file again, and keep the edit only if it changed what it should and nothing else."""

from __future__ import annotations

from collections import Counter

from servelint import fixes
from servelint.core.finding import Finding, variables
from servelint.core.launch import Launch
from servelint.core.result import Report
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.judge.judging import judge
from servelint.lint import add_source

_FIXES_AT_MOST = 1_000


def mend(
    source: Source,
    settings: Settings,
    neighbours: Neighbours,
    *,
    unsafe: bool,
    only: list[Finding] | None = None,
    before: Report | None = None,
) -> tuple[Source, list[Finding]]:
    """Fix a source. To fix the result again changes nothing.

    Args:
        source: The file.
        settings: Its settings.
        neighbours: The files beside it.
        unsafe: Whether unsafe fixes are applied.
        only: Only findings like these are fixed; None for all.
        before: The report of the source as it is, if that is known already.

    Returns:
        The source after its fixes, and the findings that they removed.
    """
    asked = {_key(finding) for finding in only} if only is not None else None
    fixed: list[Finding] = []
    before = before if before is not None else _lint(source, settings, neighbours)
    tried: set[tuple[str, ...]] = set()
    since = 0  # how many had been fixed when the first of those that were tried was tried
    while len(fixed) < _FIXES_AT_MOST:
        finding = next((one for one in before.findings if _wanted(one, unsafe, asked) and _key(one) not in tried), None)
        if finding is None:
            if len(fixed) == since:
                break
            tried, since = set(), len(fixed)  # what did not go may go now
            continue
        tried.add(_key(finding))
        if (done := attempt(source, before, finding, settings, neighbours)) is not None:
            source, before = done
            fixed.append(finding)
            tried.discard(_key(finding))
    return source, fixed


def attempt(
    source: Source, before: Report, finding: Finding, settings: Settings, neighbours: Neighbours
) -> tuple[Source, Report] | None:
    """Apply one fix.

    Args:
        source: The file.
        before: The report of the source as it is.
        finding: The finding to fix.
        settings: The file's settings.
        neighbours: The files beside it.

    Returns:
        The source after the fix and its report; None if the fix does not do what it should.
    """
    trial = fixes.apply(source, [finding], unsafe=True)
    if not trial.findings:
        return None
    new = Source(source.path, trial.text, source.encoding)
    after = _lint(new, settings, neighbours)
    return (new, after) if _keeps(before, after, finding, settings) else None


def _lint(source: Source, settings: Settings, neighbours: Neighbours) -> Report:
    report = Report()
    add_source(report, source, settings, neighbours)
    return report


def _wanted(finding: Finding, unsafe: bool, asked: set[tuple[str, ...]] | None) -> bool:
    return finding.fix is not None and (finding.fix.safe or unsafe) and (asked is None or _key(finding) in asked)


def _key(finding: Finding) -> tuple[str, ...]:
    name = finding.launch.name if finding.launch is not None else ""
    return finding.rule, name, finding.span.text, finding.message, str(finding.fix.title if finding.fix is not None else "")


def _keeps(before: Report, after: Report, finding: Finding, settings: Settings) -> bool:
    """Whether an edit removed its finding and changed nothing else."""
    if len(after.errors) > len(before.errors) or len(after.launches) != len(before.launches):
        return False
    for old, new in zip(before.launches, after.launches, strict=True):
        if _surroundings(old) != _surroundings(new) or not _is_as_said(old, new, finding, settings):
            return False
    was, now = (Counter(one.rule for one in report.findings) for report in (before, after))
    if now[finding.rule] >= was[finding.rule]:
        return False
    added = now - was
    allowed = ("info",) if finding.fix is not None and finding.fix.safe else ("info", "warning")
    return all(one.severity in allowed for one in after.findings if one.rule in added)


def _is_as_said(old: Launch, new: Launch, finding: Finding, settings: Settings) -> bool:
    effect = finding.fix.effect if finding.fix is not None else None
    if effect is not None and effect.launch is old:
        return effect.holds(new)
    if _content(old) == _content(new):
        return True
    # it shares what was edited (an anchor, a variable): then it must have been wrong there too, and be mended by it
    same = [one for one in judge(old, settings) if (one.rule, one.span) == (finding.rule, finding.span)]
    return any(one.fix is not None and one.fix.effect is not None and one.fix.effect.holds(new) for one in same)


def _content(launch: Launch) -> tuple[list[str], dict[str, str | None]]:
    return [word.shown for word in launch.argv], variables(launch)


def _surroundings(launch: Launch) -> tuple[object, ...]:
    """What no fix may change."""
    image = launch.image.shown if launch.image is not None else None
    return launch.engine, launch.name, launch.release.release, [word.shown for word in launch.verb], image
