"""Ollama: which variables `ollama serve` of a release reads, as envconfig/config.go does, and which parameters a Modelfile has.

Go text is read as far as the variables need it: what reads each of them, and with which conversion. Nothing is compiled.
Releases come from the tags of a clone of the repository.
"""

from __future__ import annotations

import re
from typing import Any

from servelint.harvest.archives import HarvestError
from servelint.harvest.sources import Tree

_CONFIG = "envconfig/config.go"
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_NAME = r"(?:OLLAMA|HSA|CUDA|HIP|ROCR|GGML|GPU|LLAMA_ARG)_[A-Z0-9_]+"
_DECLARED = re.compile(rf'\b(Bool|BoolWithDefault|Uint|Uint64|Int|String)\("({_NAME})"(?:,\s*(\d+))?\)')
_READ = re.compile(rf'\b(?:Var|clean|Getenv|getenv)\("({_NAME})"\)')
_TYPES = {"Bool": "bool", "BoolWithDefault": "bool", "Uint": "uint", "Uint64": "uint", "Int": "int"}
_CONVERSIONS = (("ParseDuration", "duration"), ("ParseBool", "bool"), ("ParseUint", "uint"), ("Atoi", "int"))
_TYPES_FILE, _PARSER_FILES = "api/types.go", ("parser/parser.go", "types/model/file.go")
_STRUCT = re.compile(r"^type (?:Options|Runner) struct \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r'^\s*\w+\s+([\w*\[\]]+)\s+`json:"(\w+)', re.MULTILINE)
_FIELD_TYPES = {"int": "int", "float32": "float", "bool": "bool", "string": "", "[]string": ""}
_DEPRECATED = re.compile(r"deprecatedParameters = \[\]string\{([^}]*)\}")
_INSTRUCTIONS = re.compile(r"func isValidCommand\(.*?case ([^:]+):", re.DOTALL)
_LEVEL = "OLLAMA_DEBUG"
"""Read as a switch or as a number, and as neither where it is neither."""


def snapshot(tree: Tree) -> dict[str, Any]:
    """What one release reads. Raises HarvestError where envconfig names no variables."""
    text = _COMMENT.sub(lambda match: match.group(1) or " ", tree.read(_CONFIG) or "")
    env: dict[str, dict[str, Any]] = {name: {} for name in re.findall(rf'"({_NAME})"', text)}
    if not env:
        raise HarvestError(f"ollama {tree.release}: {_CONFIG} names no variables")
    reads = list(_READ.finditer(text))
    lines = [text.rindex("\n", 0, match.start()) + 1 for match in reads]  # a conversion may stand before what it converts
    for match, start, end in zip(reads, lines, [*lines[1:], len(text)], strict=True):
        block = text[start:end].partition("\nfunc ")[0]
        found = [(block.index(call), kind) for call, kind in _CONVERSIONS if call + "(" in block]
        if found and "type" not in env[match.group(1)]:
            env[match.group(1)]["type"] = min(found)[1]
    for match in _DECLARED.finditer(text):
        kind, name, default = match.groups()
        if kind in _TYPES:
            env[name]["type"] = _TYPES[kind]
        if default is not None:
            env[name]["default"] = int(default)
    if "type" in env.get(_LEVEL, {}) and "LogLevel" in text:
        env[_LEVEL]["type"] = "level"
    return {
        "engine": "ollama",
        "release": tree.release,
        "options": {"help": {"names": ["-h", "--help"], "kind": "flag"}},
        "positionals": [],
        "json": {},
        "env": dict(sorted(env.items())),
        "names": {name: found for name, found in _modelfile(tree).items() if found},
    }


def _modelfile(tree: Tree) -> dict[str, dict[str, dict[str, str]]]:
    """What a Modelfile may say: its instructions, and the parameters, which are fields of two structs, with their types."""
    parameters: dict[str, dict[str, str]] = {}
    for struct in _STRUCT.finditer(tree.read(_TYPES_FILE) or ""):
        for kind, name in _FIELD.findall(struct.group(1)):
            known = _FIELD_TYPES.get(kind.lstrip("*"), "")
            parameters[name] = {"type": known} if known else {}
    text = next((text for path in _PARSER_FILES if "isValidCommand" in (text := tree.read(path) or "")), "")
    deprecated = _DEPRECATED.search(text)
    for name in re.findall(r'"(\w+)"', deprecated.group(1)) if deprecated is not None else ():
        parameters[name] = {"ignored": "with a warning"}
    found = _INSTRUCTIONS.search(text)
    instructions = re.findall(r'"(\w+)"', found.group(1)) if found is not None else []
    return {"modelfile-instructions": {name: {} for name in instructions}, "modelfile-parameters": parameters}
