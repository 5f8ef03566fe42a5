"""Findings of changed code (`--changed-since`): those with a changed line, and those of launches that changed."""

from __future__ import annotations

import os
from collections import Counter

from servelint.core.finding import Finding, variables
from servelint.core.launch import Launch
from servelint.core.result import Report
from servelint.core.source import Source, Span
from servelint.files.git import Changes
from servelint.files.project import Project
from servelint.files.siblings import Neighbours
from servelint.judge.judging import judge
from servelint.readers import read
from servelint.readers.discover import decode
from servelint.settings.files import SettingsFiles
from servelint.settings.layers import IN_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.settings.files import SettingsSource

    Content = tuple[object, ...]

_HARDWARE = ("gpu", "gpu-count")
"""Settings that name the hardware of a launch."""


def narrow(report: Report, changes: Changes, asked: SettingsSource) -> None:
    """Leave in a report the findings that changes touch, and count the others in `report.unchanged`.

    A finding is touched if a line that it points at is new or changed, or if its launch changed: one of its lines, a variable,
    a file that it takes values from, or the settings that name its hardware or release.

    Args:
        report: the report, which is changed.
        changes: the changes since a revision.
        asked: the settings of each path.
    """
    files: dict[str, _File] = {}
    kept: list[Finding] = []
    for finding in report.findings:
        source = finding.launch.source if finding.launch is not None else finding.span.source
        if source.path not in files:
            files[source.path] = _File(source, changes, asked)
        outside = changes.place(finding.span.source.path) is None  # git does not know whether it changed
        if outside or _touched(finding, changes) or files[source.path].has(finding):
            kept.append(finding)
    report.unchanged += len(report.findings) - len(kept)
    report.findings = kept


def _touched(finding: Finding, changes: Changes) -> bool:
    """Return whether a line that a finding points at is new or changed."""
    return any(_is_new(span, changes) for span in (finding.span, *[related.span for related in finding.related]))


def _is_new(span: Span, changes: Changes) -> bool:
    change = changes.of(span.source.path)
    return change is not None and change.touches(span.line, span.end_line)


class _File:
    """A file with launches, compared with its content at the revision."""

    def __init__(self, source: Source, changes: Changes, asked: SettingsSource) -> None:
        self.source = source
        self.changes = changes
        self.change = changes.of(source.path)
        self.asked = asked
        self._disk = Project(
            os.path.dirname(source.path) or ".", asked.of(source.path).read_outside, trust=asked.of(source.path).trust
        )
        self._same: Counter[tuple[object, ...]] | None = None
        self._all: bool | None = None
        self._now: dict[tuple[int, int], list[Content]] = {}

    def has(self, finding: Finding) -> bool:
        launch = finding.launch
        if launch is None:
            return False
        if self.change is not None and self.change.touches(launch.line, launch.end_line):
            return True
        if isinstance(self.asked, SettingsFiles):
            keys = (*_HARDWARE, *(["engine-versions"] if finding.release_from == "settings" else []))
            if _set_anew(self.asked, self.source, self.changes, keys):
                return True
        if self._all is None:
            self._all = self._compare()
        if self._all:
            return True
        if self._same is None:
            return False
        now = self._now.get((launch.site.start, launch.site.end), [])
        return not now or any(not self._same[one] for one in now)

    def _compare(self) -> bool:
        """Read the file as it is and as it was. Returns whether all of it counts as changed."""
        launches, used = self._read()
        if self.change is None and not self._changed(used):
            # a file that only rules look at may have changed: what a model's folder holds
            settings = self.asked.of(self.source.path)
            launches, used = self._read()
            for launch in launches:
                judge(launch, settings)
            return self._changed(used)
        before = self._before()
        if before is None:
            return True
        self._same = Counter(_content(launch) for launch in before)
        for launch in launches:
            self._now.setdefault((launch.site.start, launch.site.end), []).append(_content(launch))
        return False

    def _read(self) -> tuple[list[Launch], list[str]]:
        """Read the file as it is. Returns its launches, and a list that gets each other file as soon as it is read."""
        used: list[str] = []

        def fetch(path: str) -> bytes | None:
            used.append(path)
            return self._disk(path)

        folder = os.path.dirname(self.source.path)
        again = Source(self.source.path, self.source.text, self.source.encoding)
        return read(again, Neighbours(folder or ".", folder, fetch)).launches, used

    def _changed(self, paths: list[str]) -> bool:
        return any(self.changes.is_changed(path) for path in paths)

    def _before(self) -> list[Launch] | None:
        """Return the launches of the file at the revision; None if the file did not exist."""
        place = self.changes.place(self.source.path)
        old = self.change.old if self.change is not None else place
        data = self.changes.before(old) if old is not None else None
        if old is None or data is None:
            return None
        folder = os.path.dirname(self.changes.full(old))
        source = decode(self.source.path, data)
        return read(source, Neighbours(folder, folder, self._fetch)).launches if isinstance(source, Source) else []

    def _fetch(self, path: str) -> bytes | None:
        """Read a file as it was at the revision; a file that git does not track, as it is."""
        place = self.changes.place(path)
        if place is None or path.endswith("/"):
            return self._disk(path)
        if self.changes.files.get(place) is None and place not in self.changes.gone:
            return self._disk(path)
        return self.changes.before(place)


def _set_anew(asked: SettingsFiles, source: Source, changes: Changes, keys: tuple[str, ...]) -> bool:
    """Return whether a changed line of a settings file sets one of some keys for a file."""
    governing, absolute = asked.governing(source.path)
    values = [layer.values[key] for layer in governing.layers_of(absolute) for key in keys if key in layer.values]
    places = [place for value in values for place in (value.origin, *value.parts.values()) if place.kind == IN_FILE]
    found = [(changes.of(place.name), place.line) for place in places]
    return any(change is not None and change.touches(line, line) for change, line in found)


def _content(launch: Launch) -> Content:
    """Return all that a launch is, without its place."""
    container = launch.container
    settings = {name: text.shown for name, text in container.settings.items()} if container is not None else {}
    runtime = container.runtime if container is not None else None
    held = repr([(port.number, port.host, port.exposed) for port in runtime.ports or []]) if runtime is not None else ""
    asks = repr([(one.kind, one.patience, one.port, one.gates) for one in runtime.probes]) if runtime is not None else ""
    mounts = tuple([one.shown for one in runtime.mounts or []]) if runtime is not None else ()
    return (
        launch.engine,
        launch.name,
        tuple([word.shown for word in launch.verb]),
        tuple([word.shown for word in launch.argv]),
        tuple(sorted(variables(launch).items(), key=repr)),
        launch.release.release,
        launch.release.rolling,
        launch.image.shown if launch.image is not None else None,
        tuple(sorted(settings.items())),
        (container.gpus, container.reserved) if container is not None else None,
        (held, asks, mounts),
        launch.open_env,
    )
