"""One repository, from its files to its rows."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator

from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.lint import add_source
from servelint.readers.discover import decode, reason
from servelint.scan.cache import Cache, FileResult, Record
from servelint.scan.job import FOLDER, GIT, TAR, Counts, Done, Job, Unit, context, excludes
from servelint.scan.output import ERROR, IMAGE, finding_row, json_lines, launch_row, problem_row, settled
from servelint.scan.trees import FRESH, DiskTree, TreeError, blob_id, inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.scan.output import Row
    from servelint.scan.trees import Tree

_ONE_AT_A_TIME = threading.Lock()
"""Workers of a cluster may have several threads, but a process has one set of parsers."""

_CACHES: dict[tuple[str | None, str], Cache] = {}


class Mismatch(Exception):
    """This process has another servelint, or other rules, than the process that started the scan."""


def scan(unit: Unit, job: Job) -> Done:
    """Return the rows of a repository. Raises only Mismatch: every other failure is a row."""
    with _ONE_AT_A_TIME:
        cache = _cache(job)
        try:
            return _Scan(unit, job, cache).done()
        except Exception as error:  # a bug must not cost the findings in other repositories
            what = f"servelint failed on this repository, which is a bug: {type(error).__name__}: {error}"
            return failed(unit, what, own=True)


def scan_all(units: list[Unit], job: Job) -> list[Done]:
    """Return the rows of several repositories, likewise."""
    return [scan(unit, job) for unit in units]


def failed(unit: Unit, message: str, *, own: bool = False) -> Done:
    """Return the result of a repository that could not be read at all; `own`: by an error in servelint."""
    found = json_lines([problem_row(Problem("", message))], unit.name, None)
    return Done(found, Counts(repositories=1, problems=1, own=int(own)))


def _cache(job: Job) -> Cache:
    key = job.cache, job.context
    if key not in _CACHES:
        if context(job.settings, job.exclude) != job.context:
            raise Mismatch("a worker has another servelint or other rules than this scan")
        gc.set_threshold(100_000)
        _CACHES.clear()
        _CACHES[key] = Cache(job.cache, job.context)
    return _CACHES[key]


def _opened(unit: Unit, job: Job) -> Tree:
    left_out = excludes(job.exclude)
    if unit.kind == FOLDER:
        return DiskTree(unit.place, left_out)
    if unit.kind == GIT:
        from servelint.scan.git import GitTree

        return GitTree(unit.place, unit.revision, left_out)
    from servelint.scan.archives import TarTree, ZipTree

    return TarTree(unit.place, left_out) if unit.kind == TAR else ZipTree(unit.place, left_out)


class _Scan:
    """One repository while it is scanned."""

    def __init__(self, unit: Unit, job: Job, cache: Cache) -> None:
        self.unit = unit
        self.job = job
        self.cache = cache
        self.results: dict[str, tuple[FileResult, dict[str, str]]] = {}
        self.problems: list[Problem] = []
        self.stamps: dict[str, str] = {}
        self.revision: str | None = None
        self.files = self.own = 0

    def done(self) -> Done:
        """Scan the repository, and return its rows."""
        try:
            tree = _opened(self.unit, self.job)
        except TreeError as error:
            return failed(self.unit, str(error))
        except OSError as error:
            return failed(self.unit, reason(error))
        reused = 0
        try:
            self.revision = tree.revision
            reused = self._read(tree)
            self.problems += tree.problems
        except TreeError as error:
            self.problems += [*tree.problems, Problem("", str(error))]
        finally:
            tree.close()
        return self._counted(reused)

    def _counted(self, reused: int) -> Done:
        every = [row for result, _ in self.results.values() for row in result.rows]
        found = settled([*every, *[problem_row(problem) for problem in self.problems]])
        severities = [one.get("severity") for one in found]
        launches = [launch for result, _ in self.results.values() for launch in result.launches]
        owners = {(path, name) for path, name, owner in launches if owner is None}
        counts = Counts(
            repositories=1,
            files=self.files,
            launches=sum(owner is None or (owner, name) not in owners for _, name, owner in launches),
            error=severities.count("error"),
            warning=severities.count("warning"),
            info=severities.count("info"),
            problems=sum(one["kind"] == ERROR for one in found),
            own=self.own,
            reused=reused,
        )
        return Done(json_lines(found, self.unit.name, self.revision), counts)

    def _read(self, tree: Tree) -> int:
        """Collect the result of every file. Returns how many files were not opened."""
        kind, key = ("stores", f"{self.unit.kind}\0{tree.seal}") if tree.whole else ("folders", self._place())
        if tree.whole and not tree.by_id:
            key += "\0" + self._place()
        known = self.cache.record(kind, key)
        if known is not None and tree.whole:
            self.results, self.files = known.results, known.files
            self.revision = self.revision or known.revision
            return self.files
        candidates = tree.candidates()
        self.files = len(candidates)
        changed = candidates if known is None else self._changed(tree, candidates, known)
        for path, content in tree.contents(self._to_read(tree, changed)):
            self._add(tree, path, content)
        if known is None or changed:
            self._keep(tree, kind, key, candidates)
        return self.files - len(changed)

    def _place(self) -> str:
        return os.path.realpath(self.unit.place)

    def _changed(self, tree: Tree, candidates: list[tuple[str, str]], known: Record) -> list[tuple[str, str]]:
        """Return the files that changed since a record, or whose other files did. The results of the others are taken over."""
        changed: list[tuple[str, str]] = []
        if tree.seal != known.seal or f"\0{FRESH}" in f"\0{known.seal}":
            old = {path: stamp for stamp, _, path in [line.partition(" ") for line in known.seal.split("\0")]}
            changed = [(path, stamp) for path, stamp in candidates if stamp == FRESH or old.get(path) != stamp]
        stamps = dict(candidates) if known.results else {}
        again = {path for path, _ in changed}
        for path, (result, beside) in known.results.items():
            if path in again or path not in stamps:
                continue
            if self._same(tree, result, beside):
                self.results[path] = result, beside
            else:
                changed.append((path, stamps[path]))
        return changed

    def _same(self, tree: Tree, result: FileResult, beside: dict[str, str]) -> bool:
        if all(stamp != FRESH and tree.stamp(path) == stamp for path, stamp in beside.items()):
            return True
        return result.holds(tree)

    def _to_read(self, tree: Tree, paths: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Yield the files to read, without those whose content is known by its id to mention no engine."""
        if not tree.by_id:
            yield from paths
            return
        self.stamps = dict(paths)
        silent = self.cache.silent
        for path, blob in paths:
            if blob not in silent:
                yield path, blob

    def _add(self, tree: Tree, path: str, content: bytes | Problem | None) -> None:
        if isinstance(content, Problem):
            self.problems.append(content)
            return
        source = decode(path, content) if content is not None else None
        binary = isinstance(source, Problem) and source.note == "found"
        if source is None or content is None or binary:
            if tree.by_id:
                self.cache.add_silent(self.stamps[path])
            return
        blob = self.stamps[path] if tree.by_id else blob_id(content)
        result = self.cache.find(path, blob, tree)
        if result is None:
            result = self._linted(tree, source, blob)
            if result is None:
                return
            self.cache.add(path, blob, result)
        stamps = {} if tree.whole else {one: tree.stamp(one) for one in result.beside}
        self.results[path] = result, stamps

    def _linted(self, tree: Tree, source: Source | Problem, blob: str) -> FileResult | None:
        """Lint a file; None, and a problem, where servelint itself failed on it."""
        if isinstance(source, Problem):
            return FileResult([problem_row(source, blob)], [], {})
        found = lint(tree, source, blob, self.job.settings)
        if isinstance(found, Problem):
            self.problems.append(found)
            self.own += 1
            return None
        return found

    def _keep(self, tree: Tree, kind: str, key: str, candidates: list[tuple[str, str]]) -> None:
        """Keep the result of the repository; without files that could not be read, which may be readable next time."""
        if tree.whole:
            if not self.problems and not tree.problems:
                self.cache.keep(kind, key, Record("", self.files, self.results, self.revision))
            return
        unread = {problem.path for problem in self.problems}
        seal = (
            "\0".join([f"{FRESH if path in unread else stamp} {path}" for path, stamp in candidates]) if unread else tree.seal
        )
        self.cache.keep(kind, key, Record(seal, self.files, self.results))


