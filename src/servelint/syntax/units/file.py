"""Unit files as systemd reads them: sections of settings, each value a text whose characters keep their places.

The rules are those of systemd's conf-parser.c: a backslash right before the line end joins two lines with a space, comment
lines between them are passed over, and a line without `=` is ignored.
"""

from __future__ import annotations

import re

from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, Piece, Text, unknown

_WHITE = " \t"
_HOLE = re.compile(r"\{\{.*?\}\}")
_HOLE_OF_TEMPLATE = re.compile(r"\{\{.*?\}\}|@[A-Z][A-Z0-9_]*@")
_WORD = re.compile(r"\S+")
_CONTROL = re.compile(r"\s*\{%-?\s*(\w+).*%\}\s*\\?\s*$")


class Setting:
    """One `Key=value`.

    site:  the setting with the lines that continue it
    cut:   the lines after it that look like a part of it and are none
    """

    __slots__ = ("cut", "key", "site", "value")

    def __init__(self, key: str, value: Text, site: Span, cut: Span | None) -> None:
        self.key = key
        self.value = value
        self.site = site
        self.cut = cut


class Section:
    __slots__ = ("name", "settings")

    def __init__(self, name: str) -> None:
        self.name = name
        self.settings: list[Setting] = []


def parse(source: Source, template: bool = False) -> list[Section]:
    """The sections of a unit file. `{{ name }}` is filled in before systemd sees it.

    template: `@NAME@` is, too, and lines may depend on conditions (`{% if name %}`)
    """
    sections = [Section("")]
    lines = _Lines(source, template)
    while lines.at < lines.count:
        start = lines.at
        value = lines.logical()
        flat = value.flat
        if flat[:1] == "[" and flat[-1:] == "]":
            sections.append(Section(flat[1:-1]))
            continue
        key, sign, rest = flat.partition("=")
        if not sign:
            continue
        text = value.cut(len(flat) - len(rest)).strip()
        site = value.extent() or Span(source, source.line_starts[start], source.line_starts[start])
        sections[-1].settings.append(Setting(key.rstrip(), text, site, lines.lost()))
    return sections


class _Lines:
    """The lines of a source, taken one logical line after the other."""

    def __init__(self, source: Source, template: bool) -> None:
        self.source = source
        self.template = template
        self.starts = source.line_starts
        self.count = len(self.starts)
        self.at = 0
        self.branches = 0

    def bounds(self, index: int) -> tuple[int, int]:
        """Where a line's text starts after its indentation, and where it ends."""
        text = self.source.text
        low = self.starts[index]
        high = self.starts[index + 1] if index + 1 < self.count else len(text)
        while high > low and text[high - 1] in "\r\n":
            high -= 1
        while low < high and text[low] in _WHITE:
            low += 1
        return low, high

    def logical(self) -> Text:
        """The next line with what continues it, without blanks around it; empty for a blank line."""
        text = self.source.text
        parts: list[Text] = []
        while self.at < self.count:
            low, high = self.bounds(self.at)
            self.at += 1
            if text[low:high][:1] in ("#", ";") or self.control(low, high):
                if parts:
                    continue
                return EMPTY
            slashes = high - low - len(text[low:high].rstrip("\\"))
            if slashes % 2 == 0:
                parts.append(self.text(low, high))
                break
            parts += [self.text(low, high - 1), Text((Piece(" ", Span(self.source, high - 1, high)),))]
        return Text.join(parts).strip()

    def control(self, low: int, high: int) -> bool:
        """Whether a line belongs to the template (`{% if ... %}`) rather than to the unit."""
        match = _CONTROL.match(self.source.text, low, high) if self.template else None
        if match is not None and match.group(1) in ("if", "for"):
            self.branches += 1
        elif match is not None and match.group(1).startswith("end"):
            self.branches = max(self.branches - 1, 0)
        return match is not None

    def text(self, low: int, high: int) -> Text:
        if low >= high:
            return EMPTY
        whole = Text.at(self.source, low, high)
        # every word of a line that only some settings of the template give
        holes = _WORD if self.branches else _HOLE_OF_TEMPLATE if self.template else _HOLE
        parts: list[Text] = []
        done = 0
        for match in holes.finditer(whole.flat):
            parts += [whole.cut(done, match.start()), Text((unknown(match.group(), whole.span(*match.span())),))]
            done = match.end()
        return Text.join([*parts, whole.cut(done)]) if parts else whole

    def lost(self) -> Span | None:
        """The lines at hand, if they start with an option: systemd ignores them, the line before them does not go on."""
        text = self.source.text
        start, end = -1, -1
        goes_on = False
        for index in range(self.at, self.count):
            low, high = self.bounds(index)
            line = text[low:high]
            if line[:1] == "-" or (goes_on and line):
                start, end = (low if start == -1 else start), high
            elif start != -1 or line[:1] not in ("", "#", ";"):
                break
            goes_on = start != -1 and line.endswith("\\")
        return Span(self.source, start, end) if start != -1 else None
