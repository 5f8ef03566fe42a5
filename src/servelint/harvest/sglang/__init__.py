"""SGLang: what `python -m sglang.launch_server` of a release accepts."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from servelint.harvest.pysource import Program
from servelint.harvest.sglang.names import environment, names
from servelint.harvest.sglang.options import json_options, options
from servelint.harvest.sources import Tree


def snapshot(tree: Tree, report: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """The release's options, environment variables and names. `report` gets what could not be resolved."""
    program = Program(tree, report=report)
    found = options(tree, program, report)
    models = architectures(tree)
    return {
        "engine": "sglang",
        "release": tree.release,
        "options": found,
        "positionals": [],
        "json": json_options(program, found),
        "env": environment(tree, program, report),
        "names": {**names(program, found), **({"architectures": models} if models else {})},
    }


_FOLDER = "sglang/srt/models/"
_ENTRY = re.compile(r"^EntryClass\b[^=\n]*=\s*(\[[^\]]*\]|\w+)", re.MULTILINE)


def architectures(tree: Tree) -> list[str]:
    """Their names, in order."""
    found: set[str] = set()
    for path in tree.paths(_FOLDER):
        for match in _ENTRY.finditer(tree.read(path) or ""):
            found |= {node.id for node in ast.walk(ast.parse(match.group(1))) if isinstance(node, ast.Name)}
    return sorted(found)
