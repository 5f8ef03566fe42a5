"""The way of files through a check: discover, read, judge, suppress, mask."""

from __future__ import annotations

import os

from servelint.core import bounds
from servelint.core.data import DataError
from servelint.core.finding import SEVERITIES, Finding, Related
from servelint.core.launch import Launch, ReleaseClaim
from servelint.core.problem import Problem
from servelint.core.result import Report, Silenced
from servelint.core.run import Run, TooLong, TooMuchWork, time_limit
from servelint.core.settings import DEFAULT, Settings
from servelint.core.source import Source, Span
from servelint.files.directives import SIGN
from servelint.files.project import Project, folders
from servelint.files.siblings import Neighbours
from servelint.readers.discover import files, may_start, read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from servelint.cache import ResultCache
    from servelint.core.judged import Judged, Undecided
    from servelint.settings.files import SettingsSource

    Judging: TypeAlias = Callable[[Launch, Settings], list[Finding]]


_LARGE = 1 << 17
"""Characters of a text that is kept after the check of its file only if something points into it."""


def check(paths: list[str], settings: SettingsSource | None = None, *, undecided: bool = False) -> Report:
    """Lint files and folders.

    A file that cannot be read is an error in the report; the others are linted. If settings files are wrong, the report has
    only their errors: nothing is linted.

    Args:
        paths: Files and folders.
        settings: The settings.
        undecided: Whether to note the rules that stay undecided (`Launch.judged`), which takes as long again.
    """
    asked = settings or DEFAULT
    report = Report()
    named = folders(paths)
    for path in listed(paths, asked, report):
        report.add(_passed_over(_one(path, asked, named, undecided, None), path, paths))
    settle(report)
    return report


def check_in_steps(paths: list[str], asked: SettingsSource, report: Report, *, undecided: bool = False) -> Iterator[None]:
    """Lint files and folders into a report, a file at each step. For the main thread of a program, as `time_limit` is."""
    named = folders(paths)
    for path in listed(paths, asked, report):
        report.add(_passed_over(_in_time(path, asked, named, undecided, None), path, paths))
        yield
    settle(report)


def check_in_parallel(
    paths: list[str],
    asked: SettingsSource,
    *,
    words: bool = False,
    undecided: bool = False,
    done: Callable[[int, int], None] | None = None,
    cache: ResultCache | None = None,
) -> Report:
    """Lint files and folders on several processors if there are many files. Not for a program that has threads.

    Args:
        paths: Files and folders.
        asked: The settings.
        words: Whether the words of the launches are needed afterwards.
        undecided: Whether to note the rules that stay undecided.
        done: Called after each file that is linted with the number of files and 1.
        cache: Results of earlier checks, which have no words; None to use none.
    """
    from servelint import parallel

    report = Report()
    found = listed(paths, asked, report)
    named = folders(paths)
    shared: dict[tuple[str, ...], Undecided] = {}
    reports: dict[int, Report] = {}

    def keep(number: int, one: Report, *, whole: bool = False) -> None:
        reports[number] = _passed_over(one, found[number], paths)
        if not whole:
            _lighten(one, shared)

    if cache is not None:
        for number, path in enumerate(found):
            if (known := _known(path, asked, named, undecided, cache)) is not None:
                keep(number, known)
    left = [number for number in range(len(found)) if number not in reports]
    count = parallel.processes(len(left))
    if count == 1:
        for number in left:
            keep(number, _in_time(found[number], asked, named, undecided, cache), whole=words)
            if done is not None:
                done(len(found), 1)
    else:

        def lint(path: str) -> Report:
            one = _in_time(path, asked, named, undecided, cache)
            return _portable(one) if words else _lighten(one, {})

        for at, ready in parallel.lint_files([found[number] for number in left], lint, count):
            number = left[at]
            keep(number, ready or _problem(found[number], parallel.NOT_READ), whole=words)
            if done is not None:
                done(len(found), 1)
    for number in range(len(found)):
        report.add(reports.pop(number))
    if cache is not None:
        cache.store.prune(every=count > 1)
    settle(report)
    return report


