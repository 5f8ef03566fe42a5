"""Results of earlier checks, file by file.

A result is a function of the program, the settings, the file's path and text, and the files beside it that its reader looked
for, found or not. The first four make the name of an entry. The last are stored in it as questions with their answers, and are
asked again by the same code: an entry counts only if every answer is the same. Contents are compared, never times.
"""

from __future__ import annotations

import json
import os

from servelint.cache import context
from servelint.cache.store import AT_MOST, Store, Unusable, user_key
from servelint.core.digest import content_digest
from servelint.core.result import Report
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.files.siblings import Neighbours, digest

FOLDER = ".servelint_cache"


def default_folder() -> str:
    """Return where the results of a check are kept: in the project of the current folder."""
    from servelint.files.project import root

    return os.path.join(root(os.getcwd()), FOLDER)


def opened(folder: str | None = None, at_most: int = AT_MOST) -> ResultCache | None:
    """Open a cache for one run; None if this user has no place for the key that seals its entries, or servelint has no files.

    Args:
        folder: Where it is; None for `default_folder()`.
        at_most: Bytes of all entries.

    Raises:
        Unusable: There is something at the place that is not a cache of this user.
    """
    try:
        place = os.path.abspath(folder) if folder is not None else default_folder()
        context.program()
    except OSError:
        return None
    key = user_key()
    return ResultCache(Store(place, key, at_most)) if key is not None else None


class ResultCache:
    """The results of one run: what it finds beside a file is looked for once in that run.

    Attributes:
        store: The entries.
        hits: How many results were found.
    """

    __slots__ = ("_answers", "_around", "_settings", "hits", "store")

    def __init__(self, store: Store) -> None:
        self.store = store
        self.hits = 0
        self._settings: dict[int, tuple[Settings, str]] = {}
        self._around: tuple[str | None, int] | None = None
        self._answers: dict[tuple[str, ...], str] = {}

    def name(self, source: Source, settings: Settings, undecided: bool) -> str | None:
        """Return the name of a file's entry; None where its result depends on more than files: on a git revision.

        Args:
            source: The file.
            settings: Its settings.
            undecided: Whether the rules that stay undecided are noted.
        """
        if settings.trust.base is not None:
            return None
        known = self._settings.get(id(settings))
        if known is None:
            known = self._settings[id(settings)] = settings, context.settings_digest(settings)
        texts = (context.program(), known[1], source.path, source.encoding, str(undecided), source.text)
        return content_digest(*[text.encode("utf-8", "surrogatepass") for text in texts])

    def find(self, name: str, source: Source, settings: Settings, beside: Neighbours) -> Report | None:
        """Return the earlier result of a file, if what it depends on is the same.

        Args:
            name: Its entry.
            source: The file.
            settings: Its settings.
            beside: The files beside it.
        """
        data = self.store.read(name)
        if data is None:
            return None
        try:
            head, _, body = data.decode().partition("\n")
            asked = json.loads(head)
            if not all(self._answer(question, settings, beside) == answer for question, answer in asked):
                return None
            from servelint.cache import record

            def answer(number: int) -> Source:
                question, was = asked[number]
                found = beside.answer(question)
                if not isinstance(found, Source) or digest(found) != was:
                    raise LookupError  # it changed since it was compared
                return found

            report = record.decode(body, source, answer)
        except (ValueError, TypeError, KeyError, IndexError, LookupError, AttributeError, RecursionError):
            return None
        report.files, report.paths = 1, [source.path]
        self.hits += 1
        return report

    def add(self, name: str, report: Report, source: Source, beside: Neighbours) -> None:
        """Keep the result of a file, if it can be stored."""
        from servelint.cache import record

        try:
            asked = [[question, digest(answer)] for question, answer in beside.answers.items()]
            body = record.encode(report, source, list(beside.answers.values()))
            data = f"{json.dumps(asked)}\n{body}".encode()
        except (record.Unstorable, UnicodeError, ValueError, TypeError):
            return
        self.store.write(name, data)

    def _answer(self, question: list[str], settings: Settings, beside: Neighbours) -> str:
        """Return the digest of what is found beside a file now. Files of one folder share what is found."""
        around = beside.folder, id(settings)
        if around != self._around:
            self._around = around
            self._answers = {}
        key = tuple(question)
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = digest(beside.answer(key))
        return found


__all__ = ["FOLDER", "ResultCache", "Unusable", "default_folder", "opened"]
