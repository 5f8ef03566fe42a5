"""Baselines: a file of known findings that a team has accepted, so that a check reports new ones only.

The file is JSON with one entry on each line, so that its changes are reviewed like any other. An entry does not depend on line
numbers; an entry whose finding moved, or is no longer there, is reported.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from dataclasses import KW_ONLY, dataclass, field
from datetime import date

from servelint.core import own_rules
from servelint.core.finding import SEVERITIES, Finding, Related
from servelint.core.own_rules import MOVED_ENTRY, STALE_ENTRY
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.secrets import masked_span
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.core.trust import EVERYTHING, Trust
from servelint.rules.load import every
from servelint.syntax import json as json_nodes
from servelint.syntax.json import JsonFault, JsonNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.settings.files import SettingsSource


NAME = "servelint-baseline.json"
"""File name of a baseline by default."""

_VERSION = 1
_TEXTS = ("rule", "path", "launch", "text")
_KEYS = (*_TEXTS, "count", "reason", "expires")
_SIZE_AT_MOST = 64 << 20


@dataclass(slots=True, eq=False)
class Entry:
    """A finding that is accepted, by what it is and not by its line. Two entries are never equal.

    Attributes:
        rule: the id of the rule.
        path: the path of its file from the folder of the baseline, with slashes.
        launch: the name of its launch in that file, which may be empty.
        text: the characters that the finding points at, secrets masked; of a long text the beginning and a hash.
        count: number of findings of the launch that are equal in all this.
        reason: why the finding is accepted.
        expires: the last day on which it is accepted.
        span: its path in the file of the baseline.
        expires_span: its day there.
    """

    rule: str
    path: str
    launch: str
    text: str
    _: KW_ONLY
    count: int = 1
    reason: str = ""
    expires: date | None = None
    span: Span | None = None
    expires_span: Span | None = None

    @property
    def site(self) -> Span:
        """Its path in the file of the baseline. Raises ValueError for an entry that was not read from a file."""
        if self.span is None:
            raise ValueError(f"{self!r} is in no file")
        return self.span

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What a finding of the same place shares with the entry."""
        return self.path, self.rule, self.launch, self.text

    @property
    def what(self) -> tuple[str, str, str]:
        """What a finding shares with the entry in any place."""
        return self.rule, self.launch, self.text


def entry_of(finding: Finding, folder: str) -> Entry:
    """Return the entry that accepts a finding, for a baseline in a folder."""
    name = finding.launch.name if finding.launch is not None else ""
    return Entry(finding.rule, entry_path(finding.span.source.path, folder), name, _code(finding.span))


def entry_path(path: str, folder: str) -> str:
    """Return a path as a baseline in a folder writes it."""
    return os.path.relpath(os.path.realpath(path), os.path.realpath(folder)).replace(os.sep, "/")


def _code(span: Span) -> str:
    text = "\n".join(masked_span(span).splitlines())
    if len(text) <= _TEXT_AT_MOST:
        return text
    return f"{text[:_TEXT_AT_MOST]} sha256:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


