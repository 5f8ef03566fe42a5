"""Tables of rules: many rules of one kind in one file, a row each, with what the rows have in common written once.

    columns: {option: the option that has the bound, refused: what the engine does not take}
    each:
      severity: error
      when: {<option>: <refused>}
      message: "{release} does not start with --<option> {<option>}"
    rows:
      page-size-negative: {option: page-size, refused: {below: 0}, ...}

`each` is a rule in which `<column>` stands for a row's cell. What a row says itself takes the place of that; null leaves it
out.
"""

from __future__ import annotations

import re
from typing import Any

_CELL = re.compile(r"<([a-z][a-z-]*)>")


def rules_of(table: Any, area: str) -> list[dict[str, Any]]:
    """The rules that a table's rows stand for, as rule files would have them.

    Args:
        table: The file's data.
        area: The area of its rules, "" for a table whose rows are named `<area>/<name>`.

    Raises:
        ValueError: The table is none, or one of its rows lacks a cell or has one that nothing uses.
    """
    if not isinstance(table, dict) or set(table) != {"columns", "each", "rows"}:
        raise ValueError("a table has columns, each and rows")
    columns, each, rows = table["columns"], table["each"], table["rows"]
    for field, template in each.items():
        for column in sorted(_columns(template) - set(columns)):
            raise ValueError(f"each.{field}: there is no column {column}")
    return [_rule(f"{area}/{name}" if area else name, row, columns, each) for name, row in rows.items()]


def _rule(rule: str, row: dict[str, Any], columns: dict[str, Any], each: dict[str, Any]) -> dict[str, Any]:
    cells = {key: value for key, value in row.items() if key in columns}
    own = {key: value for key, value in row.items() if key not in columns}
    templates = {field: template for field, template in each.items() if field not in own}
    used: set[str] = set()
    for field, template in templates.items():
        used |= _columns(template)
        for column in sorted(_columns(template) - set(cells)):
            raise ValueError(f"{rule}: it has no {column}, which its {field} is made of")
    for column in sorted(set(cells) - used):
        raise ValueError(f"{rule}: nothing uses its {column}")
    found = {"id": rule, **{field: _filled(template, cells) for field, template in templates.items()}, **own}
    return {key: value for key, value in found.items() if value is not None}


def _columns(template: Any) -> set[str]:
    """The columns that a template takes cells from."""
    if isinstance(template, str):
        return set(_CELL.findall(template))
    parts = [*template, *template.values()] if isinstance(template, dict) else template if isinstance(template, list) else []
    return {column for part in parts for column in _columns(part)}


def _filled(template: Any, cells: dict[str, Any]) -> Any:
    """A template with the cells in place: a cell of any type where it is the whole of a string, else as text."""
    if isinstance(template, str):
        whole = _CELL.fullmatch(template)
        return cells[whole.group(1)] if whole else _CELL.sub(lambda found: str(cells[found.group(1)]), template)
    if isinstance(template, dict):
        return {_filled(key, cells): _filled(part, cells) for key, part in template.items()}
    return [_filled(part, cells) for part in template] if isinstance(template, list) else template
