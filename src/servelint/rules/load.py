"""The compiled rule book: where it is, its format, and its compilation in a source checkout where a rule file changed.

A book (`core.data.Lines`) keeps the fields that select a rule apart from the rest of the rule. Its header gives for each engine
the line of its heads, and that of the ranges of releases; a head has the number of its rule's range and the line of its
condition, after which the rest of it follows. A check reads the heads of its engine, the conditions of the rules that may hold,
and the rest of those that do.
"""

from __future__ import annotations

import os
from functools import lru_cache

from servelint.core.data import PACKAGE, DataError, Lines, LinesWriter, active, compiled_path, data_path, mapped
from servelint.rules import ranges
from servelint.rules.rule import HEAD, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mmap import mmap
    from typing import Any

    from servelint.core.trust import RuleFolder


_HERE = os.path.join(PACKAGE, "rules")
_BOOK = os.path.join(_HERE, "book.json")
_CHECKOUT = os.path.normpath(os.path.join(PACKAGE, "..", "..", "rules"))
_COMPILERS = [os.path.join(_HERE, name) for name in ("compile.py", "condition.py", "load.py", "ranges.py", "rule.py")]


def rule_folder() -> str:
    """The folder of the rule files: beside the package in a checkout, inside it when installed, or that of a data bundle."""
    inside = data_path("rules/book") if active() is not None else os.path.join(_HERE, "book")
    return inside if os.path.isdir(inside) else _CHECKOUT


def schema_folder() -> str:
    """The folder of the schemas: beside the package in a checkout, inside it when installed."""
    inside = os.path.join(PACKAGE, "schemas")
    return inside if os.path.isdir(inside) else os.path.join(_CHECKOUT, "..", "schemas")


@lru_cache(maxsize=1)
def rules() -> list[Rule]:
    """All rules, in the order of their ids."""
    return _book().rules()


def every(folders: tuple[str | RuleFolder, ...]) -> list[Rule]:
    """The built-in rules and those of some folders."""
    if not folders:
        return rules()
    from servelint.rules import folder

    return [*rules(), *(rule for path in folders for rule in folder.load(path).rules)]


def headings(folders: tuple[str | RuleFolder, ...]) -> dict[str, dict[str, Any]]:
    """The id of each rule, with the options that settings may change, without making the rules themselves."""
    if not folders:
        return _headings()
    return {**_headings(), **{rule.id: rule.options for rule in every(folders)}}


@lru_cache(maxsize=1)
def _headings() -> dict[str, dict[str, Any]]:
    return {head["id"]: head.get("options", {}) for head in _book().heads()}


@lru_cache(maxsize=8)
def rules_of(engine: str) -> list[Rule]:
    """The built-in rules of an engine, with those that hold for every engine."""
    return _book().rules(engine, "any")


@lru_cache(maxsize=1)
def _book() -> Book:
    bundle, folder = active(), rule_folder()
    if not os.path.isdir(folder):
        raise DataError(f"there are no rules: {folder} is not a folder; install servelint again")
    path = _BOOK if bundle is None else compiled_path(os.path.join(bundle.folder, "rules", "book.json"))
    stale = bundle is None and folder == _CHECKOUT and _stale(path)
    return (None if stale else _read(path)) or _compiled(folder, path)


def _compiled(rules: str, path: str) -> Book:
    """Compile a folder of rules to a book; in memory where it cannot be written."""
    from servelint.rules.compile import RuleError, write_book

    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_book(rules, path)
    except RuleError as error:
        wrong = f"{rules}: {error}; run servelint engines update --rollback" if active() is not None else str(error)
        raise DataError(wrong) from None
    except OSError:
        return _compiled_elsewhere(rules)  # it may only be read
    return _read(path) or _compiled_elsewhere(rules)


def _compiled_elsewhere(rules: str) -> Book:
    import tempfile

    from servelint.rules.compile import write_book

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "book.json")
        write_book(rules, path)
        with open(path, "rb") as file:
            return Book(file.read())


def _read(path: str) -> Book | None:
    """The book of a file; None where there is none, or one that another version of servelint has written."""
    try:
        text = mapped(path)
    except FileNotFoundError:
        return None
    return Book(text) if text is not None else None


def _stale(book: str) -> bool:
    try:
        written = os.stat(book).st_mtime_ns
    except OSError:
        return True
    if any(os.stat(path).st_mtime_ns > written for path in _COMPILERS):
        return True
    return any(entry.stat().st_mtime_ns > written for entry in _entries(_CHECKOUT))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    found: list[os.DirEntry[str]] = []
    with os.scandir(folder) as scan:
        for entry in scan:
            found.append(entry)
            if entry.is_dir():
                found += _entries(entry.path)
    return found


# -- the book as a file


def write_book_file(rules: list[dict[str, Any]], path: str, read_at: int) -> None:
    """Write compiled rules (servelint.rules.compile) to a file, which is either the old one or whole at any time.

    read_at: when the reading of the rules began, in nanoseconds; the file bears that time, so that what changed since is newer
    """
    lines = LinesWriter()
    every: list[Any] = []
    heads: dict[str, list[dict[str, Any]]] = {engine: [] for engine in sorted({rule["engine"] for rule in rules})}
    for rule in rules:
        if rule["bounds"] not in every:
            every.append(rule["bounds"])
        head = {key: rule[key] for key in HEAD if key in rule}
        body = lines.add(rule["when"])
        lines.add({key: value for key, value in rule.items() if key not in HEAD and key != "when"})
        heads[rule["engine"]].append({**head, "bounds": every.index(rule["bounds"]), "body": body})
    header = {"ranges": lines.add(every), "engines": {engine: lines.add(those) for engine, those in heads.items()}}
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "wb") as file:
        file.write(lines.text(header))
    os.utime(temporary, ns=(read_at, read_at))
    os.replace(temporary, path)


class Book:
    """A book's text. Rules come in the order of their ids."""

    __slots__ = ("_engines", "_lines", "_ranges")

    def __init__(self, text: bytes | mmap) -> None:
        self._lines = Lines(text)
        self._engines: dict[str, int] = self._lines.header["engines"]
        self._ranges = [ranges.loaded(bounds) for bounds in self._lines.load(self._lines.header["ranges"])]

    def rules(self, *engines: str) -> list[Rule]:
        """The rules of some engines; of all if none is named."""
        return [Rule(head, (self._lines, head["body"]), self._ranges[head["bounds"]]) for head in self.heads(*engines)]

    def heads(self, *engines: str) -> list[dict[str, Any]]:
        """What the rules have of rule.HEAD, each with the line of its body."""
        found: list[dict[str, Any]] = []
        for engine in engines or self._engines:
            if engine in self._engines:
                found += self._lines.load(self._engines[engine])
        return sorted(found, key=lambda head: str(head["id"]))