@dataclass(slots=True)
class Baseline:
    """A baseline as read from its file.

    Attributes:
        source: the text of the file.
        entries: the valid entries.
        problems: what is wrong with the others.
    """

    source: Source
    entries: list[Entry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read(path: str, trust: Trust = EVERYTHING) -> Baseline:
    """Read a baseline.

    Args:
        path: the file.
        trust: which version of the file counts.

    Returns:
        The baseline; what is wrong with the file is in its problems.
    """
    try:
        data = trust.read(path, _SIZE_AT_MOST)[:_SIZE_AT_MOST]
        found = Baseline(Source(path, data.decode("utf-8-sig")))
    except (OSError, ValueError) as error:
        found = Baseline(Source(path, ""))
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        hint = "; --write-baseline makes it" if isinstance(error, FileNotFoundError) else ""
        found.problems.append(Problem(path, f"the baseline cannot be read: {why}{hint}"))
        return found
    _Reader(found).document()
    return found


def render(entries: list[Entry]) -> str:
    """Return the text of the file of a baseline."""
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
    """Reads the JSON of a baseline into `into`, with a problem for each thing that is wrong in it."""

    def __init__(self, into: Baseline) -> None:
        self.into = into
        self.whole = TracedText.at(into.source, 0, len(into.source.text))

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
            self.wrong(root, 'this is not a baseline of servelint: it has no "servelint-baseline"')
            return
        if version[1].value != _VERSION:
            self.wrong(version[1], f"a baseline of format {version[1].text.shown} is unknown to servelint; write {_VERSION}")
            return
        for name, (key, _) in root.members.items():
            if name not in ("servelint-baseline", "findings", "$schema"):
                self.wrong(key, f'unknown key "{name}"; a baseline has "findings"')
        findings = root.members.get("findings")
        if findings is None or findings[1].kind != json_nodes.ARRAY:
            self.wrong(findings[1] if findings is not None else root, '"findings" is a list of entries')
            return
        for item in findings[1].items:
            if (entry := self.entry(item)) is not None:
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
        if missing := [name for name in _TEXTS if name not in node.members and name != "launch"]:
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


_TEXT_AT_MOST = 200


@dataclass(slots=True)
class Match:
    """The comparison of a report with a baseline.

    Attributes:
        known: accepted findings, each with its entry.
        expired: findings whose entry has expired, each with it.
        new: the other findings.
        moved: entry to the first of its findings, which is now in another place.
        stale: entry to the number of findings that it still has, which is too small.
        findings: what there is to report about the entries themselves.
    """

    known: list[tuple[Finding, Entry]] = field(default_factory=list)
    expired: list[tuple[Finding, Entry]] = field(default_factory=list)
    new: list[Finding] = field(default_factory=list)
    moved: dict[Entry, Finding] = field(default_factory=dict)
    stale: dict[Entry, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def match(report: Report, baseline: Baseline, asked: SettingsSource, today: date) -> Match:
    """Compare a report with a baseline; the report does not change."""
    folder = os.path.dirname(baseline.source.path) or "."
    found = Match()
    left = {id(finding): (finding, entry_of(finding, folder)) for finding in report.findings}
    open_ = {entry: entry.count for entry in baseline.entries}
    taken: dict[int, Entry] = {}

    def take(finding: Finding, entry: Entry) -> None:
        open_[entry] -= 1
        taken[id(finding)] = entry
        del left[id(finding)]

    by_key: defaultdict[object, list[Entry]] = defaultdict(list)
    for entry in baseline.entries:
        by_key[entry.key].append(entry)
    for finding, made in list(left.values()):
        if (same := next((one for one in by_key[made.key] if open_[one]), None)) is not None:
            take(finding, same)
    checked, broken, launches = _places(report, folder)
    paths = {path for path, _ in launches}

    def known_of(entry: Entry) -> bool:
        """Return whether the check has seen the present content of an entry's file."""
        seen = entry.path in checked and entry.path not in broken
        return seen or not os.path.lexists(os.path.join(folder, entry.path))

    # an entry whose launch still exists has not moved: its finding was fixed
    gone = [one for one in baseline.entries if open_[one] and (one.path, one.launch) not in launches and known_of(one)]
    for finding, made in list(left.values()):
        if (former := _moved_from(made, [one for one in gone if open_[one]], paths)) is not None:
            take(finding, former)
            found.moved.setdefault(former, finding)
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
    """Remove the known findings from a report. Findings whose entry has expired stay, with a note."""
    found = match(report, baseline, asked, today)
    known = {id(finding) for finding, _ in found.known}
    report.findings = [finding for finding in report.findings if id(finding) not in known]
    report.known += len(known)
    for finding, entry in found.expired:
        reason = f": {entry.reason}" if entry.reason else ""
        finding.related.append(Related(entry.expires_span or entry.site, f"accepted until {entry.expires}{reason}"))
    entries = [*[_moved(*one) for one in found.moved.items()], *[_stale(*one) for one in found.stale.items()]]
    settings = asked.of(baseline.source.path)
    wanted = [finding for finding in entries if settings.wants(finding.rule)]
    for finding in wanted:
        finding.severity = settings.of_rule(finding.rule).get("severity", finding.severity)
    least = SEVERITIES.index(settings.severity)
    found.findings = [finding for finding in wanted if SEVERITIES.index(finding.severity) >= least]
    return found


def _places(report: Report, folder: str) -> tuple[set[str], set[str], set[tuple[str, str]]]:
    """Return the checked files, those that could not be read, and file and name of each launch; paths as entries have them."""
    known: dict[str, str] = {}

    def place(path: str) -> str:
        if path not in known:
            known[path] = entry_path(path, folder)
        return known[path]

    checked = {place(path) for path in report.paths}
    broken = {place(problem.path) for problem in report.errors}
    return checked, broken, {(place(one.source.path), one.name) for one in report.launches}


def _moved_from(made: Entry, gone: list[Entry], paths: set[str]) -> Entry | None:
    """Return the entry of the same finding before its launch was renamed or moved to another file; None if there is none.

    Args:
        made: the entry that the finding would have now.
        gone: entries whose launch no longer exists.
        paths: the files that have launches.
    """
    renamed = (one for one in gone if (one.path, one.rule, one.text) == (made.path, made.rule, made.text))
    elsewhere = [one for one in gone if one.what == made.what and (one.launch or one.path not in paths)]
    name = os.path.basename(made.path)
    return next(renamed, None) or min(elsewhere, key=lambda one: os.path.basename(one.path) != name, default=None)


def _asked_for(entry: Entry, asked: SettingsSource, folder: str) -> bool:
    """Return whether the settings select the rule of an entry; if not, a missing finding means nothing."""
    settings = asked.of(os.path.normpath(os.path.join(folder, entry.path)))
    rule = next((one for one in every(settings.rules) if one.id == entry.rule), None)
    if rule is None:
        return settings.wants(entry.rule)
    severity = settings.of_rule(rule.id).get("severity", rule.severity)
    return settings.wants(rule.id, rule.profile) and SEVERITIES.index(severity) >= SEVERITIES.index(settings.severity)


def _stale(entry: Entry, count: int) -> Finding:
    where = f"{entry.path}, {entry.launch}," if entry.launch else entry.path
    message = f"{where} no longer has this finding of {entry.rule}"
    advice = "delete the entry, or update the baseline with --write-baseline"
    if count:
        message = f"{where} has {count} such findings of {entry.rule}, not {entry.count}"
        advice = f'write "count": {count}, or update the baseline with --write-baseline'
    return own_rules.finding(STALE_ENTRY, entry.site, message, advice)


def _moved(entry: Entry, finding: Finding) -> Finding:
    launch = finding.launch.name if finding.launch is not None else ""
    now = finding.span.source.path + (f", {launch}" if launch else "")
    was = entry.path + (f", {entry.launch}" if entry.launch else "")
    made = own_rules.finding(
        MOVED_ENTRY, entry.site, f"this known finding moved from {was} to {now}", "write the baseline anew"
    )
    made.related.append(Related(finding.span, "here now"))
    return made


@dataclass(slots=True)
class Renewed:
    """A new baseline.

    Attributes:
        entries: its entries.
        added: number of findings that the old one did not have.
        gone: number of findings that are no longer there.
        moved: number of entries whose findings are in another place.
    """

    entries: list[Entry]
    added: int
    gone: int
    moved: int


def renew(report: Report, baseline: Baseline, asked: SettingsSource, today: date) -> Renewed:
    """Return a baseline that accepts every finding of a report.

    An entry keeps its reason and its day, also where its finding moved or the day has passed. Entries of files that were not
    checked, or could not be read, stay as they are.
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
        add(entry_of(finding, folder), old)
    for finding in found.new:
        add(entry_of(finding, folder), None)
    gone = 0
    for entry in baseline.entries:
        left = entry.count - used.get(entry, 0)
        if entry in found.stale:
            gone += left
        elif left:
            add(Entry(entry.rule, entry.path, entry.launch, entry.text, count=left), entry)
    return Renewed(list(made.values()), len(found.new), gone, len(found.moved))
