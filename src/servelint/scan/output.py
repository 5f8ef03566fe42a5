"""Rows of a scan: one for each finding and for each file that could not be read, and the files that they are written to.

A file of JSON Lines has a journal beside it, so that a kill loses and doubles no row. A line of the journal is one repository
that is done: its identity, the length of the file with its rows, and their numbers. Rows are written before their line.
Whatever follows the last whole line in the file is incomplete, and is cut off. A Parquet file (extra `parquet`) is made of a
whole file of JSON Lines, since no row can be added to it.
"""

from __future__ import annotations

import contextlib
import json
import os
from itertools import islice

from servelint.scan.job import Counts, Done, Unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from servelint.core.finding import Finding
    from servelint.core.judged import Judged
    from servelint.core.launch import Launch
    from servelint.core.problem import Problem

    Row: TypeAlias = dict[str, str | int | None]
    from typing import IO

    from servelint.scan.job import Job

_NUMBERS = ("line", "column", "end_line", "end_column")
_TEXTS = (
    "rule", "severity", "confidence", "impact", "message", "versions", "engine", "release", "release_from", "launch", "source",
    "blob", "fingerprint", "assumption", "judged",
)  # fmt: skip
COLUMNS: dict[str, type] = {
    **dict.fromkeys(("kind", "repository", "revision", "path"), str),
    **dict.fromkeys(_NUMBERS, int),
    **dict.fromkeys(_TEXTS, str),
    "unresolved": int,
}
"""Column to type.

kind:     `finding`, `launch` for one that was not wholly judged, `image` for one whose container is not judged, or `error` for
          a file or a repository that could not be read or parsed
judged:   how the release of the launch is known (servelint.core.judged.HOW);  unresolved: how many of its words are not
path:     the file of the finding;  source: the file that starts the engine, which may be another one
blob:     git's id of the content of source
revision: the commit, null where the files belong to none;  the others are those of `servelint check --format json`"""

FINDING, LAUNCH, IMAGE, ERROR = "finding", "launch", "image", "error"
_PLACE = ("rule", "path", *_NUMBERS, "message")
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def finding_row(finding: Finding, source: str, blob: str) -> Row:
    """Return the row of a finding, without the repository.

    Args:
        finding: the finding.
        source: the file that was read.
        blob: the id of its content.
    """
    launch, span = finding.launch, finding.span
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {
        "kind": FINDING,
        "path": span.source.path,
        **dict(zip(_NUMBERS, (line, column, end_line, end_column), strict=True)),
        **{name: getattr(finding, name) for name in ("rule", "severity", "confidence", "impact", "fingerprint")},
        "message": finding.sentence,
        "versions": finding.affected or None,
        "engine": launch.engine if launch is not None else None,
        "release": finding.release,
        "release_from": finding.release_from,
        "launch": launch.name if launch is not None else None,
        "source": source,
        "blob": blob,
        "assumption": finding.assumption or None,
        **(_judged(launch.judged) if launch is not None and launch.judged is not None else {}),
    }


def launch_row(launch: Launch, record: Judged, source: str, blob: str) -> Row:
    """Return the row of a launch that was not wholly judged: its message says what was not."""
    line, column = launch.site.source.position(launch.site.start)
    end_line, end_column = launch.site.source.position(launch.site.end)
    from servelint.report.extent import head, sentence

    return {
        "kind": LAUNCH,
        "path": launch.source.path,
        **dict(zip(_NUMBERS, (line, column, end_line, end_column), strict=True)),
        "message": "; ".join([head(launch, record), *[sentence(one) for one in record.unresolved if one.matters]]),
        "engine": launch.engine,
        "release": record.release,
        "launch": launch.name,
        "source": source,
        "blob": blob,
        "assumption": record.assumption or None,
        **_judged(record),
    }


def _judged(record: Judged) -> Row:
    return {"judged": record.how, "unresolved": len(record.words)}


def problem_row(problem: Problem, blob: str | None = None, kind: str = ERROR) -> Row:
    """Return the row of a file that could not be read or parsed; of a whole repository if the path is empty.

    kind: IMAGE for an image that is not judged
    """
    return {
        "kind": kind,
        **{name: getattr(problem, name) for name in ("path", "line", "column", "message")},
        "source": problem.path,
        "blob": blob,
    }


def settled(rows: list[Row]) -> list[Row]:
    """Sort the rows of a repository. A finding of several files counts once, as in servelint.lint.settle."""
    if any(row["path"] != row["source"] for row in rows):
        here = {_place(row) for row in rows if row["path"] == row["source"]}
        kept: dict[object, Row] = {}
        for number, row in enumerate(rows):
            if row["path"] == row["source"]:
                kept[number] = row
            elif _place(row) not in here:
                kept.setdefault(_place(row), row)
        rows = list(kept.values())
    return sorted(rows, key=_order)


def _place(row: Row) -> tuple[object, ...]:
    return tuple([row.get(name) for name in _PLACE])


def _order(row: Row) -> tuple[str, ...]:
    number = f"{row['line']:09} {row['column']:09}"
    return str(row["path"]), number, str(row.get("rule") or ""), str(row["message"]), str(row["source"])


def json_lines(rows: Iterable[Row], repository: str, revision: str | None) -> bytes:
    r"""Return rows as JSON Lines with every column. A byte of a path that is not UTF-8 becomes `\udcXX`."""
    head: Row = {**dict.fromkeys(COLUMNS), "repository": repository, "revision": revision}
    texts = [_ENCODE({**head, **row}) + "\n" for row in rows]
    return "".join(texts).encode("utf-8", "backslashreplace")


JOURNAL = ".journal"


class OutputError(Exception):
    """The output cannot be written. The message is one sentence."""


