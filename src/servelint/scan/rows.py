"""The rows of a scan, in one place for JSON Lines and Parquet: one for each finding, one for what could not be read."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from servelint.core.finding import Finding
    from servelint.core.problem import Problem

    Row: TypeAlias = dict[str, str | int | None]

COLUMNS: dict[str, type] = {
    "kind": str,
    "repository": str,
    "revision": str,
    "path": str,
    "line": int,
    "column": int,
    "end_line": int,
    "end_column": int,
    "rule": str,
    "severity": str,
    "confidence": str,
    "impact": str,
    "message": str,
    "versions": str,
    "engine": str,
    "release": str,
    "release_from": str,
    "launch": str,
    "source": str,
    "blob": str,
    "fingerprint": str,
}
"""kind:     `finding`, or `error` for a file or a repository that could not be read or parsed
path:     where it stands in the repository;  source: the file that starts the engine, which may be another one
blob:     git's id of the content of source
revision: the commit, null where the files are of none;  the others are those of `servelint check --format json`"""

FINDING, ERROR = "finding", "error"
_PLACE = ("rule", "path", "line", "column", "end_line", "end_column", "message")
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def of_finding(finding: Finding, source: str, blob: str) -> Row:
    """The row of a finding without the repository. source, blob: the file that was read, and the id of its content"""
    launch, span = finding.launch, finding.span
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {
        "kind": FINDING,
        "path": span.source.path,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "rule": finding.rule,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "impact": finding.impact,
        "message": finding.sentence,
        "versions": finding.affected or None,
        "engine": launch.engine if launch is not None else None,
        "release": finding.release,
        "release_from": finding.release_from,
        "launch": launch.name if launch is not None else None,
        "source": source,
        "blob": blob,
        "fingerprint": finding.fingerprint,
    }


def of_problem(problem: Problem, blob: str | None = None) -> Row:
    """The row of a file that could not be read or parsed; of a whole repository where its path is empty."""
    return {
        "kind": ERROR,
        "path": problem.path,
        "line": problem.line,
        "column": problem.column,
        "message": problem.message,
        "source": problem.path,
        "blob": blob,
    }


def settled(rows: list[Row]) -> list[Row]:
    """The rows of one repository in their order. What several files tell counts once, as servelint.lint.settle has it."""
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


def lines(rows: Iterable[Row], repository: str, revision: str | None) -> bytes:
    """Rows as JSON Lines, every column in its order. A byte of a path that is no UTF-8 becomes a `\\udcXX`."""
    head: Row = {**dict.fromkeys(COLUMNS), "repository": repository, "revision": revision}
    texts = [_ENCODE({**head, **row}) + "\n" for row in rows]
    return "".join(texts).encode("utf-8", "backslashreplace")
