"""Another release for a launch whose image names one that a finding is about."""

from __future__ import annotations

import re
from collections import Counter

from servelint.core.finding import Finding
from servelint.core.result import Report
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.engines.releases import is_final, known_releases, release_key, sort_key
from servelint.upgrade import compared, judged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_AFTER_TAG = re.compile(r"[\w.-]")
_TRIED = 60


def release_for(
    before: Report, finding: Finding, source: Source, settings: Settings, lint: Callable[[Source], Report]
) -> tuple[str, tuple[int, int, str]] | None:
    """The nearest release, a newer one first, whose image has the finding no more and brings no error and no warning,
    with the edit of the image's tag; None if there is none, or if it is not the image that says the release.

    before: what is found in the text as it is;  lint: tells what is found in a text
    """
    launch, present = finding.launch, finding.release
    if launch is None or present is None or finding.release_from != "image":
        return None
    span = launch.release.span
    if span is None or span.source is not source or span.text != present or not _alone(source, span.end):
        return None
    found = judged(launch, present, settings)
    for release in _nearest(launch.engine, present):
        change = compared(launch, present, found, release, settings)
        gone = any((one.rule, one.span) == (finding.rule, finding.span) for one in change.mended)
        if not gone or change.breaks or any(one.severity == "warning" for one in change.warns):
            continue
        text = source.text[: span.start] + release + source.text[span.end :]
        if _better(before, lint(Source(source.path, text, source.encoding)), finding):
            return release, (span.start, span.end, release)
    return None


def _alone(source: Source, end: int) -> bool:
    """Whether nothing follows the release in the tag: whether another release has the same variant (`-cu126`) nobody knows."""
    return _AFTER_TAG.match(source.text, end) is None


def _nearest(engine: str, present: str) -> list[str]:
    key = release_key(present)
    if key is None:
        return []
    final = [(release, sort_key(release)) for release in known_releases(engine) if is_final(release)]
    newer = [release for release, one in final if one > key]
    older = [release for release, one in final if one < key]
    return [*newer[:_TRIED], *older[::-1][:_TRIED]]


def _better(before: Report, after: Report, finding: Finding) -> bool:
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
