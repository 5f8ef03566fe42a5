"""Which variables of engines a distribution names, whatever it does with them: one that it names may be read.

The tables of variables (`env`) have those that are known to be read. Subpackages, plugins and compiled parts read others.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from servelint.engines import ENGINES
from servelint.harvest.sources import Tree

KIND = "mentioned-variables"
"""The kind of names under which a catalog has them, without those in its table of variables."""

_PREFIXES = sorted({prefix for one in ENGINES.values() if one.variables_closed for prefix in one.variables})


def _name(prefixes: Iterable[str]) -> str:
    return rf"(?<![A-Za-z0-9_])(?:{'|'.join(prefixes)})[A-Z0-9_]*[A-Z0-9](?![A-Za-z0-9_])"


_QUOTED = re.compile(rf'"{_name(_PREFIXES)}"')


def mentioned(tree: Tree) -> set[str]:
    """The engine's variables that the Python code of a release names: not in comments, in sentences or in docstrings."""
    in_code = re.compile(_name(ENGINES[tree.engine].variables))
    found: set[str] = set()
    for path in tree.paths():
        text = tree.read(path) or ""
        if in_code.search(text) is None:
            continue
        try:
            nodes = list(ast.walk(ast.parse(text)))
        except (SyntaxError, ValueError):
            found.update(in_code.findall(text))
            continue
        for node in nodes:
            name = getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "value", None)
            if isinstance(name, str) and in_code.fullmatch(name):
                found.add(name)
    return found


def in_native_code(text: str) -> set[str]:
    """The variables that a file of C++, CUDA or Rust names in quotes."""
    return {match.strip('"') for match in _QUOTED.findall(text)}
