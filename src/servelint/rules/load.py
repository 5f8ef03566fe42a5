"""Loading the rule book: compiled in an installed package, compiled anew in a source checkout where a rule file changed."""

from __future__ import annotations

import json
import os
from functools import lru_cache

from servelint.rules.rule import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_BOOK = os.path.join(_HERE, "book.json")
_CHECKOUT = os.path.normpath(os.path.join(_HERE, "..", "..", "..", "rules"))
_COMPILERS = [os.path.join(_HERE, name) for name in ("compile.py", "condition.py", "ranges.py")]


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
    return [Rule(data) for data in _book()["rules"]]


def every(folders: tuple[str, ...]) -> list[Rule]:
    """servelint's own rules and those of some folders."""
    if not folders:
        return rules()
    from servelint.rules import folder

    return [*rules(), *(rule for path in folders for rule in folder.load(path).rules)]


@lru_cache(maxsize=8)
def rules_of(engine: str) -> list[Rule]:
    return [Rule(data) for data in _book()["rules"] if data["engine"] in (engine, "any")]


@lru_cache(maxsize=1)
def _book() -> dict[str, Any]:
    return _data()


def _data() -> dict[str, Any]:
    if not os.path.isdir(os.path.join(_HERE, "book")) and _stale():
        from servelint.rules.compile import compile_book, write_book

        try:
            write_book(_CHECKOUT, _BOOK)
        except OSError:
            return compile_book(_CHECKOUT)  # a checkout that may only be read
    with open(_BOOK, encoding="utf-8") as file:
        data: dict[str, Any] = json.load(file)
    return data


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
