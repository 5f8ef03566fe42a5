"""Loading the rule book: compiled in an installed package, compiled anew in a source checkout where a rule file changed."""

from __future__ import annotations

import os
from functools import lru_cache

from servelint.rules.book import Book
from servelint.rules.rule import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.core.trust import RuleFolder

_HERE = os.path.dirname(os.path.abspath(__file__))
_BOOK = os.path.join(_HERE, "book.json")
_CHECKOUT = os.path.normpath(os.path.join(_HERE, "..", "..", "..", "rules"))
_COMPILERS = [
    os.path.join(_HERE, name)
    for name in ("amount.py", "book.py", "compile.py", "condition.py", "ranges.py", "rule.py", "table.py")
]


def rule_folder() -> str:
    """Where the rule files are: beside the package in a checkout, inside it when installed."""
    inside = os.path.join(_HERE, "book")
    return inside if os.path.isdir(inside) else _CHECKOUT


def schema_folder() -> str:
    """Where the schemas are, likewise."""
    inside = os.path.join(_HERE, "..", "schemas")
    return inside if os.path.isdir(inside) else os.path.join(_CHECKOUT, "..", "schemas")


@lru_cache(maxsize=1)
def rules() -> list[Rule]:
    """All rules, in the order of their ids."""
    return _book().rules()


def every(folders: tuple[str | RuleFolder, ...]) -> list[Rule]:
    """servelint's own rules and those of some folders."""
    if not folders:
        return rules()
    from servelint.rules import folder

    return [*rules(), *(rule for path in folders for rule in folder.load(path).rules)]


@lru_cache(maxsize=8)
def headings(folders: tuple[str | RuleFolder, ...]) -> dict[str, dict[str, Any]]:
    """The id of each rule, with the options that settings may change, without making the rules themselves."""
    found: dict[str, dict[str, Any]] = {head["id"]: head.get("options", {}) for head in _book().heads()}
    if folders:
        found.update({rule.id: rule.options for rule in every(folders)})
    return found


@lru_cache(maxsize=8)
def rules_of(engine: str) -> list[Rule]:
    return _book().rules(engine, "any")


@lru_cache(maxsize=1)
def _book() -> Book:
    return _opened()


def _opened() -> Book:
    if not os.path.isdir(os.path.join(_HERE, "book")) and _stale():
        from servelint.rules.compile import write_book

        try:
            write_book(_CHECKOUT, _BOOK)
        except OSError:
            return _compiled_elsewhere()  # a checkout that may only be read
    return _read(_BOOK)


def _compiled_elsewhere() -> Book:
    import tempfile

    from servelint.rules.compile import write_book

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "book.json")
        write_book(_CHECKOUT, path)
        return _read(path)


def _read(path: str) -> Book:
    with open(path, encoding="utf-8") as file:
        return Book(file.read())


def _stale() -> bool:
    try:
        written = os.stat(_BOOK).st_mtime_ns
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
