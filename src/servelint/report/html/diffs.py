"""What a fix writes, as the lines that go and the lines that come."""

from __future__ import annotations

import re

from servelint.core.finding import Edit, Finding
from servelint.core.secrets import masked_text
from servelint.core.source import Source
from servelint.report.html.markup import escaped
from servelint.report.places import printable, relative

_LINES = 24
"""More are not shown of one place."""
_WIDTH = 400


def diff(finding: Finding) -> str:
    """A figure for each file that a finding's fix changes; none where it may not be printed."""
    if finding.fix is None or not finding.fix.edits or not printable(finding):
        return ""
    edits: dict[int, list[Edit]] = {}
    for edit in finding.fix.edits:
        edits.setdefault(id(edit.span.source), []).append(edit)
    return "".join([_of_source(several, finding.span.source) for several in edits.values()])


def _of_source(edits: list[Edit], own: Source) -> str:
    """own: the finding's file, whose path need not be said"""
    source = edits[0].span.source
    edits = sorted(edits, key=lambda edit: edit.span.start)
    places: list[list[Edit]] = []
    for edit in edits:
        if places and edit.span.line <= source.position(places[-1][-1].span.end)[0] + 1:
            places[-1].append(edit)
        else:
            places.append([edit])
    parts = [part for place in places for part in _place(source, place)]
    head = f"<figcaption>{escaped(relative(source.path))}</figcaption>" if source is not own else ""
    return f'<figure class="frame diff">{head}<pre><code>{"".join(parts)}</code></pre></figure>' if parts else ""


def _place(source: Source, edits: list[Edit]) -> list[str]:
    """The lines of some edits that stand close together, before and after."""
    starts = source.line_starts
    first, last = edits[0].span.line, source.position(edits[-1].span.end)[0]
    start = starts[first - 1]
    end = starts[last] if last < len(starts) else len(source.text)
    parts: list[str] = []
    at = start
    for edit in edits:
        parts += [source.text[at : edit.span.start], edit.text]
        at = edit.span.end
    before, after = _split(source.text[start:end]), _split("".join([*parts, source.text[at:end]]))
    while before and after and before[0] == after[0]:
        del before[0], after[0]
    while before and after and before[-1] == after[-1]:
        del before[-1], after[-1]
    return [*_lines("del", "-", before, source), *_lines("ins", "+", after, source)]


def _split(text: str) -> list[str]:
    lines = re.split("\r\n|\r|\n", text)
    return lines if lines[-1] else lines[:-1]


def _lines(name: str, sign: str, lines: list[str], source: Source) -> list[str]:
    shown = [f'<{name} class="line" data-line="{sign}">{escaped(_masked(line, source))}</{name}>' for line in lines[:_LINES]]
    if len(lines) > _LINES:
        shown.append(f'<span class="more">and {len(lines) - _LINES} more lines</span>')
    return shown


def _masked(line: str, source: Source) -> str:
    line = masked_text(line, source).replace("\t", " ")
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "\u2026"
