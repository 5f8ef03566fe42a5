"""Which variables of engines a distribution names, whatever it does with them: one that it names may be read.

The tables of variables (`env`) have those that are known to be read. Subpackages, plugins and compiled parts read others.
"""

from __future__ import annotations

import ast
import re

from servelint.engines import ENGINES
from servelint.harvest.sources import Tree

KIND = "mentioned-variables"
"""The kind of names under which a catalog has them, without those in its table of variables."""

_PREFIXES = sorted({prefix for one in ENGINES.values() if one.variables_closed for prefix in one.variables})
_NAME = rf"(?<![A-Za-z0-9_])(?:{'|'.join(_PREFIXES)})[A-Z0-9_]*[A-Z0-9](?![A-Za-z0-9_])"
_IN_CODE = re.compile(_NAME)
_QUOTED = re.compile(rf'"{_NAME}"')


def mentioned(tree: Tree) -> set[str]:
    """The variables that the Python code of a release names as a whole: not in comments, in sentences or in docstrings."""
    found: set[str] = set()
    for path in tree.paths():
        text = tree.read(path) or ""
        if _IN_CODE.search(text) is None:
            continue
        try:
            nodes = list(ast.walk(ast.parse(text)))
        except (SyntaxError, ValueError):
            found.update(_IN_CODE.findall(text))
            continue
        for node in nodes:
            name = getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "value", None)
            if isinstance(name, str) and _IN_CODE.fullmatch(name):
                found.add(name)
    return found


def in_native_code(text: str) -> set[str]:
    """The variables that a file of C++, CUDA or Rust names in quotes."""
    return {match.strip('"') for match in _QUOTED.findall(text)}
