"""Code frames: the lines that a finding points at, with what it points at marked. No other line of a file is shown: it may
hold what is nobody's business."""

from __future__ import annotations

from itertools import pairwise

from servelint.core.finding import Finding
from servelint.core.secrets import MaskedLine, masked_line
from servelint.core.source import Source, Span
from servelint.report.html.markup import escaped
from servelint.report.places import relative

_AROUND = 160
"""Characters that are shown before and after what is marked in a long line."""
_WIDTH = 640
_LINES = 8
"""Lines of one place that are shown, where it has more."""
_QUOTED = 48
_ALSO = ' class="also"'

Mark = tuple[int, int, str, bool]
"""Start and end in a line, what it is, and whether it is what is to be changed."""


def frames(finding: Finding) -> str:
    """A figure for each file that a finding points into, its own first."""
    places = [(finding.span, finding.label, True), *[(one.span, one.message, False) for one in finding.related]]
    sources = list({id(span.source): span.source for span, _, _ in places}.values())
    return "".join(
        [_frame(source, [one for one in places if one[0].source is source], source is not sources[0]) for source in sources]
    )


def _frame(source: Source, places: list[tuple[Span, str, bool]], named: bool) -> str:
    """named: whether its path is said, which for the finding's own file stands above it already"""
    lines: dict[int, list[Mark]] = {}
    more: dict[int, int] = {}
    for span, label, primary in places:
        first, last = span.line, span.end_line
        until = min(last, first + _LINES - 1)
        for line in range(first, until + 1):
            text = source.line_text(line)
            start = source.position(span.start)[1] - 1 if line == first else len(text) - len(text.lstrip())
            end = source.position(span.end)[1] - 1 if source.position(span.end)[0] == line else len(text)
            mark = (start, max(end, start + 1), label if line == first else "", primary)
            lines.setdefault(line, []).append(mark)
        if until < last:
            more[until] = max(last - until, more.get(until, 0))
    rows: list[str] = []
    for number in sorted(lines):
        rows.append(_line(masked_line(source, number), number, lines[number]))
        if number in more:
            rows.append(f'<span class="more">and {more[number]} more lines</span>')
    head = ""
    if named:
        line, column = source.position(places[0][0].start)
        head = f"<figcaption>{escaped(relative(source.path))}:{line}:{column}</figcaption>"
    return f'<figure class="frame">{head}<pre><code>{"".join(rows)}</code></pre></figure>'


def _line(printed: MaskedLine, number: int, marks: list[Mark]) -> str:
    """A line with its marks, and what they are below it."""
    text = printed.text
    marks = [(printed.at(one[0]), printed.at(one[1], end=True), *one[2:]) for one in marks]
    marks.sort(key=lambda mark: (not mark[3], mark[0]))
    start, end = _window(len(text), marks)
    cuts = sorted({start, end, *[min(max(at, start), end) for mark in marks for at in mark[:2]]})
    parts = ["\u2026" if start else ""]
    for left, right in pairwise(cuts):
        kinds = [mark[3] for mark in marks if mark[0] <= left and right <= mark[1]]
        piece = escaped(text[left:right].replace("\t", " "))
        parts.append(f"<mark{'' if True in kinds else _ALSO}>{piece}</mark>" if kinds else piece)
    if any(mark[0] >= len(text) for mark in marks):
        parts.append("<mark> </mark>")  # it points behind the last character
    parts.append("\u2026" if end < len(text) else "")
    labels = "".join([_label(text, mark, len(marks) > 1) for mark in marks if mark[2]])
    return f'<span class="line" data-line="{number}">{"".join(parts)}</span>{labels}'


def _label(text: str, mark: Mark, several: bool) -> str:
    """What a mark is; where a line has several, with what is marked."""
    quoted = ""
    if several:
        marked = text[mark[0] : mark[1]].strip()
        cut = marked if len(marked) <= _QUOTED else marked[: _QUOTED - 1] + "\u2026"
        quoted = f"<mark{'' if mark[3] else _ALSO}>{escaped(cut)}</mark> "
    return f'<span class="label">{quoted}{escaped(mark[2])}</span>'


def _window(length: int, marks: list[Mark]) -> tuple[int, int]:
    """The part of a line that is shown: all of it, or what is around the first mark and as much of the others as fits."""
    if length <= _WIDTH:
        return 0, length
    start = max(0, min(marks[0][0], length) - _AROUND)
    others = [mark[1] for mark in marks if mark[1] <= start + _WIDTH]
    return start, min(length, start + _WIDTH, max([marks[0][1], *others]) + _AROUND)