class Stream:
    """Rows on standard output. Such a scan cannot be resumed.

    Attributes:
        before: numbers of the repositories that an earlier run has done.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.before = Counts()

    def is_done(self, _unit: Unit) -> bool:
        """Return False: no earlier run has done a repository."""
        return False

    def add(self, _unit: Unit, done: Done) -> None:
        """Write the rows of a repository."""
        self._file.write(done.rows)
        self._file.flush()

    def finish(self) -> None:
        """End the output: all repositories are done."""

    def close(self) -> None:
        """Keep standard output open."""


class File:
    """Rows in a file of JSON Lines. It goes on where a scan with the same job ended early.

    Its methods raise OutputError.

    Args:
        path: the file.
        job: the job of the scan.
        restart: start anew, whatever an earlier run has done.

    Attributes:
        before: numbers of the repositories that an earlier run has done.
    """

    def __init__(self, path: str, job: Job, *, restart: bool = False) -> None:
        self._path, self._journal_path = path, path + JOURNAL
        self._done: set[str] = set()
        self.before = Counts()
        self._end = 0
        try:
            self._journal: IO[bytes] = open(self._journal_path, "a+b")  # noqa: SIM115 - it is open as long as the scan
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}") from None
        try:
            _lock(self._journal, path)
            if not restart:
                self._end = self._resumed(job)
            self._file: IO[bytes] = open(path, "ab")  # noqa: SIM115 - likewise
            self._file.truncate(self._end)
            if not self._done:
                self._journal.truncate(0)
                self._note({"context": job.context})
        except OSError as error:
            self._journal.close()
            raise OutputError(f"{path}: cannot be written: {error.strerror}") from None
        except OutputError:
            self._journal.close()
            raise

    def is_done(self, unit: Unit) -> bool:
        """Return whether an earlier run has written the rows of a repository."""
        return _identity(unit) in self._done

    def add(self, unit: Unit, done: Done) -> None:
        """Write the rows of a repository, then its line of the journal."""
        try:
            self._file.write(done.rows)
            self._file.flush()
            self._end += len(done.rows)
            self._note({"done": _identity(unit), "end": self._end, "counts": list(done.counts)})
        except OSError as error:
            raise OutputError(f"{self._path}: cannot be written: {error.strerror}; run the same command to continue") from None

    def finish(self) -> None:
        """End the output: all repositories are done, so the journal is removed."""
        self.close()
        os.unlink(self._journal_path)

    def close(self) -> None:
        """Close the files."""
        for file in (self._file, self._journal):
            with contextlib.suppress(OSError):  # the rows have been written, or the failure has been reported
                file.close()

    def _note(self, data: dict[str, object]) -> None:
        self._journal.write(json.dumps(data).encode() + b"\n")
        self._journal.flush()

    def _resumed(self, job: Job) -> int:
        """Read the journal, and cut off an incomplete last line. Returns the length of the valid part of the file."""
        try:
            self._journal.seek(0)
            *lines, rest = self._journal.read().split(b"\n")
            size = os.path.getsize(self._path) if os.path.exists(self._path) else 0
        except OSError as error:
            raise OutputError(f"{self._journal_path}: cannot be read: {error.strerror}") from None
        if not lines:
            return 0  # killed before the first line
        try:
            head, *notes = [json.loads(line) for line in lines]
            if head["context"] != job.context:
                raise OutputError(
                    f"{self._path} belongs to an interrupted scan with another servelint, other rules or other settings;"
                    " add --restart to start over, or name another file"
                )
            end = 0
            length = len(lines[0]) + 1
            for line, note in zip(lines[1:], notes, strict=True):
                if note["end"] > size:
                    break  # the system went down before the rows were written
                self._done.add(note["done"])
                self.before = self.before.plus(Counts(*note["counts"]))
                end = note["end"]
                length += len(line) + 1
        except (ValueError, KeyError, TypeError):
            what = f"{self._journal_path} is not a journal of a scan; add --restart to start over, or name another file"
            raise OutputError(what) from None
        if rest or length < sum([len(line) + 1 for line in lines]):
            self._journal.truncate(length)
        return end


def _lock(journal: IO[bytes], path: str) -> None:
    """Keep other scans off the file. Raises OutputError.

    The lock belongs to the process (`lockf`): one of the open file would outlive a kill in the processes that the scan started.
    It ends as soon as the process closes the journal anywhere.
    """
    try:
        import fcntl
    except ImportError:
        return  # not on this system
    try:
        fcntl.lockf(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        raise OutputError(f"{path} is written by another scan") from None
    except OSError:
        return  # a file system without locks


def _identity(unit: Unit) -> str:
    return json.dumps(unit)


_GROUP = 50_000
"""Rows of a row group."""


def parquet_problem() -> str | None:
    """Return why no Parquet file can be written, None where it can."""
    try:
        import pyarrow.parquet  # noqa: F401 - is it installed?
    except ImportError:
        return "pyarrow is not installed: pip install 'servelint[parquet]'"
    return None


def write_parquet(lines: str, path: str) -> None:
    """Convert a file of JSON Lines to a Parquet file, which is replaced in one step. Raises OSError."""
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema([(name, pyarrow.string() if kind is str else pyarrow.int32()) for name, kind in COLUMNS.items()])
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(lines, encoding="utf-8") as file, parquet.ParquetWriter(temporary, schema, compression="zstd") as writer:
            while some := list(islice(file, _GROUP)):
                writer.write_table(pyarrow.Table.from_pylist([_valid(json.loads(line)) for line in some], schema=schema))
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _valid(row: dict[str, object]) -> dict[str, object]:
    """Return a row whose texts are valid UTF-8, which a path need not be."""
    return {
        name: value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
        for name, value in row.items()
    }
