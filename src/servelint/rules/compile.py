"""From rule files to the compiled rule book. Used by the build, by the tests and in a source checkout; not by a plain check.

Tables of rules: many rules of one kind in one file, a row each, with what the rows have in common written once.

    columns: {option: the option that has the bound, refused: what the engine does not take}
    each:
      severity: error
      when: {<option>: <refused>}
      message: "{release} does not start with --<option> {<option>}"
    rows:
      page-size-negative: {option: page-size, refused: {below: 0}, ...}

`each` is a rule in which `<column>` stands for a row's cell. What a row says itself replaces that; null leaves it
out.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

from servelint.core.source import Source
from servelint.engines import ENGINES, catalog, operands
from servelint.rules import load
from servelint.rules.condition import compile_amount, compile_condition, every_operand, named_parts, needs, parts_of
from servelint.rules.ranges import compile_range
from servelint.rules.rule import ANY, PLACEHOLDER
from servelint.syntax import yaml_values


class RuleError(Exception):
    """What is wrong with a rule file."""


def rule_files(folder: str) -> list[str]:
    """The rule files and tables of a folder, sorted. Beside its areas only tables are of rules."""
    found: list[str] = []
    for base, _, names in os.walk(folder):
        written = [name for name in names if name.endswith(".yaml") and (base != folder or name.startswith(_TABLE))]
        found += [os.path.join(base, name) for name in written]
    return sorted(found)


_TABLE = "_"
"""What the name of a table's file begins with."""


def read_rules(path: str, folder: str) -> list[dict[str, Any]]:
    """The rules of a file: the one that it holds, or those of a table's rows. A file that stays as it was is read once.

    Raises:
        RuleError: it holds no rule, one whose id is not its path, or a wrong table.
    """
    stat = os.stat(path)
    return [*_read_rules(path, folder, stat.st_mtime_ns, stat.st_size)]


@lru_cache(maxsize=4096)
def _read_rules(path: str, folder: str, changed: int, size: int) -> list[dict[str, Any]]:  # noqa: ARG001 - of its key
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        data = yaml_values.load(Source(path, text))
    except ValueError as error:
        raise RuleError(str(error)) from error
    wanted = os.path.relpath(path, folder).removesuffix(".yaml").replace(os.sep, "/")
    area, _, name = wanted.rpartition("/")
    if name.startswith(_TABLE):
        try:
            return rules_of_table(data, area)
        except ValueError as error:
            raise RuleError(f"{path}: {error}") from error
    if not isinstance(data, dict) or data.get("id") != wanted:
        raise RuleError(f"{path}: the id must be {wanted}")
    return [data]