def _lighten(report: Report, shared: dict[tuple[str, ...], Undecided]) -> Report:
    """Drop what no report shows of the launches: most of their size. shared: the undecided rules of other files."""
    for finding in report.findings:
        if finding.fix is not None:
            finding.fix.effect = None
    for launch in {id(one): one for one in [*report.launches, *_of_findings(report)]}.values():
        launch.argv, launch.verb, launch.env, launch.secrets, launch.others = [], (), {}, (), []
        launch.later = launch.open = launch.container = launch.nodes = None
        launch.beside = launch.meanwhile = ()
        launch.models = {}
        if launch.judged is not None and launch.judged.undecided is not None:
            every = launch.judged.undecided
            launch.judged.undecided = [shared.setdefault((one.rule, *one.lacks), one) for one in every]
    return report


def _of_findings(report: Report) -> list[Launch]:
    """The launches of findings; some are alternatives of those in the report."""
    every = [*report.findings, *[one.finding for one in report.silenced]]
    return [one.launch for one in every if one.launch is not None]


def _portable(report: Report) -> Report:
    """Make the launches of a report such that they can go through a pipe: what opens files cannot, what is in them can."""
    from servelint.engines.launch_files import carry

    for launch in report.launches:
        launch.others = launch.alternatives
    for launch in [one for main in report.launches for one in main.every]:
        launch.later = None
        launch.open = carry(launch)
    return report


def _problem(path: str, message: str, *, limit: bool = False) -> Report:
    """The report of a file that could not be read."""
    report = Report()
    report.files, report.paths = 1, [path]
    report.errors.append(Problem(path, message, limit=limit))
    return report


def _known(path: str, asked: SettingsSource, named: tuple[str, ...], undecided: bool, cache: ResultCache) -> Report | None:
    """The earlier report of a file, if it would be the same now."""
    source = read_file(path)
    if source is None:
        report = Report()
        report.files, report.paths = 1, [path]
        return report
    if isinstance(source, Problem):
        return None
    settings = asked.of(path)
    name = cache.name(source, settings, undecided)
    return cache.find(name, source, settings, beside(path, settings, named)) if name is not None else None


def _in_time(path: str, asked: SettingsSource, named: tuple[str, ...], undecided: bool, cache: ResultCache | None) -> Report:
    """Lint one file; a file that takes too long is an error."""
    try:
        with time_limit(bounds.TIME.most * _times(path)):
            return _one(path, asked, named, undecided, cache)
    except TooLong:
        return _problem(path, bounds.TIME.message, limit=True)


def _passed_over(report: Report, path: str, paths: list[str]) -> Report:
    """A file's report in which limits are notes, for a file of a folder in which nothing starts an engine."""
    notes = [one for one in report.errors if one.note == "always" or (one.note and path not in paths)]
    report.notes += notes
    report.errors = [one for one in report.errors if one not in notes]
    if not report.errors or report.launches or path in paths or not all(one.limit for one in report.errors):
        return report
    if not may_start(path):
        for one in report.errors:
            one.message = f"skipped, because nothing in it starts an engine: {one.message.partition(': ')[2]}"
        report.notes += report.errors
        report.errors = []
    return report


def _times(path: str) -> int:
    """By what factor a file's time limit is raised: a list of a cluster's objects may be large."""
    if not path.endswith((".json", ".yaml", ".yml")):
        return 1
    try:
        return 1 + os.path.getsize(path) // bounds.FILE.most
    except OSError:
        return 1


def listed(paths: list[str], asked: SettingsSource, report: Report) -> list[str]:
    """The files to lint; none of them, and errors in the report, where settings files are wrong."""
    if isinstance(asked, Settings):
        return list(files(paths, report.errors, notes=report.notes, outside=lambda _: asked.read_outside))
    outside = lambda folder: asked.of_folder(folder).read_outside  # noqa: E731
    found = list(files(paths, report.errors, asked, notes=report.notes, outside=outside))
    asked.check_names()
    if not asked.problems and not asked.faults:
        return found
    report.errors = list(asked.problems)
    return []