def lint(tree: Tree, source: Source, blob: str, settings: Settings) -> FileResult | Problem:
    """Lint a file of a tree; a problem where servelint itself failed on it.

    Args:
        tree: the repository.
        source: the file.
        blob: the id of its content.
        settings: the settings of the scan.
    """
    beside: dict[str, str | None] = {}

    def fetch(path: str) -> bytes | None:
        place = inside(path.replace(os.sep, "/"))
        if place is None or path.endswith("/"):
            return None  # nothing outside the repository is read, and no folder is listed
        data = tree.read(place)
        beside[place] = blob_id(data) if data is not None else None
        return data

    report = Report()
    folder = os.path.dirname(source.path)
    add_source(report, source, settings, Neighbours(folder, folder, fetch))
    found: list[Row] = [finding_row(finding, source.path, blob) for finding in report.findings]
    for problem in report.errors:
        if problem.own:
            return problem
        found.append(problem_row(problem, blob))
    found += [problem_row(problem, blob, IMAGE) for problem in report.notes if problem.note == "unjudged"]
    records = [(launch, launch.judged) for launch in report.launches]
    found += [launch_row(launch, one, source.path, blob) for launch, one in records if one is not None and not one.whole]
    launches = [[one.source.path, one.name, one.owner.path if one.owner is not None else None] for one in report.launches]
    return FileResult(found, launches, beside)
