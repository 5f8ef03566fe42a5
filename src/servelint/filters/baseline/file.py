"""The file of a baseline: JSON, an entry a line, so that a change of it is read like any other."""

from __future__ import annotations

import json
from datetime import date

from servelint.core.problem import Problem
from servelint.core.source import Source, Span
from servelint.core.text import Text
from servelint.core.trust import EVERYTHING, Trust
from servelint.filters.baseline.entry import Entry
from servelint.syntax import json as json_nodes
from servelint.syntax.json import JsonFault, JsonNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "servelint-baseline.json"
"""Where a baseline is written if nobody says where."""

_VERSION = 1
_TEXTS = ("rule", "path", "launch", "text")
_KEYS = (*_TEXTS, "count", "reason", "expires")
_SIZE_AT_MOST = 64 << 20


class Baseline:
    """source: the file's text;  entries: those that are right;  problems: what is wrong with the others"""

    __slots__ = ("entries", "problems", "source")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.entries: list[Entry] = []
        self.problems: list[Problem] = []


def read(path: str, trust: Trust = EVERYTHING) -> Baseline:
    """The baseline in a file. What is wrong with it is in its problems, each with its place. trust: whose version is read"""
    try:
        data = trust.read(path, _SIZE_AT_MOST)[:_SIZE_AT_MOST]
        found = Baseline(Source(path, data.decode("utf-8-sig")))
    except (OSError, ValueError) as error:
        found = Baseline(Source(path, ""))
        told = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        hint = "; --write-baseline makes it" if isinstance(error, FileNotFoundError) else ""
        found.problems.append(Problem(path, f"the baseline cannot be read: {told}{hint}"))
        return found
    _Reader(found).document()
    return found


def written(entries: list[Entry]) -> str:
    """The text of a baseline's file."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    lines = [encode(_data(entry)) for entry in sorted(entries, key=lambda entry: entry.key)]
    body = "[\n  " + ",\n  ".join(lines) + "\n ]" if lines else "[]"
    return f'{{\n "servelint-baseline": {_VERSION},\n "findings": {body}\n}}\n'


def _data(entry: Entry) -> dict[str, Any]:
    data: dict[str, Any] = {name: getattr(entry, name) for name in _TEXTS}
    if entry.count > 1:
        data["count"] = entry.count
    if entry.reason:
        data["reason"] = entry.reason
    if entry.expires is not None:
        data["expires"] = entry.expires.isoformat()
    return data


class _Reader:
    def __init__(self, into: Baseline) -> None:
        self.into = into
        self.whole = Text.at(into.source, 0, len(into.source.text))

    def wrong(self, node: JsonNode, message: str) -> None:
        span = node.text.span()
        self.fault(message, span.start if span is not None else 0)

    def fault(self, message: str, offset: int) -> None:
        self.into.problems.append(Problem(self.into.source.path, message, *self.into.source.position(offset)))

    def document(self) -> None:
        root = json_nodes.parse(self.whole)
        if isinstance(root, JsonFault):
            self.fault(f"the baseline is not JSON: {root.message}", root.offset)
            return
        version = root.members.get("servelint-baseline")
        if version is None:
            self.wrong(root, 'this is no baseline of servelint: it has no "servelint-baseline"')
            return
        if version[1].value != _VERSION:
            self.wrong(version[1], f"a baseline of format {version[1].text.shown} is not known here; write {_VERSION}")
            return
        for name, (key, _) in root.members.items():
            if name not in ("servelint-baseline", "findings", "$schema"):
                self.wrong(key, f'unknown key "{name}"; a baseline has "findings"')
        findings = root.members.get("findings")
        if findings is None or findings[1].kind != json_nodes.ARRAY:
            self.wrong(findings[1] if findings is not None else root, '"findings" is a list of entries')
            return
        for item in findings[1].items:
            entry = self.entry(item)
            if entry is not None:
                self.into.entries.append(entry)

    def entry(self, node: JsonNode) -> Entry | None:
        before = len(self.into.problems)
        if node.kind != json_nodes.OBJECT:
            self.wrong(node, 'an entry is an object with "rule", "path", "launch" and "text"')
            return None
        texts: dict[str, str] = {}
        for name, (key, value) in node.members.items():
            if name not in _KEYS:
                self.wrong(key, f'unknown key "{name}"; an entry has {", ".join(_KEYS)}')
            elif name in (*_TEXTS, "reason") and not isinstance(value.value, str):
                self.wrong(value, f'"{name}" is a text')
            elif isinstance(value.value, str):
                texts[name] = value.value
        texts.setdefault("launch", "")
        missing = [name for name in _TEXTS if name not in node.members and name != "launch"]
        if missing:
            self.wrong(node, f"the entry has no {' and no '.join(missing)}")
        count = self.count(node)
        day, day_span = self.day(node)
        if len(self.into.problems) > before:
            return None
        return Entry(
            *[texts[name] for name in _TEXTS],
            count=count,
            reason=texts.get("reason", ""),
            expires=day,
            span=node.members["path"][1].text.span(),
            expires_span=day_span,
        )

    def count(self, node: JsonNode) -> int:
        if "count" not in node.members:
            return 1
        value = node.members["count"][1]
        if value.kind == json_nodes.NUMBER and isinstance(value.value, int) and value.value >= 1:
            return value.value
        self.wrong(value, '"count" is a whole number from 1')
        return 1

    def day(self, node: JsonNode) -> tuple[date | None, Span | None]:
        if "expires" not in node.members:
            return None, None
        value = node.members["expires"][1]
        try:
            if isinstance(value.value, str) and len(value.value) == len("2027-01-31"):
                return date.fromisoformat(value.value), value.text.span()
        except ValueError:
            pass
        self.wrong(value, '"expires" is a day such as "2027-01-31"')
        return None, None