def _one(path: str, asked: SettingsSource, named: tuple[str, ...], undecided: bool, cache: ResultCache | None) -> Report:
    report = Report()
    report.files, report.paths = 1, [path]
    source = read_file(path)
    if isinstance(source, Problem):
        report.errors.append(source)
    elif source is not None:
        settings = asked.of(path)
        around = beside(path, settings, named)
        add_source(report, source, settings, around, undecided=undecided)
        name = cache.name(source, settings, undecided) if cache is not None else None
        if cache is not None and name is not None:
            cache.add(name, report, source, around)
    return report


def beside(path: str, settings: Settings = DEFAULT, named: tuple[str, ...] = ()) -> Neighbours:
    """The files beside a file that may be read: those of its project, and those that the settings allow.

    Args:
        path: The file.
        settings: Its settings.
        named: Absolute paths of the folders that are checked; one of them may be the project.
    """
    folder = os.path.dirname(path)
    return Neighbours(folder or ".", folder, Project(folder or ".", settings.read_outside, named, settings.trust))


def add_source(
    report: Report,
    source: Source,
    settings: Settings,
    neighbours: Neighbours,
    judging: Judging | None = None,
    *,
    undecided: bool = False,
) -> None:
    """Lint one source into a report. undecided: whether to note the rules that stay undecided."""
    from servelint.readers import read

    report.sources.append(source)
    try:
        with Run(source.path, bounds.PIECES.most) as run:
            reading = read(source, neighbours)
            for launch in [other for one in reading.launches for other in one.every]:
                if launch.release.assumed and launch.engine in settings.engine_versions:
                    launch.release = ReleaseClaim()
            found = check_launches(source, reading.launches, settings, judging, report.silenced, undecided=undecided)
    except TooMuchWork:
        report.errors.append(Problem(source.path, bounds.PIECES.message, limit=True))
        return
    except RecursionError:
        report.errors.append(Problem(source.path, bounds.NESTED.message, limit=True))
        return
    except DataError:
        raise
    except Exception as error:  # a bug of ours must not cost the findings in other files
        what = f"servelint failed on this file, which is a bug: {type(error).__name__}: {error}"
        report.errors.append(Problem(source.path, what, own=True))
        return
    problems = [*reading.problems, *run.problems, *run.images()]
    for problem in {repr(problem): problem for problem in problems}.values():  # each once
        if problem.limit and problem.path != source.path:
            problem.note = "always"  # another file, which was named for its sake: this one is read
        (report.notes if problem.note in ("always", "unjudged") else report.errors).append(problem)
    for problem, noted in neighbours.problems(source) if neighbours.refused else ():
        (report.notes if noted else report.errors).append(problem)
    report.launches += reading.launches
    report.findings += found
    if not found and not reading.launches and len(source.text) > _LARGE and SIGN not in source.text:
        report.sources[-1] = Source(source.path, "", source.encoding)  # nothing points into it: a run may have hundreds


def _judged(launch: Launch, settings: Settings, undecided: bool) -> Judged:
    """How far a launch was judged, without its secrets."""
    from servelint.judge import extent

    found = extent.judged(launch, settings)
    if undecided:
        found.undecided = extent.undecided(launch, settings)
    if found.unresolved:
        from servelint.core.secrets import masked_value, without
        from servelint.filters.masking import secrets_of

        secrets = secrets_of([launch])
        for one in found.unresolved:
            one.text, one.why = (without(masked_value("", text), secrets) for text in (one.text, one.why))
    return found


def settle(report: Report) -> None:
    """Keep one of each finding and launch that several files show, such as a compose file and its override or its `.env`.

    It is kept for the file in which it stands, if that file was linted as well.
    """
    if any(launch.owner is not None for launch in report.launches):
        own = {(os.path.normpath(one.source.path), one.name) for one in report.launches if one.owner is None}
        report.launches = [one for one in report.launches if one.owner is None or (one.owner.path, one.name) not in own]
    if len(report.launches) > 1:
        from servelint.readers import deployed

        report.launches = deployed.whole(report.launches)
    if any(_elsewhere(finding) for finding in report.findings):
        here = {_place(finding) for finding in report.findings if not _elsewhere(finding)}
        kept: dict[tuple[object, ...], Finding] = {}
        for finding in report.findings:
            place = _place(finding)
            if not _elsewhere(finding):
                kept[(id(finding),)] = finding
            elif place not in here:
                kept.setdefault(place, finding)
        report.findings = list(kept.values())


