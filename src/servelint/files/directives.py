"""Comments to servelint in the files that it reads: which lines each applies to, what it suppresses, which GPUs it names.

A comment that names GPUs is stronger than settings, and weaker than a node selector or a reservation: those decide where
the launch runs.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache

from servelint.core.launch import Launch
from servelint.core.result import Ignore
from servelint.core.source import Source, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.settings import Settings

_IGNORE = r"#\s*servelint:\s*ignore(?:\[([^\]\n]*)\])?[^\n]*"

SIGN = "servelint:"
"""What every one of them has."""


def lines_of(source: Source, start: int) -> tuple[int, ...]:
    """The lines that a comment at an offset applies to: its own, and the next one if it stands alone."""
    line = source.position(start)[0]
    alone = not source.line_text(line)[: start - source.line_starts[line - 1]].strip()
    return (line, line + 1) if alone else (line,)


def ignores(source: Source) -> list[Ignore]:
    """The suppression comments of a source."""
    if SIGN not in source.text:
        return []
    found: list[Ignore] = []
    for match in re.finditer(_IGNORE, source.text):
        patterns: list[tuple[str, Span]] = []
        if match.group(1) is not None:
            for part in re.finditer(r"[^,\s]+", match.group(1)):
                start = match.start(1) + part.start()
                patterns.append((part.group(), Span(source, start, start + len(part.group()))))
        end = match.start() + len(match.group().rstrip())
        found.append(Ignore(Span(source, match.start(), end), lines_of(source, match.start()), patterns))
    return found


def name_gpus(launch: Launch, settings: Settings) -> None:
    """Set the GPUs of a launch, and of those that it is compared with, where their file does not: from comments or settings."""
    for one in (launch, *launch.beside):
        _name_gpus(one, settings)


def _name_gpus(launch: Launch, settings: Settings) -> None:
    launch.gpu, launch.gpu_count, launch.gpu_site = settings.gpu, settings.gpu_count, None
    for comment in speaking_for(launch):
        if comment.gpu is not None:  # the settings' number is that of other GPUs
            launch.gpu, launch.gpu_count, launch.gpu_site = comment.gpu, comment.count, comment.span
        elif comment.count is not None:
            launch.gpu_count = comment.count
    for one in launch.others:
        one.gpu, one.gpu_count, one.gpu_site = launch.gpu, launch.gpu_count, launch.gpu_site


_GPU = r"#[ \t]*servelint:[ \t]*(gpu(?:-count)?[ \t]*=[^\n]*)"
_SAID = r"[ \t,]*(gpu|gpu-count)[ \t]*=[ \t]*([^\s,]*)"
_TIMES = r"[ \t]*([x*\u00d7][ \t]*(\d+)|(\d+)[ \t]*x)(?=\s|$)"
_LONGEST = 80


class GpuComment:
    """A comment that names GPUs: `# servelint: gpu=h100-80gb gpu-count=2 why`.

    Attributes:
        span: The comment.
        lines: The lines that it applies to.
        gpu, count: What it names; None for a name or a number that is not known.
        wrong: What cannot be understood, each with its place and what to write instead.
    """

    __slots__ = ("count", "gpu", "lines", "span", "wrong")

    def __init__(self, span: Span, lines: tuple[int, ...]) -> None:
        self.span = span
        self.lines = lines
        self.gpu: str | None = None
        self.count: int | None = None
        self.wrong: list[tuple[Span, str, str]] = []


@lru_cache(maxsize=8)
def gpu_comments(source: Source) -> tuple[GpuComment, ...]:
    """The GPU comments of a source."""
    return tuple([_read(source, match) for match in re.finditer(_GPU, source.text)]) if SIGN in source.text else ()


def speaking_for(launch: Launch) -> list[GpuComment]:
    """The comments that apply to a launch, by line: those on its lines, and one that stands alone above it."""
    comments = gpu_comments(launch.source)
    if not comments:
        return []
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
    if (times := re.compile(_TIMES).match(source.text, at, end)) is not None:
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
    advice = f"did you mean {', '.join(near)}?" if near else "write it as in h100-80gb or NVIDIA-L40S"
    comment.wrong.append((place, f'"{shown}" is not a GPU that servelint knows' if name else "gpu= names no GPU", advice))


def _take_count(comment: GpuComment, number: str, place: Span) -> None:
    if re.fullmatch(r"[1-9]\d{0,4}", number) is not None:
        comment.count = int(number)
    else:
        said = f'"{number}" is not a number of GPUs' if number else "gpu-count= says no number"
        comment.wrong.append((place, said, "write a whole number from 1 on: gpu-count=2"))
