"""One repository from its files to its rows."""

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
from servelint.readers.discover import decode
from servelint.scan import rows as row
from servelint.scan.cache import Cache, Record, Told
from servelint.scan.job import Job, context, excludes
from servelint.scan.trees import FRESH, blob_id, inside, reason
from servelint.scan.unit import FOLDER, GIT, TAR, Counts, Done, Unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.scan.rows import Row
    from servelint.scan.trees import Tree

_ONE_AT_A_TIME = threading.Lock()
"""Workers of a cluster may have several threads, and the parsers of a process are there once."""

_CACHES: dict[tuple[str | None, str], Cache] = {}


class Mismatch(Exception):
    """This process has another servelint, or other rules, than the one that started the scan."""


class Unreadable(Exception):
    """Why a repository cannot be read: one sentence."""


def scan(unit: Unit, job: Job) -> Done:
    """The rows of a repository. Raises Mismatch, and nothing else: what goes wrong is a row."""
    with _ONE_AT_A_TIME:
        cache = _cache(job)
        try:
            return _Scan(unit, job, cache).done()
        except Exception as error:  # a bug of ours must not cost the findings in other repositories
            what = f"servelint failed on this repository, which is a bug: {type(error).__name__}: {error}"
            return failed(unit, what, own=True)


def scan_all(units: list[Unit], job: Job) -> list[Done]:
    """The rows of several repositories, likewise."""
    return [scan(unit, job) for unit in units]


def failed(unit: Unit, message: str, *, own: bool = False) -> Done:
    """What there is to say of a repository that could not be read at all."""
    found = row.lines([row.of_problem(Problem("", message))], unit.name, None)
    return Done(found, Counts(repositories=1, problems=1, own=int(own)))


def _cache(job: Job) -> Cache:
    key = job.cache, job.context
    if key not in _CACHES:
        here = context(job.settings, job.exclude)
        if here != job.context:
            raise Mismatch("a worker has another servelint, or other rules, than the scan was started with")
        gc.set_threshold(100_000)
        _CACHES.clear()
        _CACHES[key] = Cache(job.cache, job.context)
    return _CACHES[key]


def _opened(unit: Unit, job: Job) -> Tree:
    left_out = excludes(job.exclude)
    if unit.kind == FOLDER:
        from servelint.scan.trees.disk import DiskTree

        return DiskTree(unit.place, left_out)
    if unit.kind == GIT:
        from servelint.scan.trees.git import GitTree

        return GitTree(unit.place, unit.revision, left_out)
    from servelint.scan.trees.archives import TarTree, ZipTree

    return TarTree(unit.place, left_out) if unit.kind == TAR else ZipTree(unit.place, left_out)


