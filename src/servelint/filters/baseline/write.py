"""Writing a baseline anew: what is found now, with the reasons and days that entries had."""

from __future__ import annotations

import os

from servelint.core.result import Report
from servelint.filters.baseline import entry as entries
from servelint.filters.baseline.entry import Entry
from servelint.filters.baseline.file import Baseline
from servelint.filters.baseline.match import match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date

    from servelint.settings.files import SettingsSource


class Renewed:
    """entries: those of the new baseline;  added, gone, moved: how many findings are new, no longer there, elsewhere"""

    __slots__ = ("added", "entries", "gone", "moved")

    def __init__(self, entries: list[Entry], added: int, gone: int, moved: int) -> None:
        self.entries = entries
        self.added = added
        self.gone = gone
        self.moved = moved


def renew(report: Report, baseline: Baseline, asked: SettingsSource, today: date) -> Renewed:
    """The entries that accept every finding of a report.

    An entry keeps its reason and its day, also where its finding moved; one whose day is over stays so. Entries of files that
    were not looked at, or could not be read, stay as they are.
    """
    folder = os.path.dirname(baseline.source.path) or "."
    found = match(report, baseline, asked, today)
    made: dict[tuple[object, ...], Entry] = {}

    def add(new: Entry, old: Entry | None) -> None:
        reason, expires = (old.reason, old.expires) if old is not None else ("", None)
        key = (*new.key, reason, expires)
        if key in made:
            made[key].count += new.count
        else:
            made[key] = Entry(new.rule, new.path, new.launch, new.text, count=new.count, reason=reason, expires=expires)

    used: dict[Entry, int] = {}
    for finding, old in [*found.known, *found.expired]:
        used[old] = used.get(old, 0) + 1
        add(entries.of(finding, folder), old)
    for finding in found.new:
        add(entries.of(finding, folder), None)
    gone = 0
    for entry in baseline.entries:
        left = entry.count - used.get(entry, 0)
        if entry in found.stale:
            gone += left
        elif left:
            add(Entry(*_texts(entry), count=left), entry)
    return Renewed(list(made.values()), len(found.new), gone, len(found.moved))


def _texts(entry: Entry) -> tuple[str, str, str, str]:
    return entry.rule, entry.path, entry.launch, entry.text
