"""The model architectures that a release implements: the classes that each module of srt/models names as its EntryClass."""

from __future__ import annotations

import ast
import re

from servelint.harvest.sources import Tree

_FOLDER = "sglang/srt/models/"
_ENTRY = re.compile(r"^EntryClass\b[^=\n]*=\s*(\[[^\]]*\]|\w+)", re.MULTILINE)


def architectures(tree: Tree) -> list[str]:
    """Their names, in order."""
    found: set[str] = set()
    for path in tree.paths(_FOLDER):
        for match in _ENTRY.finditer(tree.read(path) or ""):
            found |= {node.id for node in ast.walk(ast.parse(match.group(1))) if isinstance(node, ast.Name)}
    return sorted(found)