class _Scan:
    """One repository while it is scanned."""

    def __init__(self, unit: Unit, job: Job, cache: Cache) -> None:
        self.unit = unit
        self.job = job
        self.cache = cache
        self.told: dict[str, tuple[Told, dict[str, str]]] = {}
        self.problems: list[Problem] = []
        self.stamps: dict[str, str] = {}
        self.revision: str | None = None
        self.files = self.own = 0

    def done(self) -> Done:
        from servelint.scan.trees.archives import ArchiveError
        from servelint.scan.trees.git import GitTreeError

        try:
            tree = _opened(self.unit, self.job)
        except (ArchiveError, GitTreeError) as error:
            return failed(self.unit, str(error))
        except OSError as error:
            return failed(self.unit, reason(error))
        reused = 0
        try:
            self.revision = tree.revision
            reused = self._read(tree)
            self.problems += tree.problems
        except (ArchiveError, GitTreeError) as error:
            self.problems += [*tree.problems, Problem("", str(error))]
        finally:
            tree.close()
        return self._counted(reused)

    def _counted(self, reused: int) -> Done:
        every = [one for told, _ in self.told.values() for one in told.rows]
        every += [row.of_problem(problem) for problem in self.problems]
        found = row.settled(every)
        severities = [one.get("severity") for one in found]
        launches = [launch for told, _ in self.told.values() for launch in told.launches]
        stood = {(path, name) for path, name, owner in launches if owner is None}
        counts = Counts(
            repositories=1,
            files=self.files,
            launches=sum(owner is None or (owner, name) not in stood for _, name, owner in launches),
            error=severities.count("error"),
            warning=severities.count("warning"),
            info=severities.count("info"),
            problems=severities.count(None),
            own=self.own,
            reused=reused,
        )
        return Done(row.lines(found, self.unit.name, self.revision), counts)

    def _read(self, tree: Tree) -> int:
        """Note what every file tells; gives how many of them nobody had to open."""
        kind, key = ("stores", f"{self.unit.kind}\0{tree.seal}") if tree.whole else ("folders", self._place())
        if tree.whole and not tree.by_id:
            key += "\0" + self._place()
        known = self.cache.record(kind, key)
        if known is not None and tree.whole:
            self.told, self.files = known.told, known.files
            self.revision = self.revision or known.revision
            return self.files
        candidates = tree.candidates()
        self.files = len(candidates)
        changed = candidates if known is None else self._changed(tree, candidates, known)
        for path, content in tree.contents(self._unheard(tree, changed)):
            self._add(tree, path, content)
        if known is None or changed:
            self._keep(tree, kind, key, candidates)
        return self.files - len(changed)

    def _place(self) -> str:
        return os.path.realpath(self.unit.place)

    def _changed(self, tree: Tree, candidates: list[tuple[str, str]], known: Record) -> list[tuple[str, str]]:
        """The files that have changed since a record, or what is beside them; the others are taken from it."""
        changed: list[tuple[str, str]] = []
        if tree.seal != known.seal or f"\0{FRESH}" in f"\0{known.seal}":
            old = {path: stamp for stamp, _, path in [line.partition(" ") for line in known.seal.split("\0")]}
            changed = [(path, stamp) for path, stamp in candidates if stamp == FRESH or old.get(path) != stamp]
        stamps = dict(candidates) if known.told else {}
        again = {path for path, _ in changed}
        for path, (told, beside) in known.told.items():
            if path in again or path not in stamps:
                continue
            if self._same(tree, told, beside):
                self.told[path] = told, beside
            else:
                changed.append((path, stamps[path]))
        return changed

    def _same(self, tree: Tree, told: Told, beside: dict[str, str]) -> bool:
        if all(stamp != FRESH and tree.stamp(path) == stamp for path, stamp in beside.items()):
            return True
        return told.holds(tree)

    def _unheard(self, tree: Tree, paths: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Those that are to be read: not the contents that mention no engine, as far as that is known by their id."""
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
        if source is None or content is None:
            if tree.by_id:
                self.cache.mute(self.stamps[path])
            return
        blob = self.stamps[path] if tree.by_id else blob_id(content)
        told = self.cache.told(path, blob, tree)
        if told is None:
            told = self._linted(tree, source, blob)
            if told is None:
                return
            self.cache.tell(path, blob, told)
        stamps = {} if tree.whole else {one: tree.stamp(one) for one in told.beside}
        self.told[path] = told, stamps

    def _linted(self, tree: Tree, source: Source | Problem, blob: str) -> Told | None:
        """What a file tells; None, and a problem, where servelint itself failed on it."""
        if isinstance(source, Problem):
            return Told([row.of_problem(source, blob)], [], {})
        found = lint(tree, source, blob, self.job.settings)
        if isinstance(found, Problem):
            self.problems.append(found)
            self.own += 1
            return None
        return found

    def _keep(self, tree: Tree, kind: str, key: str, candidates: list[tuple[str, str]]) -> None:
        """Remember the repository; not what could not be read, which may be another time."""
        if tree.whole:
            if not self.problems and not tree.problems:
                self.cache.keep(kind, key, Record("", self.files, self.told, self.revision))
            return
        unread = {problem.path for problem in self.problems}
        seal = (
            "\0".join([f"{FRESH if path in unread else stamp} {path}" for path, stamp in candidates]) if unread else tree.seal
        )
        self.cache.keep(kind, key, Record(seal, self.files, self.told))


def lint(tree: Tree, source: Source, blob: str, settings: Settings) -> Told | Problem:
    """What a file of a tree tells; a problem where servelint itself failed on it."""

    beside: dict[str, str | None] = {}

    def fetch(path: str) -> bytes | None:
        place = inside(path.replace(os.sep, "/"))
        if place is None:
            return None  # nothing outside the repository is read
        data = tree.read(place)
        beside[place] = blob_id(data) if data is not None else None
        return data

    report = Report()
    folder = os.path.dirname(source.path)
    add_source(report, source, settings, Neighbours(folder, folder, fetch))
    found: list[Row] = [row.of_finding(finding, source.path, blob) for finding in report.findings]
    for problem in report.errors:
        if problem.own:
            return problem
        found.append(row.of_problem(problem, blob))
    launches = [[one.source.path, one.name, one.owner.path if one.owner is not None else None] for one in report.launches]
    return Told(found, launches, beside)
