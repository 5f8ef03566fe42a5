"""Every suppression in force: what a check leaves out because somebody said so, who said it where, and whether that counts."""

from __future__ import annotations

import os

from servelint.core.finding import Finding
from servelint.core.result import Ignore, Report
from servelint.files.directives import ignores

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from servelint.core.trust import Trust
    from servelint.filters.baseline.entry import Entry
    from servelint.settings.files import SettingsFiles
    from servelint.settings.layers import Layer, Value

COMMENT, BASELINE, SETTING = "comment", "baseline", "setting"
_KEYS = ("select", "ignore", "severity", "exclude", "extend-exclude")
"""Settings that leave something out."""


class Suppression:
    """kind: one of these three;  what: what it is for (rules, paths), as it is written;  reason: what its author says

    path, line, column: where it stands; line 0 for an option or a variable
    hidden:   the findings that it hides, those it would hide where it is not trusted; None where nobody looked for them
    trusted:  whether it counts
    """

    __slots__ = ("column", "hidden", "kind", "line", "path", "reason", "trusted", "what")

    def __init__(
        self,
        kind: str,
        what: str,
        place: tuple[str, int, int],
        *,
        reason: str = "",
        hidden: list[Finding] | None = None,
        trusted: bool = True,
    ) -> None:
        self.kind = kind
        self.what = what
        self.path, self.line, self.column = place
        self.reason = reason
        self.hidden = hidden
        self.trusted = trusted


def every(report: Report, known: list[tuple[Finding, Entry]], asked: SettingsFiles) -> list[Suppression]:
    """Comments by their places, then the entries of the baseline that hide something, then settings."""
    return [*_comments(report, asked.trust), *_entries(known), *_settings(asked)]


def _comments(report: Report, trust: Trust) -> Iterator[Suppression]:
    found: dict[tuple[str, int], tuple[Ignore, list[Finding], bool]] = {}
    for source in report.sources:
        for comment in ignores(source):
            found[(source.path, comment.span.start)] = (
                comment,
                [],
                trust.believes_comment(comment.span, comment.lines),
            )
    for one in report.silenced:
        span = one.comment.span
        comment, hidden, trusted = found.get((span.source.path, span.start), (one.comment, [], True))
        if not any(_same(one.finding, other) for other in hidden):
            hidden.append(one.finding)
        found[(span.source.path, span.start)] = (comment, hidden, trusted and one.trusted)
    for (path, start), (comment, hidden, trusted) in sorted(found.items(), key=lambda item: item[0]):
        what = ", ".join([pattern for pattern, _ in comment.patterns])
        reason = comment.span.text.partition("]")[2].strip()
        place = (path, *comment.span.source.position(start))
        yield Suppression(COMMENT, what, place, reason=reason, hidden=hidden, trusted=trusted)


def _same(one: Finding, other: Finding) -> bool:
    return (one.rule, one.span, one.message) == (other.rule, other.span, other.message)


def _entries(known: list[tuple[Finding, Entry]]) -> Iterator[Suppression]:
    found: dict[int, tuple[Entry, list[Finding]]] = {}
    for finding, entry in known:
        found.setdefault(id(entry), (entry, []))[1].append(finding)
    for entry, hidden in found.values():
        span = entry.site
        until = f"until {entry.expires}" if entry.expires is not None else ""
        reason = ", ".join([part for part in (entry.reason, until) if part])
        place = (span.source.path, *span.source.position(span.start))
        yield Suppression(BASELINE, entry.rule, place, reason=reason, hidden=hidden)


def _settings(asked: SettingsFiles) -> Iterator[Suppression]:
    seen: set[tuple[str, int, int, str]] = set()
    for layer in asked.every_layer():
        for key, value in _said(layer):
            origin = value.origin
            what = f"{key} = {_shown(value.value)}"
            if layer.paths:
                what += f" for {', '.join([glob.text for glob in layer.paths])}"
            place = (origin.name, origin.line, origin.column) if origin.kind == "file" else (origin.name, 0, 0)
            if (*place, what) not in seen:
                seen.add((*place, what))
                yield Suppression(SETTING, what, place)


def _said(layer: Layer) -> Iterator[tuple[str, Value]]:
    """What a layer says that leaves findings or files out, or makes less of them."""
    for key in _KEYS:
        if key in layer.values:
            yield key, layer.values[key]
    for pattern, (_, table) in layer.rules.items():
        for name, value in table.items():
            yield f"{pattern}: {name}", value
    if "baseline" in layer.values:
        yield "baseline", layer.values["baseline"]


def _shown(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join([getattr(one, "text", None) or str(one) for one in value])
    return os.path.relpath(value) if isinstance(value, str) and os.path.isabs(value) else str(value)