def expand(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The rules that a file makes: itself, or one for each of its engines (rules/catalog/ holds for several).

    A rule for ANY engine (rules/container/) is about what surrounds the engine, not about its releases.
    """
    if data.get("engine") == ANY:
        return [{**data, "versions": "", "when": {}, "at": [], "message": data["title"], "advice": ""}]
    if "engines" not in data:
        return [data]
    name = data["id"].partition("/")[2]
    shared = {key: value for key, value in data.items() if key != "engines"}
    return [
        {
            **shared,
            "id": f"{ENGINES[engine].package}/{name}",
            "engine": engine,
            "versions": "",
            "when": {},
            "at": [],
            "message": data["title"],
            "advice": "",
            "examples": {
                kind: [example for example in examples if example["engine"] == engine]
                for kind, examples in data.get("examples", {}).items()
            },
        }
        for engine in engines_of(data)
    ]


def engines_of(data: dict[str, Any]) -> list[str]:
    """The ids of the engines that a rule of rules/catalog/ holds for."""
    if data["engines"] == "all":
        return list(ENGINES)
    if data["engines"] == "catalog":
        return [engine.id for engine in ENGINES.values() if catalog.has_catalog(engine.id, engine.data)]
    ids: list[str] = data["engines"]
    return ids


def compile_rule(data: dict[str, Any]) -> dict[str, Any]:
    """The part of a rule that a check needs, with conditions, amounts and range compiled.

    Raises:
        RuleError: the rule cannot be compiled; the text says where and why. `faults` finds what is wrong beyond that.
    """
    part = ""
    try:
        part = "versions: "
        bounds = compile_range(str(data["versions"]))
        values: dict[str, Any] = {}
        for name, written in data.get("values", {}).items():
            part = f"values.{name}: "
            values[name] = compile_amount(written, values)
        part = "when: "
        when = compile_condition(data["when"], values) if data["when"] or "complaint" not in data else ["and", []]
        part = ""
        compiled: dict[str, Any] = {
            **{key: data[key] for key in ("id", "title", "severity", "confidence", "impact", "engine", "message", "advice")},
            "versions": str(data["versions"]),
            "bounds": bounds,
            "when": when,
            "needs": needs(when),
            "at": data["at"] if isinstance(data["at"], list) else [data["at"]],
            "evidence": [f"{entry.get('url') or entry['source']} ({entry['says']})" for entry in data["evidence"]],
        }
        if "impact-in" in data:
            part = "impact-in: "
            compiled["impacts"] = [[compile_range(text), impact] for text, impact in data["impact-in"].items()]
        if "unless" in data:
            part = "unless: "
            compiled["unless"] = compile_condition(data["unless"], values)
        for number, case in enumerate(data.get("cases", []), start=1):
            part = f"case {number}: "
            named = [name for name in _printed(case["text"]) if name in values]
            compiled.setdefault("cases", []).append([compile_condition(case["when"], values), case["text"], named])
        part = ""
        _texts(data, compiled, values)
        if "options" in data:
            compiled["options"] = {option: said["is"] for option, said in data["options"].items()}
        for option in _options(compiled):
            if option not in compiled.get("options", {}):
                raise ValueError(f"its condition names an option {option!r}, and it has none")
    except (KeyError, ValueError) as error:
        raise RuleError(f"{data['id']}: {part}{error}") from error
    compiled.update({key: data[key] for key in ("about", "check", "complaint", "labels", "fix", "profile") if key in data})
    return compiled


def _printed(text: str) -> list[str]:
    """The names that a text's placeholders print."""
    return [name for name, _ in PLACEHOLDER.findall(text)]


def _filled_texts(data: dict[str, Any]) -> list[str]:
    """The texts of a rule whose placeholders are filled in, without those of its cases."""
    fix = data.get("fix", {})
    changes = [*fix.get("set", {}).values(), *fix.get("rename", {}).values()]
    texts = [data["message"], data["advice"], *data.get("labels", {}).values(), *changes]
    return [text for text in texts if isinstance(text, str)]


def _texts(data: dict[str, Any], compiled: dict[str, Any], values: dict[str, Any]) -> None:
    """Note the values that the texts of a rule print."""
    printed = [name for text in _filled_texts(data) for name in _printed(text)]
    if ("case" in printed) is not ("cases" in compiled):
        raise ValueError("cases and {case} in a text go together")
    shows = sorted({name for name in printed if name in values})
    named = {*shows, *[name for _, _, names in compiled.get("cases", []) for name in names]}
    if shows:
        compiled["shows"] = shows
    if named:
        compiled["values"] = {name: amount for name, amount in values.items() if name in named}


def _conditions(compiled: dict[str, Any]) -> list[Any]:
    return [
        compiled["when"],
        *[one for one in [compiled.get("unless")] if one],
        *[when for when, *_ in compiled.get("cases", [])],
    ]


def _options(compiled: dict[str, Any]) -> list[str]:
    """The options of the rule that its conditions and values take their numbers from."""
    parts = [part for one in compiled.get("values", {}).values() for part in parts_of(one)]
    found = [*parts, *[part for condition in _conditions(compiled) for part in named_parts(condition)]]
    return [part["option"] for part in found if "option" in part]


def faults(data: dict[str, Any], compiled: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with a rule that can be compiled: operands, names and checks that do not exist.

    Yields:
        The key of the rule, and what is wrong there.
    """
    engine_catalog = catalog.load(data["engine"])
    for name in data.get("values", {}):
        if engine_catalog is not None and engine_catalog.runs_of(name):
            yield "values", f"{name} is also the name of an option; give the value another name"
    asked: list[tuple[str, str]] = [("when", name) for name in every_operand(compiled["when"])]
    asked += [("unless", name) for name in every_operand(compiled.get("unless", ["and", []]))]
    asked += [("cases", name) for when, *_ in compiled.get("cases", []) for name in every_operand(when)]
    parts = [part for one in compiled.get("values", {}).values() for part in parts_of(one)]
    asked += [("values", part["operand"]) for part in parts if "operand" in part]
    asked += [("at", name) for name in compiled["at"]]
    known = {"release", *(["case"] if "cases" in compiled else []), *data.get("values", {})}
    if "check" not in data:
        asked += [("message", name) for text in _filled_texts(data) for name in _printed(text) if name not in known]
    asked += [("cases", name) for _, text, _ in compiled.get("cases", []) for name in _printed(text) if name not in known]
    seen: set[str] = set()
    for key, name in asked:
        said = operands.fault(data["engine"], name) if name not in seen else None
        seen.add(name)
        if said is not None:
            yield key, said
    every = [*parts, *[part for condition in _conditions(compiled) for part in named_parts(condition)]]
    for kind in dict.fromkeys([part["names"] for part in every if "names" in part]):
        if engine_catalog is None or not engine_catalog.names(kind):
            yield "when", f"the catalog has no names of the kind {kind!r}"
    if "check" in data and not _exists(data["check"]):
        yield "check", f"there is no check {data['check']!r}: src/servelint/judge/checks has no such module or function"


def _exists(check: str) -> bool:
    """Whether a module of servelint.judge.checks has the function that a rule names as `module.function`."""
    module, _, function = check.partition(".")
    try:
        return callable(getattr(import_module("servelint.judge.checks." + module), function, None))
    except ModuleNotFoundError:
        return False


def on_gpus(example: dict[str, Any]) -> str:
    """The GPUs of an example, after its release: " on 2 x t4"; "" for an example that names none."""
    gpu, count = example.get("gpu", "GPUs"), example.get("gpus")
    return f" on {count} x {gpu}" if count is not None else f" on {gpu}" if "gpu" in example else ""


def every_rule(folder: str) -> list[dict[str, Any]]:
    """The rules of a folder as they are written, one for each engine, in the order of their ids."""
    found = [data for path in rule_files(folder) for read in read_rules(path, folder) for data in expand(read)]
    return sorted(found, key=lambda data: str(data["id"]))


def compile_book(folder: str) -> list[dict[str, Any]]:
    """The rules of a folder in the order of their ids. Raises RuleError for the first that is wrong."""
    compiled: list[dict[str, Any]] = []
    for data in every_rule(folder):
        if compiled and compiled[-1]["id"] == data["id"]:
            raise RuleError(f"{data['id']}: there are two rules of this name")
        compiled.append(compile_rule(data))
        for key, said in faults(data, compiled[-1]) if data["engine"] != ANY else ():
            raise RuleError(f"{data['id']}: {key}: {said}")
    return compiled


def file_of(name: str, folder: str) -> str | None:
    """The file that has a rule: its own, a table with its row, or that of a catalog rule; None if there is none."""
    area, _, short = name.partition("/")
    own = os.path.join(folder, area, short + ".yaml")
    if os.path.exists(own):
        return own
    for place, row in ((os.path.join(folder, area), short), (folder, name)):
        for table_file in sorted(os.listdir(place)) if os.path.isdir(place) else []:
            if table_file.startswith(_TABLE) and _has_row(os.path.join(place, table_file), row):
                return os.path.join(place, table_file)
    shared = os.path.join(folder, "catalog", short + ".yaml")
    return shared if os.path.exists(shared) else None


def _has_row(path: str, row: str) -> bool:
    """Whether a table seems to have a row. Its text is searched: to parse each table would take far longer."""
    with open(path, encoding="utf-8") as file:
        return f"\n  {row}:\n" in file.read()


def find_rule(name: str, folder: str) -> dict[str, Any]:
    """A rule's data by its id; raises RuleError if there is none."""
    path = file_of(name, folder)
    for data in read_rules(path, folder) if path is not None else []:
        for one in expand(data):
            if one["id"] == name:
                return one
    raise RuleError(f"there is no rule {name}")


def write_book(folder: str, path: str) -> None:
    """Compile the rules of a folder into a book (servelint.rules.load)."""
    began = time.time_ns()
    load.write_book_file(compile_book(folder), path, began)


# -- tables of rules


_CELL = re.compile(r"<([a-z][a-z-]*)>")


def rules_of_table(table: Any, area: str) -> list[dict[str, Any]]:
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
    return [_row_rule(f"{area}/{name}" if area else name, row, columns, each) for name, row in rows.items()]


def _row_rule(rule: str, row: dict[str, Any], columns: dict[str, Any], each: dict[str, Any]) -> dict[str, Any]:
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
    for field, text in own.items():
        for column in sorted(_columns(text) & set(columns)):
            raise ValueError(f"{rule}: its own {field} has <{column}>; only the fields of `each` are filled")
    found = {"id": rule, **{field: _filled_cells(template, cells) for field, template in templates.items()}, **own}
    return {key: value for key, value in found.items() if value is not None}


def _columns(template: Any) -> set[str]:
    """The columns that a template takes cells from."""
    if isinstance(template, str):
        return set(_CELL.findall(template))
    parts = [*template, *template.values()] if isinstance(template, dict) else template if isinstance(template, list) else []
    return {column for part in parts for column in _columns(part)}


def _filled_cells(template: Any, cells: dict[str, Any]) -> Any:
    """A template with the cells in place: a cell of any type where it is the whole of a string, else as text."""
    if isinstance(template, str):
        whole = _CELL.fullmatch(template)
        return cells[whole.group(1)] if whole else _CELL.sub(lambda found: str(cells[found.group(1)]), template)
    if isinstance(template, dict):
        return {_filled_cells(key, cells): _filled_cells(part, cells) for key, part in template.items()}
    return [_filled_cells(part, cells) for part in template] if isinstance(template, list) else template
