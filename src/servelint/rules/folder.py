"""Users' folders of rules, in the format of the built-in ones: validation against the schema, with the place of each problem.

Imports jsonschema, when a folder is read.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.core.trust import EVERYTHING, RuleFolder, Trust, folder_path
from servelint.rules.compile import RuleError, compile_rule, faults
from servelint.rules.load import schema_folder
from servelint.rules.rule import Rule
from servelint.syntax import yaml, yaml_values
from servelint.syntax.yaml import Node

_MAX_SIZE = 1 << 20
_MAX_NODES = 10_000


class FolderRules:
    """The rules of a folder, and what is wrong with its files.

    Attributes:
        rules: the compiled rules.
        written: their data as the files have it.
        problems: what is wrong, with its place.
    """

    __slots__ = ("problems", "rules", "written")

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.written: list[dict[str, Any]] = []
        self.problems: list[Problem] = []


def load(where: str | RuleFolder) -> FolderRules:
    """The rules below a folder; a rule's id is its path there, `<area>/<name>`. They are kept until `forget` is called."""
    return _load(where, os.path.abspath(folder_path(where)))


@lru_cache(maxsize=16)
def _load(where: str | RuleFolder, _: str) -> FolderRules:
    folder, trust = where if isinstance(where, RuleFolder) else (where, EVERYTHING)
    book = FolderRules()
    if not trust.is_folder(folder):
        book.problems.append(Problem(folder, "is not a folder of rules"))
        return book
    for path in _files(folder, trust):
        wanted = os.path.relpath(path, folder).removesuffix(".yaml").replace(os.sep, "/")
        inside = os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), ""))
        source = _read(path, trust) if inside else Problem(path, "not read: a link outside the folder of rules")
        if isinstance(source, Problem):
            book.problems.append(source)
            continue
        found = _rule(source, wanted)
        if isinstance(found, dict):
            book.written.append(found)
            book.rules.append(Rule(compile_rule(found)))
        else:
            book.problems += found
    return book


forget = _load.cache_clear
"""Forget the rules that were read, because files changed."""


def _files(folder: str, trust: Trust) -> list[str]:
    """The rule files of the areas; files beside the areas are not rules."""
    found = [path for path in trust.below(folder) if path.endswith(".yaml")]
    return [path for path in found if os.path.dirname(path) != folder.rstrip(os.sep)]


def _read(path: str, trust: Trust) -> Source | Problem:
    try:
        data = trust.read(path, _MAX_SIZE)
        if len(data) > _MAX_SIZE:
            return Problem(path, f"not read: rule files are read up to {_MAX_SIZE >> 20} MiB")
        return Source(path, data.decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        return Problem(path, f"cannot be read: {error}")


def _rule(source: Source, wanted: str) -> dict[str, Any] | list[Problem]:
    """A rule file's data, or what is wrong with it."""
    documents, problem = yaml.documents(source)
    if problem is not None:
        return [problem]
    if len(documents) != 1:
        return [Problem(source.path, "a rule file holds one rule", 1, 1)]
    (document,) = documents
    if _size(document, {}) > _MAX_NODES:
        return [Problem(source.path, f"not read: aliases make more than {_MAX_NODES:,} keys and values of it", 1, 1)]
    try:
        data = yaml_values.data(document)
    except yaml_values.NotData as error:
        return [Problem(source.path, str(error), *source.position(yaml.start(error.node)))]
    errors = sorted(_validator().iter_errors(data), key=lambda fault: [str(part) for part in fault.absolute_path])
    problems = [_problem(source, document, fault.absolute_path, _message(fault)) for fault in errors]
    if not problems and data["id"] != wanted:
        problems.append(
            _problem(source, document, ["id"], f"the id is {data['id']!r}, and its file's place makes it {wanted!r}")
        )
    if problems:
        return problems
    try:
        compiled = compile_rule(data)
    except RuleError as error:
        return [Problem(source.path, str(error).partition(": ")[2], 1, 1)]
    if "check" in data:
        return [_problem(source, document, ["check"], "only servelint's own rules have checks; use `when`")]
    problems = [_problem(source, document, [key], text) for key, text in faults(data, compiled)]
    if problems:
        return problems
    found: dict[str, Any] = data
    return found


def _size(node: Node, known: dict[int, float]) -> float:
    """The number of nodes in a node, those behind an alias counted each time; infinite for one that contains itself."""
    if id(node) not in known:
        known[id(node)] = math.inf
        inside = [part for pair in node.value for part in pair] if yaml.is_mapping(node) else yaml.items(node) or []
        known[id(node)] = 1 + sum([_size(part, known) for part in inside])
    return known[id(node)]


def _message(fault: Any) -> str:
    path = ".".join([str(part) for part in fault.absolute_path])
    message = str(fault.message)
    return f"{path}: {message}" if path else message


def _problem(source: Source, document: Node, path: Sequence[str | int], message: str) -> Problem:
    """What is wrong, at the deepest node of a path that exists."""
    node = document
    for part in path:
        if (listed := yaml.items(node)) is not None:
            if not isinstance(part, int) or part >= len(listed):
                break
            node = listed[part]
            continue
        entry = yaml.entries(node).get(str(part))
        if entry is None:
            break
        node = entry[1]
    line, column = source.position(yaml.span(source, node).start)
    return Problem(source.path, message, line, column)


@lru_cache(maxsize=1)
def _validator() -> Any:
    from jsonschema import Draft202012Validator  # a second where its optional packages are installed

    with open(os.path.join(schema_folder(), "rule.schema.json"), encoding="utf-8") as file:
        return Draft202012Validator(json.load(file))
