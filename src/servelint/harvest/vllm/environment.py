"""Environment variables that a release reads: the table of vllm.envs, and what the rest of the package asks os.environ for.

`converter` says how the text is read where that can fail or is not obvious: "int", "float", "json", "bool(int)" (a word such as
`true` ends the start), "1" (only that text is true), "words" (the words that are true are in `true`).
"""

from __future__ import annotations

import ast
import re
from typing import Any

from servelint.harvest.pysource import UNKNOWN, Function, Module, Program, plain
from servelint.harvest.sources import Tree
from servelint.harvest.vllm.converters import closed

_READ = re.compile(
    r"(?:environ\.get\(|environ\.pop\(|getenv\(|environ\[)\s*[\"'](?P<name>VLLM_[A-Z0-9_]+)[\"'](?P<after>\s*\]\s*=(?!=))?"
    r"|[\"'](?P<tested>VLLM_[A-Z0-9_]+)[\"'] (?:not )?in os\.environ"
)
_TYPES = {bool: "bool", int: "int", float: "float", str: "str", list: "list", dict: "json"}
_NOTE = re.compile(r"\bdeprecated\b", re.IGNORECASE)


def environment(tree: Tree, program: Program) -> dict[str, dict[str, Any]]:
    """name -> what is known of the variable."""
    found: dict[str, dict[str, Any]] = {}
    module = program.module("vllm.envs")
    if module is not None:
        table = module.resolve("environment_variables")
        texts = _texts(module)
        declared = _declared(module)
        for name, reader in table.items() if isinstance(table, dict) else []:
            found[name] = _variable(program, reader, texts.get(name), declared.get(name))
    for path in tree.paths("vllm/"):
        for match in _READ.finditer((tree.read(path) or "") if path.endswith(".py") else ""):
            name = match["name"] or match["tested"]
            if match["after"] is None:
                found.setdefault(name, {})
    return dict(sorted(found.items()))


def _texts(module: Module) -> dict[str, ast.expr]:
    """name -> the expression that reads it, from the display of the table."""
    for node in module.tree.body:
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if isinstance(value, ast.Dict) and any("environment_variables" in ast.unparse(target) for target in _targets(node)):
            pairs = zip(value.keys, value.values, strict=True)
            return {str(key.value): item for key, item in pairs if isinstance(key, ast.Constant)}
    return {}


def _targets(node: ast.stmt) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []


def _declared(module: Module) -> dict[str, str]:
    """name -> the annotation under `if TYPE_CHECKING`."""
    found = {}
    for block in module.tree.body:
        for node in block.body if isinstance(block, ast.If) else []:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = ast.unparse(node.annotation)
    return found


def _variable(program: Program, reader: Any, expression: ast.expr | None, annotation: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    text = ast.unparse(expression) if expression is not None else ""
    default = plain(program.call(reader))
    if default is not UNKNOWN:
        found["default"] = default
    kind = next((one for one in ("bool", "int", "float", "str") if annotation and re.search(rf"\b{one}\b", annotation)), None)
    if kind is None and default is not UNKNOWN and default is not None:
        kind = _TYPES.get(type(default))
    if kind is not None:
        found["type"] = kind
    if isinstance(reader, Function) and isinstance(closed(reader, "choices"), (list, tuple, Function)):
        choices = closed(reader, "choices")
        choices = plain(program.call(choices) if isinstance(choices, Function) else choices)
        if isinstance(choices, list) and choices:
            found["choices"] = choices
            found.update({"ignore_case": True} if closed(reader, "case_sensitive") is False else {})
            found.update({"list": True} if "list_with" in text or "set_with" in text else {})
    found.update(_converter(text))
    if "deprecated" in text.partition("(")[0] or (isinstance(reader, Function) and "_deprecated" in text):
        notes = [node.value for node in ast.walk(expression or ast.Pass()) if isinstance(node, ast.Constant)]
        said = [" ".join(note.split()) for note in notes if isinstance(note, str) and (_NOTE.search(note) or " " in note)]
        found["deprecated"] = said[0] if said else True
    return found


def _converter(text: str) -> dict[str, Any]:
    words = re.search(r"\.lower\(\) in \((?P<words>[^)]*)\)", text)
    if words is not None:
        return {"converter": "words", "true": re.findall(r"'([^']*)'", words["words"])}
    single = re.search(r"\.lower\(\) == '(?P<word>\w+)'", text)
    if single is not None:
        return {"converter": "words", "true": [single["word"]]}
    for pattern, name in (
        (r"\bbool\(int\(", "bool(int)"),
        (r"maybe_convert_bool\(", "bool(int)"),
        (r"maybe_convert_int\(|\bint\(", "int"),
        (r"\bfloat\(", "float"),
        (r"json\.loads\(", "json"),
        (r"== '1'", "1"),
    ):
        if re.search(pattern, text):
            return {"converter": name}
    return {}
