"""What the command line says of a text, as a language server has to tell it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol import types

from servelint.core.finding import Finding
from servelint.lint import check
from servelint.settings.files import SettingsFiles
from tests.lsp.editing import Edit

SEVERITIES = {"error": 1, "warning": 2, "info": 3}
_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}


class Told(NamedTuple):
    """A diagnostic, where its place is offsets of the text; related: places and messages in the same file."""

    start: int
    end: int
    code: str
    severity: int
    message: str
    related: tuple[tuple[int, int, str], ...]


def offset(text: str, position: types.Position, encoding: str) -> int:
    """The offset of a position, by encoding the line as the protocol says."""
    lines = text.replace("\r\n", "\n").split("\n")
    coded = lines[position.line].encode(f"{encoding}-le" if encoding != "utf-8" else encoding)
    before = coded[: position.character * _BYTES[encoding]].decode(f"{encoding}-le" if encoding != "utf-8" else encoding)
    return sum(len(line) + 1 for line in lines[: position.line]) + len(before)


def position(text: str, at: int, encoding: str) -> types.Position:
    before = text[:at].split("\n")
    coded = before[-1].encode(f"{encoding}-le" if encoding != "utf-8" else encoding)
    return types.Position(len(before) - 1, len(coded) // _BYTES[encoding])


def of_server(text: str, diagnostics: Sequence[types.Diagnostic], encoding: str, uri: str) -> list[Told]:
    def places(place: types.Range) -> tuple[int, int]:
        return offset(text, place.start, encoding), offset(text, place.end, encoding)

    return sorted(
        Told(
            *places(one.range),
            str(one.code),
            int(one.severity or 0),
            one.message,
            tuple(
                (*places(other.location.range), other.message)
                for other in one.related_information or []
                if other.location.uri == uri
            ),
        )
        for one in diagnostics
    )


class Checked(NamedTuple):
    """What a check says of a file: its findings, and what could not be parsed of it."""

    findings: list[Told]
    problems: list[Any]


def checked(path: Path) -> Checked:
    report = check([str(path)], SettingsFiles(isolated=True))
    return Checked([_of_finding(one, str(path)) for one in report.findings], report.errors)


def _of_finding(finding: Finding, path: str) -> Told:
    span = finding.span
    related = tuple((one.span.start, one.span.end, one.message) for one in finding.related if one.span.source.path == path)
    if span.source.path != path:
        start, end, _ = related[0]
    else:
        start, end = span.start, span.end
    others = tuple(one for one in related if one[:2] != (start, end))
    return Told(start, end, finding.rule, SEVERITIES[finding.severity], finding.sentence, others)


class Kept:
    """The findings of a text that could be parsed, and where each of its characters is in the text as it is now."""

    def __init__(self, text: str, findings: list[Told]) -> None:
        self.findings = findings
        self._was: list[int | None] = list(range(len(text)))

    def edit(self, edit: Edit) -> None:
        self._was[edit.start : edit.end] = [None] * len(edit.text)

    def told(self) -> list[Told]:
        found = []
        for one in self.findings:
            place = self._place(one.start, one.end)
            if place is not None:
                others = [(self._place(start, end), said) for start, end, said in one.related]
                related = tuple((*where, said) for where, said in others if where is not None)
                found.append(one._replace(start=place[0], end=place[1], related=related))
        return found

    def _place(self, start: int, end: int) -> tuple[int, int] | None:
        if start not in self._was:
            return None
        at = self._was.index(start)
        return (at, at + end - start) if self._was[at : at + end - start] == list(range(start, end)) else None
