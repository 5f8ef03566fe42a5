"""The rule book as it is written, read once a process. Nobody changes what is returned."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from servelint.rules.compile import every_rule, read_rules, rule_files

FOLDER = str(Path(__file__).parent.parent / "rules")


@lru_cache(maxsize=1)
def as_written() -> list[dict[str, Any]]:
    """The rules of all files and tables; one that several engines share is there once."""
    return [rule for path in rule_files(FOLDER) for rule in read_rules(path, FOLDER)]


@lru_cache(maxsize=1)
def each_rule() -> list[dict[str, Any]]:
    """The rules, one for each engine, in the order of their ids."""
    return every_rule(FOLDER)


def id_of(rule: dict[str, Any]) -> str:
    """The id of a rule as it is written."""
    return str(rule["id"])
