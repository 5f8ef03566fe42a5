"""The compiled rule book: where it is, its format, and its compilation in a source checkout where a rule file changed.

A book keeps the fields that select a rule apart from the rest of the rule. Its first line gives for each engine the line of its
heads, the second has the ranges of releases; a head has the number of its rule's range and the line of its body. A check reads
the heads of its engine, and the bodies of the rules that may hold.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache

from servelint.core.data import PACKAGE, DataError, active, compiled_path, data_path
from servelint.rules import ranges
from servelint.rules.rule import HEAD, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    book = _BOOK if bundle is None else compiled_path(os.path.join(bundle.folder, "rules", "book.json"))
    if folder == _CHECKOUT and _stale(book) if bundle is None else not os.path.exists(book):
        from servelint.rules.compile import RuleError, write_book

        try:
            os.makedirs(os.path.dirname(book), exist_ok=True)
            write_book(folder, book)
        except RuleError as error:
            if bundle is None:
                raise
            raise DataError(f"{folder}: {error}; run servelint engines update --rollback") from None
        except OSError:
            return _compiled_elsewhere(folder)  # it may only be read
    return _read(book)


def _compiled_elsewhere(rules: str) -> Book:
    import tempfile

    from servelint.rules.compile import write_book

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "book.json")
        write_book(rules, path)
        return _read(path)


def _read(path: str) -> Book:
    with open(path, "rb") as file:
        return Book(file.read())


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
    engines = sorted({rule["engine"] for rule in rules})
    every: list[Any] = []
    heads: dict[str, list[dict[str, Any]]] = {engine: [] for engine in engines}
    bodies: list[dict[str, Any]] = []
    for rule in rules:
        line = 2 + len(engines) + len(bodies)
        if rule["bounds"] not in every:
            every.append(rule["bounds"])
        head = {key: rule[key] for key in HEAD if key in rule}
        heads[rule["engine"]].append({**head, "bounds": every.index(rule["bounds"]), "body": line})
        bodies.append({key: value for key, value in rule.items() if key not in HEAD})
    lines = [{engine: 2 + number for number, engine in enumerate(engines)}, every, *heads.values(), *bodies]
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "wb") as file:
        file.writelines([json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" for line in lines])
    os.utime(temporary, ns=(read_at, read_at))
    os.replace(temporary, path)


class Book:
    """A book's text. Rules come in the order of their ids."""

    __slots__ = ("_engines", "_lines", "_ranges")

    def __init__(self, text: bytes) -> None:
        self._lines = text.split(b"\n")
        self._engines: dict[str, int] = json.loads(self._lines[0])
        self._ranges = [ranges.loaded(bounds) for bounds in json.loads(self._lines[1])]

    def rules(self, *engines: str) -> list[Rule]:
        """The rules of some engines; of all if none is named."""
        return [Rule(head, self._lines[head["body"]], self._ranges[head["bounds"]]) for head in self.heads(*engines)]

    def heads(self, *engines: str) -> list[dict[str, Any]]:
        """What the rules have of rule.HEAD, each with the line of its body."""
        found: list[dict[str, Any]] = []
        for engine in engines or self._engines:
            if engine in self._engines:
                found += json.loads(self._lines[self._engines[engine]])
        return sorted(found, key=lambda head: str(head["id"]))
