"""Secrets of a file's launches are never printed: not in the lines that a report shows, and not in what findings say."""

from __future__ import annotations

import base64
from bisect import bisect_right

from servelint.core.finding import Finding
from servelint.core.launch import Launch
from servelint.core.source import Source, Span
from servelint.core.text import Text
from servelint.filters.secret_shapes import (
    Part,
    is_filled_in,
    is_secret_name,
    looks,
    mask_of,
    may_look,
    merged,
    named,
    private_keys,
    replaced,
)
from servelint.judge.container import secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MORE = ("hf-token",)
_SHORTEST = 6
"""A shorter one is hidden where it stands, and not looked for elsewhere: it would be found in other words."""
_JOINS = frozenset("\"'\\\r\n\t ")
"""What may stand between two pieces of one value: quotes, the end of a line that goes on."""


class Shown:
    """A line as a report may print it, with a mask for each secret. text: the line;  at: where a column of the file is in it"""

    __slots__ = ("_ends", "_parts", "text")

    def __init__(self, line: str, parts: list[Part]) -> None:
        self._parts = parts
        self._ends: list[tuple[int, int]] = []
        moved = 0
        for start, end in parts:
            width = len(mask_of(line[start:end]))
            self._ends.append((start + moved, start + moved + width))
            moved += width - (end - start)
        self.text = replaced(line, parts) if parts else line

    def at(self, column: int, *, end: bool = False) -> int:
        """Where an offset of the line is; one within a secret is at the beginning of its mask, as an end at its end."""
        index = bisect_right(self._parts, (column, 0 if end else column)) - 1
        if index >= 0 and end and self._parts[index][0] == column:
            index -= 1
        if index < 0:
            return column
        (start, stop), (left, right) = self._parts[index], self._ends[index]
        if column < stop and not (end and column == start):
            return right if end else left
        return column - stop + right


def mask(launches: list[Launch], findings: list[Finding]) -> None:
    """Have the sources that findings show hide the secrets of some launches, and take these out of what the findings say."""
    texts = [text for launch in launches for text in _secrets(launch)]
    if not texts:
        return
    hidden = _values(texts)
    for text in texts:
        for source, parts in _places(text).items():
            source.hidden = merged([*source.hidden, *parts])
    for finding in findings:
        for span in (finding.span, *[related.span for related in finding.related]):
            span.source.secrets = hidden
        finding.message, finding.advice, finding.label = (
            without(text, hidden) for text in (finding.message, finding.advice, finding.label)
        )
        for related in finding.related:
            related.message = without(related.message, hidden)
        if finding.fix is not None:
            finding.fix.title = without(finding.fix.title, hidden)


def secrets_of(launches: list[Launch]) -> tuple[str, ...]:
    """The secrets that stand in some launches, the longest first."""
    return _values([text for launch in launches for text in _secrets(launch)])


def without(text: str, hidden: tuple[str, ...]) -> str:
    """A text with a mask in the place of each of some secrets."""
    for secret in hidden:
        if secret in text:
            text = text.replace(secret, mask_of(secret))
    return text


def hide(data: Any, hidden: tuple[str, ...]) -> Any:
    """Data for a program with a mask in the place of each of some secrets, in its texts."""
    if isinstance(data, str):
        return without(data, hidden)
    if isinstance(data, dict):
        return {name: hide(value, hidden) for name, value in data.items()}
    if isinstance(data, list):
        return [hide(one, hidden) for one in data]
    return data


def words(launch: Launch) -> list[str]:
    """The words of a launch as a listing prints them; an expansion that adds none in a plain run (`"$@"`) is left out."""
    found: list[str] = []
    before = ""
    for word in launch.argv:
        shown = word.shown
        if shown or not word.many:
            name, sign, value = shown.partition("=")
            if _is_option(before) and not shown.startswith("--"):
                shown = _named(word.text, shown)
            elif sign and _is_option(name):
                shown = f"{name}={_named(word.text.cut(len(name) + 1), value)}"
            found.append(of_word("", shown))
        before = word.text.flat
    return found


def _named(text: Text, shown: str) -> str:
    return mask_of(shown) if text.value and not is_filled_in(text.value) else shown


def holds_secret(text: str, hidden: tuple[str, ...]) -> bool:
    """Whether a text has any of some secrets in it, or one by how it looks."""
    return any(secret in text for secret in hidden) or bool(looks(text))


def shown(source: Source, line: int) -> Shown:
    """A 1-based line as a report may print it."""
    text = source.line_text(line)
    start = source.line_starts[line - 1] if 1 <= line <= len(source.line_starts) else 0
    return Shown(text, _within(_parts(source, line, line), start, start + len(text)))


