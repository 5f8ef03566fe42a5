"""Roles of Ansible: what their defaults and variables say of the templates beside them."""

from __future__ import annotations

import re
from collections.abc import Callable

from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.files.siblings import Neighbours
from servelint.syntax import yaml

_FILES = ("../defaults/main.yml", "../defaults/main.yaml", "../vars/main.yml", "../vars/main.yaml")
"""From the weakest on: a role's variables come before its defaults."""
_NAMED = re.compile(r"\{\{-?\s*(?P<name>[A-Za-z_]\w*)\s*(?:\|\s*(?:default|d)\s*\([^()]*\)\s*)?-?\}\}")


def lookup(source: Source, neighbours: Neighbours) -> Callable[[str], TracedText | None] | None:
    """Gives the values of expressions that only name a variable of the role; None for a file that is no role's template."""
    if source.path.replace("\\", "/").split("/")[-2:-1] != ["templates"] or not source.path.endswith(".j2"):
        return None
    found: dict[str, TracedText] = {}
    for path in _FILES:
        beside = neighbours.read(path)
        documents = yaml.documents(beside)[0] if beside is not None else []
        if beside is None or not documents:
            continue
        for name, (_, node) in yaml.entries(documents[0]).items():
            if yaml.is_scalar(node) and not yaml.is_null(node) and "{{" not in node.value and "{%" not in node.value:
                found[name] = yaml.text(beside, node)
            else:
                found.pop(name, None)

    def value(expression: str) -> TracedText | None:
        named = _NAMED.fullmatch(expression)
        given = found.get(named.group("name")) if named is not None else None
        return given if given is not None and given.flat else None

    return value if found else None
