"""A report of one file as JSON, and back. JSON, because nothing that a cache holds may run.

Spans are offsets into the file itself and into the files beside it, which are read again with each use: neither their texts nor
secrets are stored. A report that cannot be written in this way is not stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from servelint.core import bounds
from servelint.core.finding import Edit, Finding, Fix, Related
from servelint.core.judged import Judged, Undecided, Unresolved
from servelint.core.launch import Branch, Launch, ReleaseClaim
from servelint.core.problem import Problem
from servelint.core.result import Ignore, Report, Silenced
from servelint.core.secrets import Redactions
from servelint.core.source import Source, Span

MAIN = -1
"""The place of the file itself among the answers."""

_PLAIN = (
    "rule", "severity", "confidence", "impact", "message", "advice", "label", "evidence", "release", "release_from", "affected",
)  # fmt: skip
_PROBLEM = ("path", "message", "line", "column", "own", "limit", "note")
_UNREPEATABLE = (bounds.NESTED.message, bounds.TIME.message)
"""Limits of Python's stack and of time: the next run may not reach them."""


class Unstorable(Exception):
    """The report depends on more than its files, or has secrets that cannot be left out."""


def encode(report: Report, main: Source, answers: Sequence[object]) -> str:
    """Write a report as JSON.

    Args:
        report: The report of one file, as `servelint.lint.add_source` makes it.
        main: The file.
        answers: The files beside it in an order that `decode` has again; what is not a Source is none.

    Raises:
        Unstorable: It cannot be written.
    """
    if any(one.own or one.message in _UNREPEATABLE for one in report.errors):
        raise Unstorable
    return _Writer(main, answers).report(report)


class _Writer:
    def __init__(self, main: Source, answers: Sequence[object]) -> None:
        self._main = main
        self._texts = {(one.path, one.text): at for at, one in enumerate(answers) if isinstance(one, Source)}
        self._sources: dict[int, tuple[int, Source, int, bool]] = {}
        self._launches: dict[int, tuple[int, Launch]] = {}
        self._ignores: dict[int, tuple[int, Ignore]] = {}
        self._findings: list[Any] = []

    def report(self, report: Report) -> str:
        for launch in report.launches:
            self._launch(launch)
        count = len(self._launches)
        data: dict[str, Any] = {
            "findings": [self._finding(one) for one in report.findings],
            "silenced": [[self._finding(one.finding), self._ignore(one.comment), one.trusted] for one in report.silenced],
            "problems": [[_values(one, _PROBLEM) for one in some] for some in (report.errors, report.notes)],
            "of": count,
        }
        launches: list[Any] = []
        while len(launches) < len(self._launches):
            launches += [self._launch_data(one) for _, one in list(self._launches.values())[len(launches) :]]
        data["launches"] = launches
        data["ignores"] = [self._ignore_data(one) for _, one in self._ignores.values()]
        data["parsed"] = [self._source(one) for one in report.sources]
        secrets = {text for _, one, _, _ in self._sources.values() for text in one.redactions.values}
        data["redacted"] = self._redacted()
        data["sources"] = [[at, blank] for _, _, at, blank in self._sources.values()]
        text = json.dumps(data, separators=(",", ":"))
        if any(secret in text or json.dumps(secret)[1:-1] in text for secret in secrets):
            raise Unstorable
        return text

    def _source(self, source: Source) -> int:
        found = self._sources.get(id(source))
        if found is None:
            blank = False
            if source is self._main or (source.path, source.text) == (self._main.path, self._main.text):
                at = MAIN
            elif (source.path, source.text, source.encoding) == (self._main.path, "", self._main.encoding):
                at, blank = MAIN, True
            else:
                beside = self._texts.get((source.path, source.text))
                if beside is None:
                    raise Unstorable
                at = beside
            found = self._sources[id(source)] = (len(self._sources), source, at, blank)
        return found[0]

    def _span(self, span: Span | None) -> Any:
        return [self._source(span.source), span.start, span.end] if span is not None else None

    def _launch(self, launch: Launch | None) -> int | None:
        if launch is None:
            return None
        return self._launches.setdefault(id(launch), (len(self._launches), launch))[0]

    def _ignore(self, ignore: Ignore) -> int:
        return self._ignores.setdefault(id(ignore), (len(self._ignores), ignore))[0]

    def _finding(self, finding: Finding) -> Any:
        fix = finding.fix
        return [
            _values(finding, _PLAIN),
            self._span(finding.span),
            [[self._span(one.span), one.message] for one in finding.related],
            None if fix is None else [fix.title, fix.safe, [[self._span(one.span), one.text] for one in fix.edits], fix.note],
            self._launch(finding.launch),
            finding.assumption,
            [[self._span(one.span), one.taken, one.assumed] for one in finding.branches],
        ]

    def _launch_data(self, launch: Launch) -> Any:
        claim = launch.release
        return [
            launch.engine,
            launch.name,
            self._source(launch.source),
            self._span(launch.site),
            [claim.release, claim.how, self._span(claim.span), claim.rolling, claim.build],
            self._source(launch.owner) if launch.owner is not None else None,
            [launch.fragment, launch.likely, launch.started, launch.launcher],
            self._judged(launch.judged) if launch.judged is not None else None,
        ]

    def _judged(self, record: Judged) -> Any:
        return [
            [record.release, record.how, record.assumption, record.known, record.checked],
            [[one.kind, one.text, self._span(one.span), one.why, one.matters] for one in record.unresolved],
            None if record.undecided is None else [[one.rule, one.lacks] for one in record.undecided],
        ]

    def _ignore_data(self, ignore: Ignore) -> Any:
        patterns = [[text, self._span(span)] for text, span in ignore.patterns]
        return [self._span(ignore.span), ignore.lines, patterns, sorted(ignore.used)]

    def _redacted(self) -> list[Any]:
        """What of each source no report prints: secrets as the places at which they stand."""
        found: list[Any] = []
        sources = [(number, one) for number, one, _, _ in self._sources.values()]
        for _, source in sources:
            places: list[Any] = []
            for text in source.redactions.values:
                at = next(((number, one.text.find(text)) for number, one in sources if text in one.text), None)
                if at is None:
                    raise Unstorable
                places.append([*at, at[1] + len(text)])
            found.append([places, source.redactions.places])
        return found


