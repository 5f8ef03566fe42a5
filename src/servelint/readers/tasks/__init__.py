"""YAML files of other tools whose commands start an engine: CI jobs, cloud tasks, playbooks, model recipes.

A tool that is known is read as it runs. The rest is left to `generic`, which is asked when every other reader was.
"""

from __future__ import annotations

from collections.abc import Callable

from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.readers.tasks import ansible, clouds, github, gitlab, llama_swap, recipes
from servelint.readers.tasks.values import grows, tell_apart
from servelint.syntax.yaml import Node

_Tool = tuple[Callable[[Source, Node], bool], Callable[[Source, Node], list[Launch]]]
_TOOLS: tuple[_Tool, ...] = (
    (github.is_mine, github.launches),
    (gitlab.is_mine, gitlab.launches),
    (clouds.is_sky, clouds.of_sky),
    (clouds.is_dstack, clouds.of_dstack),
    (llama_swap.is_mine, llama_swap.launches),
    (recipes.is_mine, recipes.launches),
    (ansible.is_mine, ansible.launches),
)


def is_mine(source: Source, document: Node) -> bool:
    """Whether a document is one of a known tool."""
    return not grows(source, document) and any(known(source, document) for known, _ in _TOOLS)


def read(source: Source, documents: list[Node], neighbours: Neighbours) -> list[Launch]:
    del neighbours  # what runs here runs on another machine
    found: list[Launch] = []
    for document in documents:
        found += next((launches(source, document) for known, launches in _TOOLS if known(source, document)), [])
    tell_apart(found)
    return found
