"""From rule files to the compiled rule book. Used by the build, by the tests and in a source checkout; not by a plain check."""

from __future__ import annotations

import os
import time
from typing import Any

from servelint.core.source import Source
from servelint.engines import ENGINES, catalog_file
from servelint.rules import book
from servelint.rules.condition import compile_condition, needs, option_names
from servelint.rules.ranges import compile_range
from servelint.rules.rule import ANY
from servelint.syntax import yaml_values


class RuleError(Exception):
    """What is wrong with a rule file."""


def rule_files(folder: str) -> list[str]:
    """The rule files of a folder, sorted."""
    found: list[str] = []
    for base, _, names in os.walk(folder):
        if base == folder:
            continue  # what stands beside the areas is no rule
        found += [os.path.join(base, name) for name in names if name.endswith(".yaml")]
    return sorted(found)


def read_rule(path: str, folder: str) -> dict[str, Any]:
    """A rule file's data; raises RuleError if it is no rule, or if its id is not its path."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        data = yaml_values.load(Source(path, text))
    except ValueError as error:
        raise RuleError(str(error)) from error
    wanted = os.path.relpath(path, folder).removesuffix(".yaml").replace(os.sep, "/")
    if not isinstance(data, dict) or data.get("id") != wanted:
        raise RuleError(f"{path}: the id must be {wanted}")
    return data


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
        return [engine.id for engine in ENGINES.values() if catalog_file.exists(engine.id, engine.data)]
    ids: list[str] = data["engines"]
    return ids


def compile_rule(data: dict[str, Any]) -> dict[str, Any]:
    """The part of a rule that a check needs, with conditions and range compiled."""
    name = data["id"]
    try:
        when = compile_condition(data["when"]) if data["when"] or "complaint" not in data else ["and", []]
        compiled: dict[str, Any] = {
            **{key: data[key] for key in ("id", "title", "severity", "confidence", "impact", "engine", "message", "advice")},
            "versions": str(data["versions"]),
            "bounds": compile_range(str(data["versions"])),
            "when": when,
            "needs": needs(when),
            "at": data["at"] if isinstance(data["at"], list) else [data["at"]],
            "evidence": [_cited(entry) for entry in data["evidence"]],
        }
        if "unless" in data:
            compiled["unless"] = compile_condition(data["unless"])
        if "options" in data:
            compiled["options"] = {option: said["is"] for option, said in data["options"].items()}
        for option in [*option_names(when), *option_names(compiled.get("unless", ["and", []]))]:
            if option not in compiled.get("options", {}):
                raise ValueError(f"its condition names an option {option!r}, and it has none")
    except (KeyError, ValueError) as error:
        raise RuleError(f"{name}: {error}") from error
    compiled.update({key: data[key] for key in ("check", "complaint", "labels", "fix", "profile") if key in data})
    return compiled


def on_gpus(example: dict[str, Any]) -> str:
    """What an example runs on, after its release: " on 2 x t4"; "" where it does not say."""
    gpu, count = example.get("gpu", "GPUs"), example.get("gpus")
    return f" on {count} x {gpu}" if count is not None else f" on {gpu}" if "gpu" in example else ""


def _cited(entry: dict[str, str]) -> str:
    return f"{entry.get('url') or entry['source']} ({entry['says']})"


def compile_book(folder: str) -> list[dict[str, Any]]:
    """The rules of a folder in the order of their ids."""
    written = [data for path in rule_files(folder) for data in expand(read_rule(path, folder))]
    return [compile_rule(data) for data in sorted(written, key=lambda data: str(data["id"]))]


def find_rule(name: str, folder: str) -> dict[str, Any]:
    """A rule's data by its id; raises RuleError if there is none."""
    path = os.path.join(folder, name + ".yaml")
    if os.path.exists(path):
        return expand(read_rule(path, folder))[0]
    shared = read_rule(os.path.join(folder, "catalog", name.partition("/")[2] + ".yaml"), folder)
    for data in expand(shared):
        if data["id"] == name:
            return data
    raise RuleError(f"there is no rule {name}")


def write_book(folder: str, path: str) -> None:
    """Compile the rules of a folder into a book (servelint.rules.book)."""
    began = time.time_ns()
    book.write(compile_book(folder), path, began)