def _values(one: object, names: tuple[str, ...]) -> list[Any]:
    return [getattr(one, name) for name in names]


def decode(text: str, main: Source, answer: Callable[[int], Source]) -> Report:
    """Read a report.

    Args:
        text: What `encode` wrote.
        main: The file.
        answer: Gives a file beside it, by its number among the answers; a new object for each call.
    """
    return _Reader(json.loads(text), main, answer).report()


class _Reader:
    def __init__(self, data: Mapping[str, Any], main: Source, answer: Callable[[int], Source]) -> None:
        self._data = data
        self._sources: list[Source] = []
        own = False
        for at, blank in data["sources"]:
            if at == MAIN and (blank or own):
                self._sources.append(Source(main.path, "" if blank else main.text, main.encoding))
            elif at == MAIN:
                self._sources.append(main)
                own = True
            else:
                self._sources.append(answer(at))
        texts = [one.text for one in self._sources]
        for source, (values, places) in zip(self._sources, data["redacted"], strict=True):
            if values or places:
                found = tuple([texts[at][start:end] for at, start, end in values])
                source.redactions = Redactions(found, tuple([(start, end) for start, end in places]))
        self._launches = [self._launch(one) for one in data["launches"]]
        self._ignores = [self._ignore(*one) for one in data["ignores"]]

    def report(self) -> Report:
        data, report = self._data, Report()
        report.findings = [self._finding(*one) for one in data["findings"]]
        report.silenced = [
            Silenced(self._finding(*finding), self._ignores[ignore], trusted) for finding, ignore, trusted in data["silenced"]
        ]
        report.errors, report.notes = ([_problem(one) for one in some] for some in data["problems"])
        report.launches = self._launches[: data["of"]]
        report.sources = [self._sources[one] for one in data["parsed"]]
        return report

    def _span(self, data: Any) -> Span:
        source, start, end = data
        return Span(self._sources[source], start, end)

    def _maybe(self, data: Any) -> Span | None:
        return self._span(data) if data is not None else None

    def _finding(
        self, plain: Any, span: Any, related: Any, fix: Any, launch: int | None, assumption: str, branches: Any
    ) -> Finding:
        found = Finding(
            **dict(zip(_PLAIN, plain, strict=True)),
            span=self._span(span),
            related=[Related(self._span(place), message) for place, message in related],
            fix=None if fix is None else self._fix(*fix),
            launch=self._launches[launch] if launch is not None else None,
        )
        found.assumption = assumption
        found.branches = tuple([Branch(self._span(place), taken, assumed) for place, taken, assumed in branches])
        return found

    def _fix(self, title: str, safe: bool, edits: Any, note: str) -> Fix:
        return Fix(title, safe, [Edit(self._span(place), text) for place, text in edits], note=note)

    def _launch(self, data: Any) -> Launch:
        engine, name, source, site, claim, owner, flags, judged = data
        release, how, place, rolling, build = claim
        found = Launch(
            source=self._sources[source],
            engine=engine,
            argv=[],
            site=self._span(site),
            name=name,
            release=ReleaseClaim(release, how, self._maybe(place), rolling, build),
        )
        found.owner = self._sources[owner] if owner is not None else None
        found.fragment, found.likely, found.started, found.launcher = flags
        found.judged = self._judged(*judged) if judged is not None else None
        return found

    def _judged(self, head: Any, unresolved: Any, undecided: Any) -> Judged:
        release, how, assumption, known, checked = head
        parts = [
            Unresolved(kind, text, self._maybe(place), why, matters=matters) for kind, text, place, why, matters in unresolved
        ]
        found = Judged(release, how, parts, assumption=assumption, known=known, checked=checked)
        if undecided is not None:
            found.undecided = [Undecided(rule, lacks) for rule, lacks in undecided]
        return found

    def _ignore(self, span: Any, lines: Any, patterns: Any, used: Any) -> Ignore:
        found = Ignore(self._span(span), tuple(lines), [(text, self._span(place)) for text, place in patterns])
        found.used = set(used)
        return found


def _problem(data: Any) -> Problem:
    path, message, line, column, own, limit, note = data
    return Problem(path, message, line, column, own=own, limit=limit, note=note)
