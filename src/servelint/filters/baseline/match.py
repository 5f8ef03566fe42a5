"""Holding the findings of a check against a baseline: what is known, what moved, what is gone, what is accepted no longer."""

from __future__ import annotations

import os
from collections import defaultdict

from servelint.core import own_rules
from servelint.core.finding import SEVERITIES, Finding, Related
from servelint.core.own_rules import MOVED_ENTRY, STALE_ENTRY
from servelint.core.result import Report
from servelint.filters.baseline import entry as entries
from servelint.filters.baseline.entry import Entry
from servelint.filters.baseline.file import Baseline
from servelint.rules.load import every

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date

    from servelint.settings.files import SettingsSource


class Match:
    """What became of the entries of a baseline.

    known: findings that are accepted, each with its entry;  new: the others;  expired: those of them whose day is over
    moved: entry -> the first of its findings, where they are now
    stale: entry -> how many findings it still has
    told:  what there is to say of these, as findings in the baseline
    """

    __slots__ = ("expired", "known", "moved", "new", "stale", "told")

    def __init__(self) -> None:
        self.known: list[tuple[Finding, Entry]] = []
        self.expired: list[tuple[Finding, Entry]] = []
        self.new: list[Finding] = []
        self.moved: dict[Entry, Finding] = {}
        self.stale: dict[Entry, int] = {}
        self.told: list[Finding] = []


def match(report: Report, baseline: Baseline, asked: SettingsSource, today: date) -> Match:
    """Hold a report against a baseline; the report is left as it is."""
    folder = os.path.dirname(baseline.source.path) or "."
    found = Match()
    left = {id(finding): (finding, entries.of(finding, folder)) for finding in report.findings}
    open_ = {entry: entry.count for entry in baseline.entries}
    taken: dict[int, Entry] = {}

    def take(finding: Finding, entry: Entry) -> None:
        open_[entry] -= 1
        taken[id(finding)] = entry
        del left[id(finding)]

    by_key = _grouped(baseline.entries, "key")
    for finding, made in list(left.values()):
        entry = next((one for one in by_key[made.key] if open_[one]), None)
        if entry is not None:
            take(finding, entry)
    looked, broken, launches = _places(report, folder)
    paths = {path for path, _ in launches}

    def known_of(entry: Entry) -> bool:
        """Whether the check tells what is in the entry's file now."""
        there = entry.path in looked and entry.path not in broken
        return there or not os.path.lexists(os.path.join(folder, entry.path))

    # an entry whose launch is still there is not one that moved: its finding was mended
    gone = [one for one in baseline.entries if open_[one] and (one.path, one.launch) not in launches and known_of(one)]
    for finding, made in list(left.values()):
        entry = _moved_from(made, [one for one in gone if open_[one]], paths)
        if entry is not None:
            take(finding, entry)
            found.moved.setdefault(entry, finding)
    for finding in report.findings:
        accepted = taken.get(id(finding))
        if accepted is None:
            found.new.append(finding)
        elif accepted.expires is not None and today > accepted.expires:
            found.expired.append((finding, accepted))
        else:
            found.known.append((finding, accepted))
    for entry, count in open_.items():
        if count and known_of(entry) and _asked_for(entry, asked, folder):
            found.stale[entry] = entry.count - count
    return found


def apply(report: Report, baseline: Baseline, asked: SettingsSource, today: date) -> Match:
    """Take from a report what its baseline knows. Findings whose day is over stay in it, and say so."""
    found = match(report, baseline, asked, today)
    known = {id(finding) for finding, _ in found.known}
    report.findings = [finding for finding in report.findings if id(finding) not in known]
    report.known += len(known)
    for finding, entry in found.expired:
        reason = f": {entry.reason}" if entry.reason else ""
        finding.related.append(Related(entry.expires_span or entry.site, f"accepted until {entry.expires}{reason}"))
    told = [*[_moved(entry, finding) for entry, finding in found.moved.items()], *[_stale(*one) for one in found.stale.items()]]
    settings = asked.of(baseline.source.path)
    told = [finding for finding in told if settings.wants(finding.rule)]
    for finding in told:
        finding.severity = settings.of_rule(finding.rule).get("severity", finding.severity)
    least = SEVERITIES.index(settings.severity)
    found.told = [finding for finding in told if SEVERITIES.index(finding.severity) >= least]
    return found


def _grouped(baseline: list[Entry], attribute: str) -> defaultdict[object, list[Entry]]:
    found: defaultdict[object, list[Entry]] = defaultdict(list)
    for entry in baseline:
        found[getattr(entry, attribute)].append(entry)
    return found


def _places(report: Report, folder: str) -> tuple[set[str], set[str], set[tuple[str, str]]]:
    """The files that were looked at, those that could not be read, and where launches are, in the baseline's words."""
    known: dict[str, str] = {}

    def place(path: str) -> str:
        if path not in known:
            known[path] = entries.place(path, folder)
        return known[path]

    looked = {place(path) for path in report.paths}
    broken = {place(problem.path) for problem in report.errors}
    return looked, broken, {(place(one.source.path), one.name) for one in report.launches}


def _moved_from(made: Entry, gone: list[Entry], paths: set[str]) -> Entry | None:
    """The entry of the same finding of a launch that had another name in the file, or was in a file that it is not in now.

    gone: entries whose launch is not there;  paths: the files that have launches
    """
    renamed = (one for one in gone if (one.path, one.rule, one.text) == (made.path, made.rule, made.text))
    elsewhere = [one for one in gone if one.what == made.what and (one.launch or one.path not in paths)]
    name = os.path.basename(made.path)
    return next(renamed, None) or min(elsewhere, key=lambda one: os.path.basename(one.path) != name, default=None)


def _asked_for(entry: Entry, asked: SettingsSource, folder: str) -> bool:
    """Whether the check was asked for findings such as the entry's: else that it found none says nothing."""
    settings = asked.of(os.path.normpath(os.path.join(folder, entry.path)))
    rule = next((one for one in every(settings.rules) if one.id == entry.rule), None)
    if rule is None:
        return settings.wants(entry.rule)
    severity = settings.of_rule(rule.id).get("severity", rule.severity)
    return settings.wants(rule.id, rule.profile) and SEVERITIES.index(severity) >= SEVERITIES.index(settings.severity)


def _stale(entry: Entry, count: int) -> Finding:
    where = f"{entry.path}, {entry.launch}," if entry.launch else entry.path
    message = f"{where} no longer has this finding of {entry.rule}"
    advice = "delete the entry, or write the baseline anew"
    if count:
        message = f"{where} has {count} such findings of {entry.rule}, not {entry.count}"
        advice = f'write "count": {count}, or write the baseline anew'
    return own_rules.finding(STALE_ENTRY, entry.site, message, advice)


def _moved(entry: Entry, finding: Finding) -> Finding:
    launch = finding.launch.name if finding.launch is not None else ""
    now = finding.span.source.path + (f", {launch}" if launch else "")
    was = entry.path + (f", {entry.launch}" if entry.launch else "")
    told = own_rules.finding(
        MOVED_ENTRY, entry.site, f"this known finding moved from {was} to {now}", "write the baseline anew"
    )
    told.related.append(Related(finding.span, "here now"))
    return told
