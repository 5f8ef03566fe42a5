"""Every suppression in force (`--show-suppressed`): comments, baseline entries and settings, with place and trust."""

from __future__ import annotations

import os
from dataclasses import dataclass

from servelint.core.finding import Finding
from servelint.core.result import Ignore, Report
from servelint.files.directives import ignores

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from servelint.core.trust import Trust
    from servelint.filters.baseline import Entry
    from servelint.settings.files import SettingsFiles
    from servelint.settings.layers import Layer, Value

COMMENT, BASELINE, SETTING = "comment", "baseline", "setting"
_KEYS = ("select", "ignore", "severity", "exclude", "extend-exclude")
"""Settings that leave something out."""


@dataclass(slots=True)
class Suppression:
    """Something that leaves findings or files out of a check.

    Attributes:
        kind: COMMENT, BASELINE or SETTING.
        what: the rules or paths that it is for, as written.
        path: the file that has it; the option or the variable where `line` is 0.
        line: its line, from 1.
        column: its column, from 1.
        reason: the reason that its author gives.
        hidden: the findings that it hides, or would hide if it were trusted; None where that is not determined.
        trusted: whether it counts.
    """

    kind: str
    what: str
    path: str
    line: int
    column: int
    reason: str = ""
    hidden: list[Finding] | None = None
    trusted: bool = True


def every(report: Report, known: list[tuple[Finding, Entry]], asked: SettingsFiles) -> list[Suppression]:
    """Return comments by their places, then the entries of the baseline that hide something, then settings.

    Args:
        report: a report whose `silenced` has what comments cover.
        known: findings that the baseline accepts, with their entries.
        asked: the settings files of the run.
    """
    return [*_comments(report, asked.trust), *_entries(known), *_settings(asked)]


def _comments(report: Report, trust: Trust) -> Iterator[Suppression]:
    found: dict[tuple[str, int], tuple[Ignore, list[Finding], bool]] = {}
    for source in report.sources:
        for comment in ignores(source):
            found[(source.path, comment.span.start)] = (comment, [], trust.believes_comment(comment.span, comment.lines))
    for one in report.silenced:
        span = one.comment.span
        comment, hidden, trusted = found.get((span.source.path, span.start), (one.comment, [], True))
        key = (one.finding.rule, one.finding.span, one.finding.message)
        if key not in [(other.rule, other.span, other.message) for other in hidden]:
            hidden.append(one.finding)
        found[(span.source.path, span.start)] = (comment, hidden, trusted and one.trusted)
    for (path, start), (comment, hidden, trusted) in sorted(found.items(), key=lambda item: item[0]):
        what = ", ".join([pattern for pattern, _ in comment.patterns])
        reason = comment.span.text.partition("]")[2].strip()
        yield Suppression(COMMENT, what, path, *comment.span.source.position(start), reason, hidden, trusted)


def _entries(known: list[tuple[Finding, Entry]]) -> Iterator[Suppression]:
    found: dict[int, tuple[Entry, list[Finding]]] = {}
    for finding, entry in known:
        found.setdefault(id(entry), (entry, []))[1].append(finding)
    for entry, hidden in found.values():
        span = entry.site
        until = f"until {entry.expires}" if entry.expires is not None else ""
        reason = ", ".join([part for part in (entry.reason, until) if part])
        yield Suppression(BASELINE, entry.rule, span.source.path, *span.source.position(span.start), reason, hidden)


def _settings(asked: SettingsFiles) -> Iterator[Suppression]:
    seen: set[tuple[str, int, int, str]] = set()
    for layer in asked.every_layer():
        for key, value in _left_out(layer):
            origin = value.origin
            what = f"{key} = {_shown(value.value)}"
            if layer.paths:
                what += f" for {', '.join([glob.text for glob in layer.paths])}"
            place = (origin.name, origin.line, origin.column) if origin.kind == "file" else (origin.name, 0, 0)
            if (*place, what) not in seen:
                seen.add((*place, what))
                yield Suppression(SETTING, what, *place)


def _left_out(layer: Layer) -> Iterator[tuple[str, Value]]:
    """Yield the settings of a layer that leave findings or files out, or change their severity."""
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
