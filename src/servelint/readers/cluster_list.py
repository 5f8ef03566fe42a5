"""What `kubectl get -o json` prints of a cluster: a list of thousands of objects, of which few start an engine.

The others are found at the speed of a JSON parser and left out before the text is read with its places.
"""

from __future__ import annotations

import json
import re

_HEAD = (
    r'\s*\{\s*(?:"(?:apiVersion|kind)"\s*:\s*"[^"\\]{0,200}"\s*,\s*|"metadata"\s*:\s*\{[^{}]{0,2000}\}\s*,\s*){0,3}'
    r'"items"\s*:\s*\['
)
_LIST = re.compile(_HEAD)
_LIST_OF_BYTES = re.compile(_HEAD.encode())
_BETWEEN = re.compile(r"\s*,?\s*")
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)
_NAMED_BY_OTHERS = ("ConfigMap", "Secret")
_NAME_OTHERS = ("InferenceService",)  # a runtime that it names starts the engine


def is_list(head: bytes) -> bool:
    """Whether a text that begins like this is a list of objects in JSON."""
    return b'"apiVersion"' in head and _LIST_OF_BYTES.match(head) is not None


def thinned(text: str) -> str | None:
    """A list of objects with blanks in the place of what no launch depends on; None for any other text.

    Every character that is left stands where it stood.
    """
    match = _LIST.match(text)
    if match is None:
        return None
    try:
        items, end = _items(text, match.end())
    except (ValueError, RecursionError):
        return None  # the reader says what is wrong with it
    kept = _kept(text, items)
    parts = [text[: match.end()]]
    at = match.end()
    for number, (start, stop) in enumerate(kept):
        parts += [" " * (start - at), _without_bookkeeping(text, start, stop)]
        at = stop
        if number + 1 < len(kept):
            parts.append(",")
            at += 1
    return "".join([*parts, " " * (end - at), text[end:]])


class _Item:
    __slots__ = ("kind", "name", "range")

    def __init__(self, found: object, start: int, end: int) -> None:
        fields = found if isinstance(found, dict) else {}
        metadata = fields.get("metadata")
        self.kind = fields.get("kind")
        self.name = metadata.get("name") if isinstance(metadata, dict) else None
        self.range = (start, end)


def _items(text: str, at: int) -> tuple[list[_Item], int]:
    """The items of a list whose bracket stands before an offset, and where the closing one stands. Raises ValueError."""
    found: list[_Item] = []
    at = _end(text, at)
    while text[at : at + 1] != "]":
        item, end = _DECODER.raw_decode(text, at)
        found.append(_Item(item, at, end))
        at = _end(text, end)
    return found, at


def _end(text: str, at: int) -> int:
    """The offset of what follows blanks and a comma."""
    match = _BETWEEN.match(text, at)
    return match.end() if match is not None else at


def _kept(text: str, items: list[_Item]) -> list[tuple[int, int]]:
    """The places of the objects that start engines, and of those that they name."""
    from servelint.readers import mentions_engine

    starting = [
        item.kind in _NAME_OTHERS or mentions_engine(text[slice(*item.range)].encode("utf-8", "replace")) for item in items
    ]
    shown = "\n".join([text[slice(*item.range)] for item, starts in zip(items, starting, strict=True) if starts])
    named = [item.kind in _NAMED_BY_OTHERS and f'"{item.name}"' in shown for item in items]
    return [item.range for item, starts, name in zip(items, starting, named, strict=True) if starts or name]


def _without_bookkeeping(text: str, start: int, end: int) -> str:
    """An object with blanks in the place of what the cluster notes down of it."""
    if text[start : start + 1] != "{":
        return text[start:end]
    places = []
    for key, first, last in _members(text, start):
        if key == "status":
            places.append((first, last))
        elif key == "metadata" and text[first] == "{":
            places += [(low, high) for name, low, high in _members(text, first) if name == "managedFields"]
    parts, at = [], start
    for first, last in places:
        if last - first >= len("null"):
            parts += [text[at:first], "null", " " * (last - first - len("null"))]
            at = last
    return "".join([*parts, text[at:end]])


def _members(text: str, at: int) -> list[tuple[str, int, int]]:
    """The keys of an object that is known to be JSON, each with the place of its value."""
    found: list[tuple[str, int, int]] = []
    at = _end(text, at + 1)
    while text[at] != "}":
        key, end = _DECODER.raw_decode(text, at)
        first = _end(text, text.index(":", end) + 1)
        _, last = _DECODER.raw_decode(text, first)
        found.append((key, first, last))
        at = _end(text, last)
    return found
