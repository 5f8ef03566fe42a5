"""No regular expression takes more than cubic time: regexploit looks at every one that the code and the data hold."""

from __future__ import annotations

import ast
import importlib
import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import servelint
from servelint.engines import ENGINES, entry
from servelint.engines.products import PRODUCTS
from servelint.readers import installs, prepared
from servelint.readers.tasks import generic

redos = pytest.importorskip("regexploit.redos")
sre = pytest.importorskip("regexploit.ast.sre")

SOURCE = Path(servelint.__file__).parent
FUNCTIONS = {"compile", "match", "search", "fullmatch", "findall", "finditer", "sub", "subn", "split"}
DATA = (
    *[f"readers/charts/{path.name}" for path in sorted((SOURCE / "readers" / "charts").glob("*.json"))],
    "models/families.json",
    "models/parsers.json",
    "hardware/gpus.json",
    "readers/formats.json",
    "hardware/machines.json",
)
"""Files with expressions in them: every text that has a sign of one is looked at."""

MADE = {
    "syntax/batch/words.py": "a text that is replaced, escaped",
    "engines/config.py": "in the records of engines, which are looked at",
    "engines/conversions.py": "constants of the module, handed to a function",
    "engines/entry.py": "made from the records of engines, and looked at",
    "engines/images.py": "in the records of engines, which are looked at",
    "engines/products.py": "in the records of products, which are looked at",
    "engines/stack.py": "constants of the module, handed to a function; names of packages, escaped",
    "files/siblings.py": "constants of the readers, handed to a function",
    "fixes/entries.py": "the name of a variable that is an identifier, in expressions that take a line each",
    "hardware/__init__.py": "data, which is looked at",
    "judge/container/network.py": "in the records of engines: a list of paths",
    "judge/checks/containers.py": "the name of a program, escaped",
    "judge/judging.py": "the names of an engine and a release, escaped",
    "memory/llamacpp.py": "constants of the module, in a table",
    "models/__init__.py": "data, which is looked at",
    "models/pruned.py": "the name of a model, escaped",
    "models/quantization.py": "names of modules in a checkpoint: their length and repetitions are bounded there",
    "readers/__init__.py": "in the records of formats, which are looked at",
    "readers/compose.py": "the names of a service, escaped",
    "readers/containers.py": "in the records of engines, which are looked at",
    "readers/cluster_list.py": "made from the records of engines and formats, escaped",
    "readers/discover.py": "made from the records of engines, escaped",
    "readers/argv_json.py": "made from the records of engines, escaped",
    "judge/checks/llamacpp.py": "constants of the module, in a table",
    "judge/checks/modelfile.py": "constants of the module, in a table",
    "judge/extent.py": "constants of the module, in a table",
    "syntax/go_functions.py": "a text that is replaced, escaped",
    "syntax/placeholders.py": "constants of the module, handed to a function",
    "readers/commands.py": "the name of a variable, escaped",
    "readers/deployed.py": "the path of a file, escaped",
    "readers/dockerfile_stages.py": "the escape character and the name of a here-document, escaped",
    "readers/hcl.py": "the word that ends a here-document, letters and digits",
    "readers/kubernetes/overlays.py": "a file's own, of plain names with two stars at most",
    "readers/helm.py": "the names of keys and of helpers, escaped",
    "readers/helm_chart.py": "data, which is looked at",
    "readers/installs.py": "made from the records of engines, and looked at",
    "readers/markdown/blocks.py": "two names of elements",
    "readers/registry.py": "data, which is looked at",
    "readers/scripts.py": "constants of the module, in a table",
    "readers/source_tree.py": "names of packages, escaped",
    "report/extent.py": "made from the records of engines, and looked at",
    "core/secrets.py": "constants of the module, handed to a function",
    "syntax/template_yaml.py": "constants of the module, handed to a function",
    "syntax/yaml.py": "constants of the module, handed to a function",
    "syntax/shell/filters.py": "of `sed` in the script: no group is repeated, and quantifiers are few for the length of a line",
    "syntax/shell/blocks.py": "the word that ends a here-document, escaped",
    "syntax/shell/conditions.py": "a script's own: how many ways there are to try is counted before it is used",
    "syntax/shell/lexer.py": "the word that ends a here-document, escaped",
    "syntax/shell/parameters.py": "a bracket expression, and nothing else",
    "syntax/shell/recipe.py": "the separators of IFS, escaped",
}
"""Modules with expressions that are made from something else, and why these are harmless; harvest/ has others of its own."""


