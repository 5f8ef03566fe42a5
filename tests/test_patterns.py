"""No regular expression takes more than cubic time: regexploit looks at every one that the code and the data hold."""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import servelint

redos = pytest.importorskip("regexploit.redos")
sre = pytest.importorskip("regexploit.ast.sre")

SOURCE = Path(servelint.__file__).parent
FUNCTIONS = {"compile", "match", "search", "fullmatch", "findall", "finditer", "sub", "subn", "split"}
DATA = (
    "engines/data/images.json",
    "models/families.json",
    "models/parsers.json",
    "hardware/gpus.json",
    "hardware/machines.json",
)
"""Files with expressions in them: every text that has a sign of one is looked at."""

MADE = {
    "shell/patterns.py": "a bracket expression, and nothing else",
    "shell/conditions.py": "a script's own: how many ways there are to try is counted before it is used",
    "shell/expand.py": "the separators of IFS, escaped",
    "shell/lexer.py": "the word that ends a here-document, escaped",
    "models/patterns.py": "names of modules in a checkpoint's configuration: their length and repetitions are bounded there",
}
"""Modules with expressions that are made from what a file says, and why these are harmless."""


def expressions() -> Iterator[tuple[str, str]]:
    """(module:line, pattern) of each call of `re` in the code."""
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_re(node.func) and node.args]
        if calls and not name.startswith("lsp/"):
            module = importlib.import_module(
                "servelint." + name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
            )
            for call in calls:
                found = _value(call.args[0], vars(module))
                if found is not None:
                    yield f"{name}:{call.lineno}", found


def _is_re(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr in FUNCTIONS
        and isinstance(function.value, ast.Name)
        and function.value.id == "re"
    )


def _value(node: ast.expr, names: dict[str, Any]) -> str | None:
    """What an expression of the code gives where only its module's own names stand in it."""
    try:
        found = eval(compile(ast.Expression(node), "<pattern>", "eval"), dict(names))
    except Exception:  # it needs more than names
        return None
    return found.decode("latin-1") if isinstance(found, bytes) else found if isinstance(found, str) else None


def texts(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from (key, *texts(value))
    elif isinstance(data, list):
        for item in data:
            yield from texts(item)
    elif isinstance(data, str):
        yield data


def of_data() -> Iterator[tuple[str, str]]:
    for name in DATA:
        for text in texts(json.loads((SOURCE / name).read_text(encoding="utf-8"))):
            if re.search(r"[*+?\\|(\[]", text):
                yield name, text


def starriness(pattern: str) -> int:
    """The degree by which the time of an expression grows; 2 or less where nothing was found."""
    try:
        parsed = sre.SreOpParser().parse_sre(pattern)
    except re.error:
        return 0  # a text that is no expression
    return max([found.starriness for found in redos.find(parsed)], default=0)


def test_the_tool_finds_what_it_is_there_for() -> None:
    assert starriness(r"^(a+)+b") > 10
    assert starriness(r"^\w+\w+\w+\w+x") > 2
    assert starriness(r"^[ \t]*\w+$") == 0


def test_all_are_looked_at() -> None:
    found = dict(expressions())
    assert len(found) > 400
    assert any(name.startswith("shell/lexer.py") for name in found)
    assert len(list(of_data())) > 20
    assert all((SOURCE / name).is_file() for name in MADE)


def test_none_is_pathological() -> None:
    wrong = [f"{name}: {pattern[:80]}" for name, pattern in [*expressions(), *of_data()] if starriness(pattern) > 2]
    assert wrong == []