def of_span(span: Span) -> str:
    """The characters of a span as they may be printed."""
    parts = _parts(span.source, span.line, span.end_line)
    return replaced(span.text, _within(parts, span.start, span.end)) if parts else span.text


def of_text(text: str, source: Source) -> str:
    """A text that was made of a source's, such as a line that a fix writes, as it may be printed."""
    return replaced(text, merged([*looks(text), *named(text), *_found(text, source.secrets)]))


def of_word(name: str, value: str) -> str:
    """A value as a listing prints it, by the name that it has there. name: of an option or a variable, "" for none"""
    if name and is_secret_name(name.lstrip("-")) and value and not value.isdecimal() and not is_filled_in(value):
        return mask_of(value)
    return replaced(value, merged([*looks(value), *named(value)]))


def _values(texts: list[Text]) -> tuple[str, ...]:
    values = {text.value for text in texts if text.value is not None and len(text.value) >= _SHORTEST}
    return tuple(sorted(values, key=lambda value: (-len(value), value)))


def _parts(source: Source, first: int, last: int) -> list[Part]:
    """Where secrets stand in some lines of a source: what its launches and its findings know of them, and what looks like one.

    A name may stand in the line before its value. What is worked out for lines is kept for the next finding there.
    """
    key = (first, last, len(source.hidden), source.secrets)
    if key not in source.masks:
        starts = source.line_starts
        start = starts[min(max(first - 3, 0), len(starts) - 1)]
        end = starts[last + 1] if last + 1 < len(starts) else len(source.text)
        text = source.text[start:end]
        near = [*looks(text), *named(text), *_found(text, source.secrets)]
        found = [*source.hidden, *[(left + start, right + start) for left, right in near]]
        source.masks[key] = merged([*found, *private_keys(source.text)])
    return source.masks[key]


def _found(text: str, hidden: tuple[str, ...]) -> list[Part]:
    """Where some secrets stand in a text, also as base64."""
    found: list[Part] = []
    for secret in hidden:
        for written in (secret, base64.b64encode(secret.encode("utf-8", "surrogatepass")).decode()):
            at = text.find(written)
            while at != -1:
                found.append((at, at + len(written)))
                at = text.find(written, at + len(written))
    return found


def _within(parts: list[Part], start: int, end: int) -> list[Part]:
    """The parts between two offsets, counted from the first."""
    return [(max(left, start) - start, min(right, end) - start) for left, right in parts if left < end and right > start]


def _places(text: Text) -> dict[Source, list[Part]]:
    """Where the pieces of a secret are written; the quotes between two of them belong to it."""
    found: dict[Source, list[Part]] = {}
    for piece in text.pieces:
        for span in (piece.span, piece.origin):
            if span is None or piece.expression is not None or span.text.startswith(("$", "{{", "%")):
                continue  # the place that uses a variable: what it holds stands elsewhere
            parts = found.setdefault(span.source, [])
            between = span.source.text[parts[-1][1] : span.start] if parts else "-"
            if len(between) <= 64 and _JOINS.issuperset(between):
                parts[-1] = (parts[-1][0], max(parts[-1][1], span.end))
            else:
                parts.append((span.start, span.end))
    return found


def _secrets(launch: Launch) -> list[Text]:
    """The values of a launch that are secrets by the name of their option or variable, or by how they look."""
    values = [variable.value for variable in launch.env.values()]
    told = [word.text.flat for word in launch.argv] + [value.flat for value in values if value is not None]
    any_look = may_look("\n".join(told))
    found: list[Text] = []
    before = ""
    for word in launch.argv:
        flat = word.text.flat
        name, sign, _ = flat.partition("=")
        if _is_option(before) and not flat.startswith("--"):
            found.append(word.text)
        elif sign and _is_option(name):
            found.append(word.text.cut(len(name) + 1))
        elif any_look:
            found += [word.text.cut(start, end) for start, end in looks(flat)]
        before = flat
    for name, variable in launch.env.items():
        value = variable.value
        if value is not None and (name.endswith(secrets.ENDS) or is_secret_name(name)):
            found.append(value)
        elif value is not None and any_look:
            found += [value.cut(start, end) for start, end in looks(value.flat)]
    return [text for text in found if text.value and not is_filled_in(text.value)]


def _is_option(word: str) -> bool:
    if not word.startswith("--"):
        return False
    name = word[2:].replace("_", "-")
    return name in secrets.OPTIONS or name in _MORE or is_secret_name(name)
