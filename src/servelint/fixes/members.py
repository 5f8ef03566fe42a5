"""Keys of JSON options: where they stand, and the edits that take them out or write others."""

from __future__ import annotations

import json

from servelint.core.finding import Edit
from servelint.core.source import Span
from servelint.engines.config import Reading
from servelint.fixes.entries import entry_removal
from servelint.syntax.json import OBJECT, JsonNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-")
"""Characters that need no quoting anywhere."""
_QUOTES = ('\\\\\\"', '\\"', '"')


def node(reading: Reading, name: str) -> JsonNode | None:
    """The JSON value of an option or of a key of it: `speculative-config.model`."""
    head, _, path = name.partition(".")
    found = reading.parsed(head)
    for key in path.split(".") if path else []:
        if found is None or found.kind != OBJECT or key not in found.members:
            return None
        found = found.members[key][1]
    return found


def member(reading: Reading, name: str) -> tuple[JsonNode, JsonNode] | None:
    """A key of a JSON option and its value."""
    above, _, key = name.rpartition(".")
    found = node(reading, above) if above and above != "effective" else None
    return found.members.get(key) if found is not None and found.kind == OBJECT else None


def removal(reading: Reading, option: str, path: str) -> Edit | None:
    """The edit that takes a key out, with its value and its comma."""
    above, _, key = path.rpartition(".")
    found = node(reading, f"{option}.{above}" if above else option)
    if found is None or found.open:
        return None
    if _is_made(found):
        content, value = found.members[key][0].content.span(), found.members[key][1].text.span()
        return entry_removal(content, value) if content is not None else None
    places: list[tuple[Span, Span]] = []
    for one, other in found.members.values():
        start, end = one.text.span(), other.text.span()
        if start is None or end is None:
            return None
        places.append((start, end))
    at = list(found.members).index(key)
    start, end = places[at]
    if at + 1 < len(places):
        return Edit(Span(start.source, start.start, places[at + 1][0].start), "")
    return Edit(Span(start.source, places[at - 1][1].end if at else start.start, end.end), "")


def addition(reading: Reading, option: str, key: str, text: str) -> Edit | None:
    """The edit that writes a key behind the others, in their layout."""
    found = node(reading, option)
    if found is None or found.kind != OBJECT or found.open or not found.members or "." in key or _is_made(found):
        return None
    last_key, last = list(found.members.values())[-1]
    end, quote = last.text.span(), _quote_of(last_key)
    if end is None or quote is None or not PLAIN.issuperset(text):
        return None
    spaced = ": " in found.text.flat or ", " in found.text.flat
    written = text if is_literal(text) else quote + text + quote
    line = f"{quote}{key}{quote}{': ' if spaced else ':'}{written}"
    return Edit(Span(end.source, end.end, end.end), (", " if spaced else ",") + line)


def literal(text: str) -> Any:
    """The value of a text: what JSON makes of it, else the text."""
    return json.loads(text) if is_literal(text) else text


def is_literal(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_made(found: JsonNode) -> bool:
    """Whether an object is made from a mapping of another format, which has no braces in the file."""
    span = found.text.span(0, 1)
    return span is None or span.text != "{"


def _quote_of(key: JsonNode) -> str | None:
    """How the quotes of a key stand in the file: escaped in a string of another format."""
    span = key.text.span(0, 1)
    return span.text if span is not None and span.text in _QUOTES else None
