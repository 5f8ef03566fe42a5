"""The files beside a file that its format names: `.env`, `env_file`, a Dockerfile, the templates of a chart."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Sequence

from servelint.core import bounds, safe_open
from servelint.core.digest import content_digest
from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.files.project import Refused


def from_disk(path: str) -> bytes | None:
    """The bytes of a small regular file, or the names in a folder whose path ends with a slash; None if there is none."""
    try:
        if path.endswith("/"):
            return safe_open.names(path)
        data = safe_open.read(path, bounds.NEIGHBOUR.most)
    except (OSError, ValueError):
        return None
    return data if len(data) <= bounds.NEIGHBOUR.most else None


class Neighbours:
    """Reads small regular text files relative to a folder; None as the folder: there are none, for a text that is not a file.

    Every file that a result depends on beside its own is read here, so that `answers` is all that a cached result needs to be
    compared with (servelint.cache).

    Attributes:
        refused: Paths that were not read, as they were asked for, and why.
        given: What an installation of a chart gives over the chart's own values, the strongest last.
        answers: Every path that was asked for, behind the folders of `below` that lead to it, and the file; None if there is
            none, or why it was not read.
    """

    __slots__ = ("_fetch", "_read", "_route", "answers", "folder", "given", "refused", "shown")

    def __init__(self, folder: str | None, shown: str = "", fetch: Callable[[str], bytes | None] = from_disk) -> None:
        self.folder = folder
        self.shown = shown
        self.refused: dict[str, Refused] = {}
        self.given: list[object] = []
        self.answers: dict[tuple[str, ...], Source | Refused | None] = {}
        self._route: tuple[str, ...] = ()
        self._fetch = fetch
        self._read: dict[str, Source | None] = {}

    def read(self, path: str, *, named: bool = True) -> Source | None:
        """The text of a file; None if it is missing, not regular, too large, or not UTF-8.

        Args:
            path: Its path.
            named: Whether its format names it, so that a refusal to read it is reported.
        """
        if self.folder is None or not path or "\0" in path:
            return None
        if path not in self._read:
            found = self._open(path)
            self._note((*self._route, path), found)
            if isinstance(found, Refused) and named:
                self.refused.setdefault(path, found)
            self._read[path] = None if isinstance(found, Refused) else found
        return self._read[path]

    def names(self, folder: str, pattern: str) -> list[str]:
        """The paths of what a folder holds and a pattern matches, in order; none where the folder cannot be listed.

        Args:
            folder: Its path, with a slash behind it.
            pattern: A regular expression for the whole of a name.
        """
        found = self.read(folder, named=False)
        prefix = "" if folder == "./" else folder
        return [prefix + name for name in found.text.split("\n") if re.fullmatch(pattern, name)] if found is not None else []

    def give(self, path: str, source: Source) -> None:
        """Take a text that is read already for the file at a path."""
        self._read[path] = source

    def answer(self, question: Sequence[str]) -> Source | Refused | None:
        """Open a file that `answers` names, as it is now."""
        *folders, path = question
        here = self
        for folder in folders:
            here = here.below(folder)
        return here._open(path)

    def below(self, path: str) -> Neighbours:
        """The neighbours of a file in another folder."""
        if self.folder is None:
            return self
        below = Neighbours(os.path.join(self.folder, os.path.expanduser(path)), os.path.join(self.shown, path), self._fetch)
        below.refused = self.refused
        below.answers = self.answers
        below._route = (*self._route, path)
        return below

    def problems(self, source: Source) -> list[tuple[Problem, bool]]:
        """The files that a source names and that were not read, each with whether that is only a note."""
        found: list[tuple[Problem, bool]] = []
        for path, refused in self.refused.items():
            places = [source.text.find(one) for one in (path, os.path.basename(path))]
            line, column = source.position(next((at for at in places if at >= 0), 0))
            found.append((Problem(source.path, refused.reason, line, column), refused.outside))
        return found

    def _note(self, question: tuple[str, ...], found: Source | Refused | None) -> None:
        before = self.answers.setdefault(question, found)
        if before is not found and digest(before) != digest(found):
            self.answers[question] = Refused("it changed while it was read")  # no later answer is the same

    def _open(self, path: str) -> Source | Refused | None:
        full = os.path.join(self.folder or "", os.path.expanduser(path))
        try:
            data = self._fetch(full)
        except Refused as refused:
            return refused
        if data is None:
            return None
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None
        return Source(os.path.normpath(os.path.join(self.shown, path)), text)


def digest(answer: Source | Refused | None) -> str:
    """Return a digest of an answer, which is equal for equal answers."""
    if answer is None:
        return ""
    if isinstance(answer, Refused):
        return f"{int(answer.outside)} {answer.reason}"
    return content_digest(answer.text.encode("utf-8", "surrogatepass"))


def decode_text(path: str, data: bytes) -> Source | Problem | None:
    """The text of a file's bytes (UTF-8, or UTF-16 with a byte order mark); None for a binary file."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return Source(path, data.decode("utf-16"), "utf-16")
        except UnicodeDecodeError as error:
            return _not_valid(path, "UTF-16", data[: error.start].decode("utf-16"), data[error.start])
    if b"\0" in data:
        return None
    body = data.removeprefix(codecs.BOM_UTF8)
    try:
        return Source(path, body.decode(), "utf-8" if len(body) == len(data) else "utf-8-sig")
    except UnicodeDecodeError as error:
        return _not_valid(path, "UTF-8", body[: error.start].decode(), body[error.start])


def _not_valid(path: str, encoding: str, before: str, byte: int) -> Problem:
    line, column = Source(path, before).position(len(before))
    return Problem(path, f"not valid {encoding}: byte 0x{byte:02x}", line, column)
