"""Variables of Ansible: what a role's defaults, a playbook's `vars` and the facts that its tasks set say of expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.files.siblings import Neighbours
from servelint.syntax import templates, yaml
from servelint.syntax.yaml import Entries, Node

BLOCKS = ("tasks", "pre_tasks", "post_tasks", "handlers", "block", "rescue", "always")
"""The keys of a play or a block that hold tasks."""

_GROUPS = tuple(
    f"{above}group_vars/all{name}"
    for above in ("inventory/", "")
    for name in (".yml", ".yaml", "/main.yml", "/all.yml", "/vars.yml", "/defaults.yml")
)
"""Where a playbook, and its inventory, say what holds for all hosts."""
_FILES = (
    "../defaults/main.yml", "../defaults/main.yaml", *[f"../../../{name}" for name in _GROUPS], "../vars/main.yml",
    "../vars/main.yaml",
)  # fmt: skip
"""From the weakest on: a role's defaults, the variables of groups beside the folder of roles, the role's variables."""
_NAMED = re.compile(
    r"\{\{-?\s*(?P<name>[A-Za-z_]\w*)\s*(?P<filters>(?:\|\s*(?:(?:default|d)\s*\([^()]*\)|quote|string|int|float|trim)\s*)*)-?\}\}"
)
_PLAIN = re.compile(r"[\w@%+=:,./-]+")
"""A text that `quote` leaves as it is."""


def lookup(source: Source, neighbours: Neighbours, documents: list[Node]) -> Callable[[str], TracedText | None] | None:
    """Gives the values of expressions that only name a variable of the role or the playbook; None where none is known."""
    folder = source.path.replace("\\", "/").split("/")[-2:-1]
    tasks = folder in (["tasks"], ["handlers"])
    role = tasks or (folder == ["templates"] and source.path.endswith(".j2"))
    plays = _plays(source, documents) if not role or (tasks and "set_fact" in source.text) else []
    if not role and not plays:
        return None
    found: dict[str, TracedText] = {}

    def value(expression: str) -> TracedText | None:
        named = _NAMED.fullmatch(expression)
        given = found.get(named.group("name")) if named is not None else None
        if named is not None and given is not None and "quote" in named.group("filters") and not _PLAIN.fullmatch(given.flat):
            return None
        return given if given is not None and given.flat else None

    def add(file: Source, node: Node, *, templated: bool) -> None:
        for name, (_, one) in yaml.entries(node).items():
            plain = yaml.is_scalar(one) and not yaml.is_null(one)
            if plain and "{{" not in one.value and "{%" not in one.value:
                found[name] = yaml.text(file, one)
            elif plain and templated:
                found[name] = templates.filled(yaml.text(file, one, verbatim=True), value, script=True)
            else:
                found.pop(name, None)

    above = [f"{up}{name}" for up in ("../", "") for name in _GROUPS]
    listed = [yaml.scalar(one) or "" for play in plays for one in yaml.items(play.get("vars_files", (None, None))[1]) or []]
    for path in _FILES if role else (*above, *filter(None, listed)):
        beside = neighbours.read(path)
        documents = yaml.documents(beside)[0] if beside is not None else []
        if beside is not None and documents:
            add(beside, documents[0], templated=False)
    for fields in plays:
        if "vars" in fields and "hosts" in fields:
            add(source, fields["vars"][1], templated=True)
    set_by: set[str] = set()
    for task in _set_facts(plays, 0):
        key = next(key for key in task if key.rpartition(".")[2] == "set_fact")
        names = set(yaml.entries(task[key][1]))
        if {"when", "loop", "with_items"}.isdisjoint(task) and not names & set_by:
            add(source, task[key][1], templated=True)
        else:  # what it is depends on what has run
            for name in names:
                found.pop(name, None)
        set_by |= names
    return value if found else None


def _plays(source: Source, documents: list[Node]) -> list[Entries]:
    """The plays of a playbook, or the tasks of a list of tasks."""
    if not source.path.endswith((".yml", ".yaml")) or not ("hosts:" in source.text or "set_fact" in source.text):
        return []
    return [yaml.entries(item) for item in (yaml.items(documents[0]) or [])[:200]] if len(documents) == 1 else []


def _set_facts(tasks: list[Entries], depth: int) -> Iterator[Entries]:
    for task in tasks:
        if any(key.rpartition(".")[2] == "set_fact" for key in task):
            yield task
        for block in [task[key][1] for key in BLOCKS if key in task and depth < 4]:
            yield from _set_facts([yaml.entries(item) for item in yaml.items(block) or []], depth + 1)
