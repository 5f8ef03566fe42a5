"""Roles of Ansible: what their defaults and variables say of the templates beside them."""

from __future__ import annotations

import re
from collections.abc import Callable

from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.files.siblings import Neighbours
from servelint.syntax import yaml

_GROUPS = tuple(
    f"../../../{above}group_vars/all{name}"
    for above in ("inventory/", "")
    for name in (".yml", ".yaml", "/main.yml", "/all.yml", "/vars.yml", "/defaults.yml")
)
"""Where a playbook beside the folder of roles, and its inventory, say what holds for all hosts."""
_FILES = (
    "../defaults/main.yml", "../defaults/main.yaml", *_GROUPS, "../vars/main.yml", "../vars/main.yaml",
)  # fmt: skip
"""From the weakest on: a role's defaults, the variables of groups, the role's variables."""
_NAMED = re.compile(
    r"\{\{-?\s*(?P<name>[A-Za-z_]\w*)\s*(?P<filters>(?:\|\s*(?:(?:default|d)\s*\([^()]*\)|quote|string|int|float|trim)\s*)*)-?\}\}"
)
_PLAIN = re.compile(r"[\w@%+=:,./-]+")
"""A text that `quote` leaves as it is."""


def lookup(source: Source, neighbours: Neighbours) -> Callable[[str], TracedText | None] | None:
    """Gives the values of expressions that only name a variable of the role; None for a file that is not a role's."""
    folder = source.path.replace("\\", "/").split("/")[-2:-1]
    if folder not in (["tasks"], ["handlers"]) and not (folder == ["templates"] and source.path.endswith(".j2")):
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
        if named is not None and given is not None and "quote" in named.group("filters") and not _PLAIN.fullmatch(given.flat):
            return None
        return given if given is not None and given.flat else None

    return value if found else None
