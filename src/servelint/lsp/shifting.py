"""Where the characters of a text stand after it was changed."""

from __future__ import annotations

from copy import copy

from servelint.finding import Finding, Related
from servelint.source import Source, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    Edit: TypeAlias = tuple[int, int, int]
    """start and end of what was replaced, and how many characters took its place"""


def add(edits: list[Edit], edit: Edit) -> None:
    """Note an edit of the text that the others left. One that touches the last makes one with it, as typing does."""
    start, end, count = edit
    if edits:
        first, last, length = edits[-1]
        stop = first + length
        if start <= stop and end >= first:
            low, high = min(first, start), max(stop, end)
            edits[-1] = (low, last + max(0, end - stop), high - low - (end - start) + count)
            return
    edits.append(edit)


def shifted(start: int, end: int, edits: Iterable[Edit]) -> tuple[int, int] | None:
    """Where a range stands after edits; None if one of them changed it.

    >>> shifted(10, 14, [(0, 0, 3), (30, 31, 0)]), shifted(10, 14, [(12, 12, 1)])
    ((13, 17), None)
    """
    for first, last, count in edits:
        if start >= last:
            if start == first == last == end:
                return None
            start, end = start + count - last + first, end + count - last + first
        elif end > first:
            return None
    return start, end


def back(offset: int, edits: Sequence[Edit]) -> int | None:
    """Where an offset of the changed text stood before the edits; None in what they wrote."""
    for first, last, count in reversed(edits):
        if offset >= first + count:
            offset += last - first - count
        elif offset > first:
            return None
    return offset


def moved(findings: list[Finding], edits: Sequence[Edit], before: Source, after: Source) -> list[Finding]:
    """Findings on a text where it was changed since: those whose characters still stand somewhere, without their fixes."""
    found: list[Finding] = []
    for finding in findings:
        span = _moved(finding.span, edits, before, after)
        if span is None:
            continue
        one = copy(finding)
        one.span, one.fix = span, None
        places = [(_moved(related.span, edits, before, after), related.message) for related in finding.related]
        one.related = [Related(place, message) for place, message in places if place is not None]
        found.append(one)
    return found


def _moved(span: Span, edits: Sequence[Edit], before: Source, after: Source) -> Span | None:
    if span.source is not before:
        return span
    place = shifted(span.start, span.end, edits)
    return Span(after, *place) if place is not None else None
