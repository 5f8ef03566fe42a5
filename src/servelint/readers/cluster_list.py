"""Texts of many Kubernetes objects, of which few start an engine: what `kubectl get` prints, and bundles of manifests.

The others are found fast, by a JSON parser or by the marks between YAML documents, and left out before the text is read with
its places.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise

from servelint.core.text import TracedText
from servelint.engines import entry

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
_NEVER = "CustomResourceDefinition"
"""The kind that never starts anything, and that describes in prose what does."""

_OBJECT = re.compile(r"^(?:apiVersion|kind):[ \t]*[\w\"']", re.MULTILINE)
_OBJECT_OF_BYTES = re.compile(_OBJECT.pattern.encode(), re.MULTILINE)
_DOCUMENT = re.compile(r"(?m)^---(?=[ \t\r\n]|\Z)")
_KIND = re.compile(r"(?m)^(?:- |  )?kind:[ \t]*[\"']?(\w+)")
_LIST_KIND = re.compile(r"(?m)^kind:[ \t]*[\"']?\w*List\b")
_NAMES = re.compile(r"(?m)^ {2,4}name:[ \t]*[\"']?([\w.-]+)")
_ITEMS = re.compile(r"(?m)^items:[ \t]*\r?$")
_ITEM = re.compile(r"(?m)^(?:- |(?=[^\s#-]))")
_HEREDOC = re.compile(r"(?<!<)<<-?[ \t]*(?P<quote>[\"'\\]?)(?P<word>\w+)(?P=quote)?[^\n]*\n")
_LONG = 1 << 14
"""Characters of a here-document that is worth looking into."""


def is_list(head: bytes, path: str = "") -> bool:
    """Whether a text that begins like this is a list of objects in JSON, or has objects in YAML, as its name says."""
    if path.lower().endswith((".yaml", ".yml")):
        return _OBJECT_OF_BYTES.search(head) is not None
    return b'"apiVersion"' in head and _LIST_OF_BYTES.match(head) is not None


def thinned_yaml(text: str) -> str | None:
    """Objects in YAML with blanks instead of what no launch depends on; None where nothing can be left out.

    Every character that is left stands where it stood.
    """
    if _OBJECT.search(text) is None:
        return None
    items: list[_Item] = []
    starts = [match.start() for match in _DOCUMENT.finditer(text)]
    for start, end in pairwise(dict.fromkeys((0, *starts, len(text)))):
        listed = _ITEMS.search(text, start, end)
        if listed is not None and _LIST_KIND.search(text, start, end) is not None:
            places = [match.start() for match in _ITEM.finditer(text, listed.end(), end)]
            items += [_of_yaml(text, *place) for place in pairwise((*places, end)) if text[place[0]] == "-"]
        else:
            items.append(_of_yaml(text, start, end))
    kept = set(_kept(text, items))
    parts, at = [], 0
    for start, end in [item.range for item in items if item.range not in kept]:
        parts += [text[at:start], " " * (end - start - 1), "\n" if end < len(text) else " "]
        at = end
    return "".join([*parts, text[at:]]) if parts else None


def _of_yaml(text: str, start: int, end: int) -> _Item:
    item = _Item(None, start, end)
    kind = _KIND.search(text, start, end)
    item.kind = kind.group(1) if kind is not None else None
    item.names = _NAMES.findall(text, start, end)
    return item


def without_manifests(text: TracedText) -> TracedText:
    """A script without the documents of long here-documents from which no launch follows."""
    flat, parts, done, at = text.flat, [], 0, 0
    while (begin := _HEREDOC.search(flat, at)) is not None:
        end = re.compile(rf"(?m)^\t*{begin['word']}$").search(flat, begin.end())
        at = begin.end() if end is None else end.end()
        if end is None or end.start() - begin.end() < _LONG:
            continue
        first, last = begin.end(), end.start()
        starts = [first + match.start() for match in _DOCUMENT.finditer(flat[first:last])]
        items = [_of_yaml(flat, *place) for place in pairwise(dict.fromkeys((first, *starts, last)))]
        kept = set(_kept(flat, items))
        for start, stop in [item.range for item in items if item.range not in kept]:
            parts.append(text.cut(done, start))
            done = stop
    return TracedText.join([*parts, text.cut(done)]) if parts else text


def thinned(text: str) -> str | None:
    """A list of objects in JSON with blanks instead of what no launch depends on; None for any other text.

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


def stream(text: str) -> list[tuple[int, int]] | None:
    """The places of the manifests that name an engine in a text of several JSON values; None for any other text.

    `kubectl apply` takes such a text. Most such texts hold records instead, one in a line.
    """
    found: list[tuple[int, int]] = []
    count, at = 0, _past_blanks(text, 0)
    while at < len(text):
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None  # the reader says what is wrong with it
        if not isinstance(value, (dict, list)):
            return None
        manifest = isinstance(value, dict) and ({"apiVersion", "kind"} <= value.keys() or "services" in value)
        if manifest and entry.mentions(text[at:end]):
            found.append((at, end))
        count, at = count + 1, _past_blanks(text, end)
    return found if count > 1 else None


def _past_blanks(text: str, at: int) -> int:
    while text[at : at + 1].isspace():
        at += 1
    return at


class _Item:
    __slots__ = ("kind", "names", "range")

    def __init__(self, found: object, start: int, end: int) -> None:
        fields = found if isinstance(found, dict) else {}
        metadata = fields.get("metadata")
        self.kind = fields.get("kind")
        self.names: list[str] = [f'"{metadata.get("name")}"'] if isinstance(metadata, dict) else []
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
        item.kind in _NAME_OTHERS
        or (item.kind != _NEVER and mentions_engine(text[slice(*item.range)].encode("utf-8", "replace")))
        for item in items
    ]
    shown = "\n".join([text[slice(*item.range)] for item, starts in zip(items, starting, strict=True) if starts])
    named = [item.kind in _NAMED_BY_OTHERS and any(name in shown for name in item.names) for item in items]
    return [item.range for item, starts, name in zip(items, starting, named, strict=True) if starts or name]


def _without_bookkeeping(text: str, start: int, end: int) -> str:
    """An object with blanks instead of what the cluster notes down of it."""
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