def _with_values(finding: Finding, launch: Launch) -> Finding:
    """A finding in a template of a chart, with the values that make it true where another file has them."""
    place = finding.span.source
    if place is not launch.source and launch.site.source is launch.source and "templates/" in place.path.replace("\\", "/"):
        finding.related.append(Related(_value_of(finding, launch) or launch.site, "with the values of this file"))
    return finding


def _value_of(finding: Finding, launch: Launch) -> Span | None:
    """Where the file of a launch gives what a finding in a template is about; None if several places do, or none."""
    place = (finding.span.start, finding.span.end)
    given: dict[tuple[int, int], tuple[Span, str]] = {}
    for word in launch.argv:
        for piece in word.text.pieces:
            origin, span = piece.origin, piece.span
            if origin is not None and origin.source is launch.source and span is not None and (span.start, span.end) == place:
                given.setdefault((origin.start, origin.end), (origin, word.text.flat))
    named = [origin for origin, flat in given.values() if flat.startswith("-") and flat.partition("=")[0] in finding.message]
    found = named or [origin for origin, _ in given.values()]
    return found[0] if len(found) == 1 else None


def _elsewhere(finding: Finding) -> bool:
    """Whether a finding stands in a file that its launch was not read from."""
    return finding.launch is not None and finding.launch.source is not finding.span.source


def _place(finding: Finding) -> tuple[object, ...]:
    span = finding.span
    return finding.rule, os.path.normpath(span.source.path), span.start, span.end, finding.message


def check_launches(
    source: Source,
    launches: list[Launch],
    settings: Settings,
    judging: Judging | None = None,
    silenced: list[Silenced] | None = None,
    *,
    undecided: bool = False,
) -> list[Finding]:
    """The findings of one source's launches, each once, in the order of their places. Notes how far each launch was judged.

    Args:
        source: The file.
        launches: Its launches.
        settings: Its settings.
        judging: Finds what is wrong with one launch; None for `servelint.judge.judging.judge`.
        silenced: Takes the findings that comments suppress.
        undecided: Whether to note the rules that stay undecided.
    """
    from servelint.filters import gpu_comment_findings, suppress
    from servelint.judge.judging import judge

    judging = judging or judge
    found: list[Finding] = []
    seen: set[tuple[str, object, str]] = set()
    for launch in launches:
        for other in launch.every:
            other.models = settings.models
        for finding in judging(launch, settings):
            key = (finding.rule, finding.span, finding.message)
            if key not in seen:
                seen.add(key)
                found.append(_with_values(finding, launch))
        launch.judged = _judged(launch, settings, undecided)
    # a word that one launch's release has lost already is not announced for another launch's
    gone = {finding.span for finding in found if finding.rule.rpartition("/")[2] in ("removed-env", "removed-option")}
    found = [finding for finding in found if finding.span not in gone or not finding.rule.endswith("/removed-later")]
    if SIGN in source.text:
        found += gpu_comment_findings(source, launches, settings)
    found = suppress(source, found, settings, silenced)
    least = SEVERITIES.index(settings.severity)
    kept = [finding for finding in found if SEVERITIES.index(finding.severity) >= least]
    hidden = [one for one in silenced or () if one.trusted]
    if kept or hidden:
        from servelint.filters.masking import mask

        masked = mask(launches, [*kept, *[one.finding for one in hidden]])
        kept, rest = masked[: len(kept)], masked[len(kept) :]
        for one, finding in zip(hidden, rest, strict=True):
            one.finding = finding
    return sorted(kept, key=lambda finding: (finding.span.source is not source, finding.span.start, finding.rule))
