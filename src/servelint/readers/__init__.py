"""Readers turn one source into launches: one module a format, each with `read(source, ...)`."""

from __future__ import annotations

from importlib import import_module

from servelint.core import bounds
from servelint.core.launch import Launch
from servelint.core.problem import Problem
from servelint.core.run import Run, current
from servelint.core.source import Source
from servelint.engines.registry import ENGINES, derived
from servelint.files.siblings import Neighbours
from servelint.readers.recognise import JSON, SERVICES, YAML, recognise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.yaml import Node

_WORDS = (b"servingenginespec",)
"""Words of formats that need not name an engine: the values of the production stack's chart."""
_DOCUMENTS = ("compose", "kubernetes", "tasks", "helm", "engine_config", "tasks.generic")
"""Readers of YAML documents, in the order in which they are asked whether a document is theirs."""
_TEMPLATE = "{{"


class Reading:
    """What was found in one source, and what could not be read of it."""

    __slots__ = ("launches", "problems", "source")

    def __init__(self, source: Source, launches: list[Launch], problems: list[Problem]) -> None:
        self.source = source
        self.launches = launches
        self.problems = problems


@derived
def _words() -> tuple[bytes, ...]:
    return (*[word for engine in ENGINES.values() for word in engine.words], *_WORDS)


def mentions_engine(data: bytes) -> bool:
    """Whether a file's bytes have a word of an engine. One without launches none that servelint knows; it is never parsed."""
    lowered = data.lower()
    return any(word in lowered for word in _words())  # 15 times as fast as a pattern of them all


def read(source: Source, neighbours: Neighbours | None = None) -> Reading:
    """The launches of a source. A format that is not recognised yields none."""
    beside = neighbours if neighbours is not None else Neighbours(None)
    kind = recognise(source)
    if kind is None:
        return Reading(source, [], [])
    with Run(source.path) as run:
        found = _read(kind, source, beside)
        found.launches = _within(found.launches)
    found.problems += run.problems
    return found


def _read(kind: str, source: Source, beside: Neighbours) -> Reading:
    if kind == YAML:
        return _yaml(source, beside)
    if kind == JSON:
        return _json(source, beside)
    return Reading(source, import_module(f"servelint.readers.{kind}").read(source, beside), [])


def _within(launches: list[Launch]) -> list[Launch]:
    """The launches that are judged: not those that are too long, nor what is too many."""
    found = [one for one in launches if not bounds.WORDS.passed(len(one.argv), one.site)]
    if len(found) > bounds.LAUNCHES.most:
        bounds.LAUNCHES.reached(found[bounds.LAUNCHES.most].site)
    return found[: bounds.LAUNCHES.most]


def _yaml(source: Source, neighbours: Neighbours, text: str | None = None, most: bounds.Bound = bounds.YAML_NODES) -> Reading:
    from servelint.syntax import yaml

    documents, problem = yaml.documents(source, text, most)
    if yaml.mask_of(source) is not None:
        from servelint.readers import helm_values

        helm_values.attach(source, neighbours)
    launches: list[Launch] = []
    left: list[Node] = [document for document in documents if yaml.is_mapping(document)]
    lists = [document for document in documents if yaml.items(document) is not None]
    meant = False
    for name in _DOCUMENTS:
        if name == "kubernetes":
            left += lists  # patches; playbooks and lists of steps
        if not left:
            continue
        reader = import_module(f"servelint.readers.{name}")
        own = [document for document in left if reader.is_mine(source, document)]
        if own:
            launches += reader.read(source, own, neighbours)
            mine = {id(document) for document in own}
            left = [document for document in left if id(document) not in mine]
            meant = True
    problems = (
        [problem] if problem is not None and (meant or _TEMPLATE not in source.text or SERVICES.search(source.text)) else []
    )
    return Reading(source, launches, problems)


def _json(source: Source, neighbours: Neighbours) -> Reading:
    """A speculative config, a manifest (JSON is YAML), or argument lists in a recipe."""
    from servelint.readers import argv_json, spec_config

    if '"apiVersion"' in source.text or '"services"' in source.text:
        from servelint.readers import cluster_list

        thinned = cluster_list.thinned(source.text)
        if thinned is None:
            return _yaml(source, neighbours)
        run = current()
        if run is not None:
            run.extend(bounds.CLUSTER_NODES.most // bounds.YAML_NODES.most)
        return _yaml(source, neighbours, thinned, bounds.CLUSTER_NODES)
    launches, problem = spec_config.read(source)
    if not launches and problem is None:
        launches = argv_json.read(source, neighbours)
    return Reading(source, launches, [problem] if problem is not None else [])