def expressions() -> Iterator[tuple[str, str | None]]:
    """(module:line, pattern) of each call of `re` in the code; None for a pattern that is made from something else."""
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
                yield f"{name}:{call.lineno}", found
            for text in texts([value for key, value in vars(module).items() if key.startswith("_") and key != "__doc__"]):
                if re.search(r"\(\?|[\]).\w][*+]|\[\^", text):
                    yield name, text


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
            yield from (*texts(key), *texts(value))
    elif isinstance(data, (list, tuple)):
        for item in data:
            yield from texts(item)
    elif isinstance(data, str):
        yield data
    elif isinstance(data, re.Pattern) and isinstance(data.pattern, str):
        yield data.pattern


def of_data() -> Iterator[tuple[str, str]]:
    for name in DATA:
        for text in texts(json.loads((SOURCE / name).read_text(encoding="utf-8"))):
            if re.search(r"[*+?\\|(\[]", text):
                yield name, text


def of_records() -> Iterator[tuple[str, str]]:
    for engine in ENGINES.values():
        families = [text for one in engine.images for text in (one.tags, one.rolling, one.only, one.without)]
        families += [text for one in engine.images if one.wrapper is not None for text in one.wrapper.unless.values()]
        for text in (
            engine.image_names,
            engine.not_image_names,
            engine.house_tags,
            engine.dialect.where,
            engine.classes,
            *families,
        ):
            yield engine.id, text
    yield from [(one.name, rf"(?:^|[^\w.-]){one.image}$") for one in PRODUCTS]
    patterns = (
        installs._WHEEL, installs._ADDRESS, installs._PACKAGE,
        prepared._LOCKED, prepared._LOCKED_WHEEL, prepared._PROJECT, prepared._ARGUMENT,
    )  # fmt: skip
    made = [entry._mention(), entry._command(), generic._command(), *[installs.with_package(pattern) for pattern in patterns]]
    yield from [("made from records", pattern.pattern) for pattern in made]


def starriness(pattern: str) -> int:
    """The degree by which the time of an expression grows; 2 or less where nothing was found."""
    try:
        with warnings.catch_warnings():
            # a text that is not an expression may look like one of another Python; told only where it was not compiled before
            warnings.simplefilter("ignore", FutureWarning)
            parsed = sre.SreOpParser().parse_sre(pattern)
    except re.error:
        return 0  # a text that is not an expression
    return max([found.starriness for found in redos.find(parsed)], default=0)


def test_the_tool_finds_what_it_is_there_for() -> None:
    assert starriness(r"^(a+)+b") > 10
    assert starriness(r"^\w+\w+\w+\w+x") > 2
    assert starriness(r"^[ \t]*\w+$") == 0


def test_all_are_looked_at() -> None:
    found = dict(expressions())
    assert len(found) > 400
    made = {name.partition(":")[0] for name, pattern in found.items() if pattern is None}
    assert {name for name in made if not name.startswith("harvest/")} == set(MADE)
    assert any(name == "readers/formats.json" for name, _ in of_data())
    assert any(name.startswith("syntax/shell/lexer.py") for name in found)
    assert len(list(of_data())) > 20
    assert len([pattern for _, pattern in of_records() if pattern]) > 15


def test_none_is_pathological() -> None:
    found = [*expressions(), *of_data(), *of_records()]
    wrong = [f"{name}: {pattern[:80]}" for name, pattern in found if pattern is not None and starriness(pattern) > 2]
    assert wrong == []
