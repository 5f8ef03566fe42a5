"""Where rows go: standard output, or a file with a journal beside it, so that a kill loses and doubles nothing.

A line of the journal is one repository that is done: its identity, how long the file is with its rows, and what they count.
Rows are written before their line. Whatever stands in the file behind the last whole line was not finished, and is cut off.
"""

from __future__ import annotations

import contextlib
import json
import os

from servelint.scan.unit import Counts, Done, Unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

    from servelint.scan.job import Job

JOURNAL = ".journal"


class OutputError(Exception):
    """Why there can be no output: one sentence."""


class Stream:
    """Rows for standard output. A scan of them cannot be resumed."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.before = Counts()

    def is_done(self, _unit: Unit) -> bool:
        return False

    def add(self, _unit: Unit, done: Done) -> None:
        self._file.write(done.rows)
        self._file.flush()

    def finish(self) -> None:
        """All repositories are done."""

    def close(self) -> None:
        pass


class File:
    """Rows for a file of JSON Lines. before: what the repositories count that were done when it was opened"""

    def __init__(self, path: str, job: Job, *, restart: bool = False) -> None:
        """Goes on where a scan with the same job ended early. This and the other methods raise OutputError."""
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
        """Whether an earlier run has written a repository's rows."""
        return _identity(unit) in self._done

    def add(self, unit: Unit, done: Done) -> None:
        try:
            self._file.write(done.rows)
            self._file.flush()
            self._end += len(done.rows)
            self._note({"done": _identity(unit), "end": self._end, "counts": list(done.counts)})
        except OSError as error:
            raise OutputError(f"{self._path}: cannot be written: {error.strerror}; the same command goes on") from None

    def finish(self) -> None:
        self.close()
        os.unlink(self._journal_path)

    def close(self) -> None:
        for file in (self._file, self._journal):
            with contextlib.suppress(OSError):  # what was to be written has been, or that has been told
                file.close()

    def _note(self, data: dict[str, object]) -> None:
        self._journal.write(json.dumps(data).encode() + b"\n")
        self._journal.flush()

    def _resumed(self, job: Job) -> int:
        """Read the journal, and cut off its last line if that is not whole; gives the length of what counts of the file."""
        try:
            self._journal.seek(0)
            *lines, rest = self._journal.read().split(b"\n")
            size = os.path.getsize(self._path) if os.path.exists(self._path) else 0
        except OSError as error:
            raise OutputError(f"{self._journal_path}: cannot be read: {error.strerror}") from None
        if not lines:
            return 0  # it was killed before the first line
        try:
            head, *notes = [json.loads(line) for line in lines]
            if head["context"] != job.context:
                raise OutputError(
                    f"{self._path} is of a scan that ended early, with another servelint, other rules or other settings;"
                    " write --restart to begin anew, or name another file"
                )
            end = 0
            length = len(lines[0]) + 1
            for line, note in zip(lines[1:], notes, strict=True):
                if note["end"] > size:
                    break  # the system itself went down before it had written the rows
                self._done.add(note["done"])
                self.before = self.before.plus(Counts(*note["counts"]))
                end = note["end"]
                length += len(line) + 1
        except (ValueError, KeyError, TypeError):
            what = f"{self._journal_path} is no journal of a scan; write --restart to begin anew, or name another file"
            raise OutputError(what) from None
        if rest or length < sum([len(line) + 1 for line in lines]):
            self._journal.truncate(length)
        return end


def _lock(journal: IO[bytes], path: str) -> None:
    """Keep other scans off the file. Raises OutputError.

    The lock is the process's, not the open file's, which processes that it starts hold on to for a while after it is killed; it
    ends as soon as the process closes the journal anywhere.
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
