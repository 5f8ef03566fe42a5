"""GPU comments: `# servelint: gpu=h100-80gb gpu-count=2 why` on a line of a launch or above it says what it runs on.

They count for more than settings, and for less than a node selector or a reservation: those decide where it runs.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache

from servelint.core.finding import Finding
from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.files.directives import SIGN, lines_of
from servelint.rules import own
from servelint.rules.own import GPU_COMMENT

_COMMENT = r"#[ \t]*servelint:[ \t]*(gpu(?:-count)?[ \t]*=[^\n]*)"
_SAID = r"[ \t,]*(gpu|gpu-count)[ \t]*=[ \t]*([^\s,]*)"
_TIMES = r"[ \t]*([x*\u00d7][ \t]*(\d+)|(\d+)[ \t]*x)(?=\s|$)"
_LONGEST = 80


class GpuComment:
    """One comment. lines: those for which it speaks;  gpu, count: what it says, None where it says nothing that is known;
    wrong: what nobody understands, each with its place and what to write instead."""

    __slots__ = ("count", "gpu", "lines", "span", "wrong")

    def __init__(self, span: Span, lines: tuple[int, ...]) -> None:
        self.span = span
        self.lines = lines
        self.gpu: str | None = None
        self.count: int | None = None
        self.wrong: list[tuple[Span, str, str]] = []


def apply(launch: Launch) -> None:
    """Set the GPUs of a launch that comments name."""
    for comment in _speaking(launch):
        if comment.gpu is not None:  # how many the settings say there are is said of other GPUs
            launch.gpu, launch.gpu_count, launch.gpu_site = comment.gpu, comment.count, comment.span
        elif comment.count is not None:
            launch.gpu_count = comment.count


@lru_cache(maxsize=8)
def gpu_comments(source: Source) -> tuple[GpuComment, ...]:
    """The GPU comments of a source."""
    return tuple([_read(source, match) for match in re.finditer(_COMMENT, source.text)]) if source.holds(SIGN) else ()


def _speaking(launch: Launch) -> list[GpuComment]:
    """The comments that speak for a launch, by line: those on its lines, and one that stands alone above it."""
    comments = gpu_comments(launch.source)
    first, last = launch.site.line, launch.site.end_line
    start = bisect_left(comments, first - 1, key=_line)
    found = comments[start : bisect_right(comments, last, lo=start, key=_line)]
    return [comment for comment in found if _line(comment) >= first or first in comment.lines]


def _line(comment: GpuComment) -> int:
    return comment.lines[0]


def _read(source: Source, match: re.Match[str]) -> GpuComment:
    end = match.start() + len(match.group().rstrip())
    comment = GpuComment(Span(source, match.start(), end), lines_of(source, match.start()))
    at = match.start(1)
    while (said := re.compile(_SAID).match(source.text, at, end)) is not None:
        at = said.end()
        place = Span(source, said.start(1), said.end())
        if said.group(1) == "gpu":
            _take_gpu(comment, said.group(2), place)
        else:
            _take_count(comment, said.group(2), place)
    times = re.compile(_TIMES).match(source.text, at, end)
    if times is not None:
        number = times.group(2) or times.group(3)
        place = Span(source, times.start(1), times.end(1))
        comment.wrong.append((place, f"{times.group(1)} says nothing here", f"write gpu-count={number}"))
    return comment


def _take_gpu(comment: GpuComment, name: str, place: Span) -> None:
    from servelint import hardware

    if hardware.identify(name) is not None:
        comment.gpu = name
        return
    near = hardware.near(name) if name else []
    shown = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "\u2026"
    told = f"did you mean {', '.join(near)}?" if near else "write it as in h100-80gb or NVIDIA-L40S"
    comment.wrong.append((place, f'"{shown}" is not a GPU that servelint knows' if name else "gpu= names no GPU", told))


def _take_count(comment: GpuComment, number: str, place: Span) -> None:
    if re.fullmatch(r"[1-9]\d{0,4}", number) is not None:
        comment.count = int(number)
    else:
        said = f'"{number}" is no number of GPUs' if number else "gpu-count= says no number"
        comment.wrong.append((place, said, "write a whole number from 1 on: gpu-count=2"))


def told(source: Source, launches: list[Launch], settings: Settings) -> list[Finding]:
    """A finding for what nobody understands in a source's GPU comments, and for each comment that changes nothing."""
    comments = gpu_comments(source)
    if not comments or not settings.wants(GPU_COMMENT):
        return []
    whole = [launch for launch in launches if launch.source is source and not launch.fragment]
    heard: dict[int, list[Launch]] = {}
    for launch in whole:
        for comment in _speaking(launch):
            heard.setdefault(id(comment), []).append(launch)
    found: list[tuple[Span, str, str]] = []
    for comment in comments:
        found += comment.wrong
        if comment.gpu is None and comment.count is None:
            continue
        theirs = heard.get(id(comment), [])
        if not theirs:
            found.append((comment.span, "the comment names GPUs for no launch", _where(comment, whole)))
        elif comment.gpu is not None and (named := {_other(comment, launch) for launch in theirs}) and None not in named:
            others = " and ".join(sorted(filter(None, named)))
            found.append(
                (comment.span, f"the launch runs on {others}, not on {comment.gpu}", "delete the comment, or correct it")
            )
    return [own.finding(GPU_COMMENT, span, message, advice, settings) for span, message, advice in found]


def _where(comment: GpuComment, launches: list[Launch]) -> str:
    """Where to write it instead: above the launch that follows, else the last one."""
    if not launches:
        return "delete it"
    lines = sorted({launch.line for launch in launches})
    after = next((line for line in lines if line > comment.lines[0]), lines[-1])
    return f"write it above the launch, which starts in line {after}"


def _other(comment: GpuComment, launch: Launch) -> str | None:
    """What says another GPU of a launch than a comment that speaks for it: its file, or a later comment."""
    from servelint import hardware

    container = launch.container
    product = container.settings.get("gpu_product") if container is not None else None
    if product is not None and product.value is not None and not hardware.counts(comment.gpu or "", product.value):
        mine, named = hardware.identify(comment.gpu or ""), hardware.identify(product.value)
        same = mine is not None and named is not None and mine.facts == named.facts
        return None if same else product.value
    later = [one for one in _speaking(launch) if one.gpu is not None][-1:]
    return later[0].gpu if later and later[0] is not comment and later[0].gpu != comment.gpu else None
