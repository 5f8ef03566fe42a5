"""Which findings changed code touches: those with a changed line, and those of launches that are not what they were."""

from __future__ import annotations

import os
from collections import Counter

from servelint.core.effect import variables
from servelint.core.finding import Finding
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
"""Settings that say what a launch is run on."""


def narrow(report: Report, changes: Changes, asked: SettingsSource) -> None:
    """Leave in a report the findings that changed code touches, and count the others.

    A finding is touched if a line that it points at is new or changed, or if anything of its launch is: a line of it, a
    variable, a file that it takes values from, the settings file that holds for it.
    """
    files: dict[str, _File] = {}
    kept: list[Finding] = []
    for finding in report.findings:
        source = finding.launch.source if finding.launch is not None else finding.span.source
        if source.path not in files:
            files[source.path] = _File(source, changes, asked)
        outside = changes.place(finding.span.source.path) is None  # nobody says whether it has changed
        if outside or _touched(finding, changes) or files[source.path].has(finding):
            kept.append(finding)
    report.unchanged += len(report.findings) - len(kept)
    report.findings = kept


def _touched(finding: Finding, changes: Changes) -> bool:
    """Whether a line that a finding points at is new or changed."""
    return any(_is_new(span, changes) for span in (finding.span, *[related.span for related in finding.related]))


def _is_new(span: Span, changes: Changes) -> bool:
    change = changes.of(span.source.path)
    return change is not None and change.touches(span.line, span.end_line)


class _File:
    """A file with launches, compared with what it was."""

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
        """Whether the launch of a finding in the file is not what it was."""
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
        """Read the file as it is and as it was; gives whether all of it counts as changed."""
        used: list[str] = []

        def fetch(path: str) -> bytes | None:
            used.append(path)
            return self._disk(path)

        folder = os.path.dirname(self.source.path)
        now = read(Source(self.source.path, self.source.text, self.source.encoding), Neighbours(folder or ".", folder, fetch))
        if self.change is None and not any(self.changes.is_changed(path) for path in used):
            return self._judged_otherwise(folder)
        before = self._before()
        if before is None:
            return True
        self._same = Counter(_content(launch) for launch in before)
        for launch in now.launches:
            self._now.setdefault((launch.site.start, launch.site.end), []).append(_content(launch))
        return False

    def _judged_otherwise(self, folder: str) -> bool:
        """Whether a file has changed that only rules look at: what a model's folder holds."""
        used: list[str] = []

        def fetch(path: str) -> bytes | None:
            used.append(path)
            return self._disk(path)

        again = Source(self.source.path, self.source.text, self.source.encoding)
        settings = self.asked.of(self.source.path)
        for launch in read(again, Neighbours(folder or ".", folder, fetch)).launches:
            judge(launch, settings)
        return any(self.changes.is_changed(path) for path in used)

    def _before(self) -> list[Launch] | None:
        """The launches of the file at the revision; None if it was not there, or was none that can be read."""
        place = self.changes.place(self.source.path)
        old = self.change.old if self.change is not None else place
        data = self.changes.before(old) if old is not None else None
        if old is None or data is None:
            return None
        path = self.changes.full(old)
        folder = os.path.dirname(path)
        source = decode(self.source.path, data)
        return read(source, Neighbours(folder, folder, self._fetch)).launches if isinstance(source, Source) else []

    def _fetch(self, path: str) -> bytes | None:
        """A file as it was at the revision. What git does not follow is taken as it is."""
        place = self.changes.place(path)
        if place is None:
            return self._disk(path)
        change = self.changes.files.get(place)
        if change is None and place not in self.changes.gone:
            return self._disk(path)
        return self.changes.before(place)


def _set_anew(asked: SettingsFiles, source: Source, changes: Changes, keys: tuple[str, ...]) -> bool:
    """Whether a changed line of a settings file says what a launch of the file is run on."""
    governing, absolute = asked.governing(source.path)
    said = [layer.values[key] for layer in governing.layers_of(absolute) for key in keys if key in layer.values]
    places = [place for value in said for place in (value.origin, *value.parts.values()) if place.kind == IN_FILE]
    found = [(changes.of(place.name), place.line) for place in places]
    return any(change is not None and change.touches(line, line) for change, line in found)


def _content(launch: Launch) -> Content:
    """All that a launch is, without its place."""
    container = launch.container
    settings = {name: text.shown for name, text in container.settings.items()} if container is not None else {}
    hosting = container.hosting if container is not None else None
    held = repr([(port.number, port.host, port.exposed) for port in hosting.ports or []]) if hosting is not None else ""
    asks = repr([(one.kind, one.patience, one.port, one.gates) for one in hosting.probes]) if hosting is not None else ""
    mounts = tuple([one.shown for one in hosting.mounts or []]) if hosting is not None else ()
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
