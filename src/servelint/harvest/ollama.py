"""Ollama: which variables `ollama serve` of a release reads, as envconfig/config.go does.

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
        "names": {},
    }
