"""Where the characters of a text stand after it was changed."""

from __future__ import annotations

from copy import copy

from servelint.core.finding import Finding, Related
from servelint.core.source import Source, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Standing:
    """What still stands of a text of some length, and where.

    >>> text = Standing(40)
    >>> text.edit(0, 0, 3)
    >>> text.place(10, 14), text.back(13)
    ((13, 17), 10)
    >>> text.edit(15, 16, 1)
    >>> text.place(10, 14) is None, text.place(20, 24)
    (True, (23, 27))
    """

    __slots__ = ("_pieces",)

    def __init__(self, length: int) -> None:
        self._pieces = [(0, 0, length)]  # where it was, where it is, how many characters

    def edit(self, start: int, end: int, count: int) -> None:
        """Note that so many characters took the place of a range of the text as it is."""
        moved = count - (end - start)
        pieces: list[tuple[int, int, int]] = []
        for was, now, length in self._pieces:
            if now + length <= start and now < start:
                pieces.append((was, now, length))
                continue
            if now < start:
                pieces.append((was, now, start - now))
            cut = max(0, end - now)
            if cut < length:
                pieces.append((was + cut, now + cut + moved, length - cut))
        self._pieces = [pieces[0]] if pieces else []
        for was, now, length in pieces[1:]:
            before, there, size = self._pieces[-1]
            if (before + size, there + size) == (was, now):
                self._pieces[-1] = (before, there, size + length)
            else:
                self._pieces.append((was, now, length))

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """Where a range of the text as it was stands now; None if it was changed."""
        for was, now, length in self._pieces:
            if was <= start and end <= was + length:
                return start - was + now, end - was + now
        return None

    def back(self, offset: int) -> int | None:
        """Where an offset of the new text was, between two pieces that of the one that begins there. None in what is new."""
        found: int | None = None
        for was, now, length in self._pieces:
            if now <= offset <= now + length:
                found = offset - now + was
        return found


def differing(before: str, after: str) -> tuple[int, int, str]:
    """The part of a text that another one has otherwise, as start and end, and the other one."""
    most = min(len(before), len(after))
    start = _most(most, lambda count: before[:count] == after[:count])
    same = _most(most - start, lambda count: before[len(before) - count :] == after[len(after) - count :])
    return start, len(before) - same, after


def _most(limit: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to a limit for which something holds that holds for all that are smaller."""
    low = 0
    while low < limit:
        middle = (low + limit + 1) // 2
        low, limit = (middle, limit) if holds(middle) else (low, middle - 1)
    return low


def moved(findings: list[Finding], standing: Standing, before: Source, after: Source) -> list[Finding]:
    """Findings on a text as it was since, where their characters still stand, without their fixes."""
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
