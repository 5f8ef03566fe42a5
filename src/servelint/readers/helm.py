"""Helm values: of known charts by the data in readers/charts, of others where an engine's image and words stand together."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable

from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.files.siblings import Neighbours
from servelint.readers.registry import YAML, Format
from servelint.syntax import yaml
from servelint.syntax.yaml import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from servelint.readers.helm_chart import Entry

    Data = dict[str, Any]
    Root = tuple[Node, str]

FORMAT = Format(
    "helm",
    40,
    title="Helm",
    about="values of the vLLM production stack, llm-d modelservice, vLLM's own chart, KubeAI and others; templates with their "
    "holes as unknowns",
    syntax=YAML,
    words=("servingenginespec",),
    languages=("helm",),
)

_FOLDER = os.path.join(os.path.dirname(__file__), "charts")
_HELD = ("helm.values", "helm.valuesObject", "releases[].values[]", "helmCharts[].valuesInline")
"""Where a Fleet bundle, a helmfile and a kustomization hold values."""
HOLDERS = {
    "HelmRelease": ("spec.values",),
    "Application": ("spec.source.helm.valuesObject", "spec.sources[].helm.valuesObject"),
}
"""kind of an object -> where it holds the values of a chart."""
TEXTS = {
    "Application": ("spec.source.helm.values", "spec.sources[].helm.values"),
    "HelmChart": ("spec.valuesContent",),
    "HelmChartConfig": ("spec.valuesContent",),
}
"""kind of an object -> where it holds them as a text."""
_MANY, _TIMES = 1_000, 16
_charts: list[Data] = []


def charts() -> list[Data]:
    """The data of the known charts."""
    if not _charts:
        for name in sorted(os.listdir(_FOLDER)):
            if name.endswith(".json"):
                with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
                    _charts.append(json.load(file))
    return _charts


def is_mine(source: Source, document: Node) -> bool:
    """Whether a YAML document has the shape of a known chart's values, or an engine's image with words beside it."""
    if not yaml.is_mapping(document):
        return False
    if any(_chart_of(root) is not None for root, _ in _roots(document)):
        return True
    if "image" not in source.text:
        return False
    from servelint.readers import helm_chart

    return helm_chart.is_candidate(source, document)


def read(source: Source, documents: list[Node], neighbours: Neighbours) -> list[Launch]:
    """Read the launches of values."""
    del neighbours
    yaml.merge_in_order(documents, source)
    return [launch for document in documents for launch in values(source, document)]


def values(source: Source, document: Node, label: str = "") -> list[Launch]:
    """Read the launches of values, of known charts and of others.

    Args:
        source: The text.
        document: The values.
        label: What stands in front of the names of the launches.
    """
    from servelint.readers import helm_chart

    found: list[Launch] = []
    known: set[int] = set()
    for root, path in _roots(document):
        chart = _chart_of(root)
        if chart is not None and id(root) not in known:
            known.add(id(root))
            found += _of_chart(source, chart, root, path)
    if id(document) not in known:
        found += helm_chart.of_unknown_chart(source, document, "", known)
    secrets = _secrets(source, document) if found else ()
    for launch in found:
        launch.secrets = secrets
        launch.name = ".".join([name for name in (label, launch.name) if name])
    return found


_SECRET = re.compile(
    r"(?:.*_)?(?:(?:hf|hugging_?face(?:_?hub)?|hub)_?(?:api_?)?(?:token|key)|(?:api|access|auth)_?(?:token|key))", re.IGNORECASE
)


def _secrets(source: Source, document: Node) -> tuple[tuple[str, TracedText], ...]:
    """The texts under keys that name a token: `hf_token`, `huggingface.token`, `hfToken`."""
    found: list[tuple[str, TracedText]] = []
    waiting = [(document, "")]
    left = _MANY * _TIMES
    while waiting and left > 0:
        node, above = waiting.pop()
        waiting += [(item, above) for item in yaml.items(node) or []]
        for key, (_, value) in yaml.entries(node).items():
            left -= 1
            named = _SECRET.fullmatch(key) or (key.lower() == "token" and _SECRET.fullmatch(above + "_token"))
            if named and yaml.is_scalar(value) and not yaml.is_null(value):
                found.append((key, yaml.text(source, value)))
            elif not yaml.is_scalar(value):
                waiting.append((value, key))
        left -= 1
    return tuple(found[:_TIMES])


def of_object(source: Source, document: Node, kind: str, label: str) -> list[Launch]:
    """The launches of the values that a HelmRelease, an Argo CD application or a HelmChart holds."""
    from servelint.readers import embedded

    found: list[Launch] = []
    for path in HOLDERS.get(kind, ()):
        for node, _ in walk(document, path):
            found += values(source, node, label)
    for path in TEXTS.get(kind, ()):
        for node, _ in walk(document, path):
            found += embedded.of_yaml(
                source, node, lambda inner, nodes: [launch for one in nodes for launch in values(inner, one, label)]
            )
    return found


def _roots(document: Node) -> list[Root]:
    """Where values may start: the document, a subchart's key, or what holds them in another format."""
    found = [(document, "")]
    found += [(value, key) for key, (_, value) in yaml.entries(document).items() if yaml.is_mapping(value)]
    return found + [one for path in _HELD for one in walk(document, path)]


def walk(node: Node, path: str) -> list[Root]:
    """(node, its path) of what a path leads to: `a.b[].c`; `[]` stands for each item, `{}` for each value."""
    found = [(node, "")]
    for step in path.split(".") if path else []:
        key = step.rstrip("[]{}")
        inside = [(pair[1], f"{at}.{key}".lstrip(".")) for one, at in found if (pair := yaml.entries(one).get(key))]
        if step != key:
            # aliases may make lists of lists without end
            inside = [(inner, f"{at}.{name}") for one, at in inside[:_MANY] for name, inner in _named(one)][:_MANY]
        found = inside
    return found


def _named(node: Node) -> list[tuple[str, Node]]:
    """The items of a list, called by their `name` or number, or the values of a mapping."""
    items = yaml.items(node)
    if items is None:
        return [(name, value) for name, (_, value) in yaml.entries(node).items()][:_MANY]
    names = [yaml.entries(item).get("name") for item in items[:_MANY]]
    called = [yaml.scalar(name[1]) if name is not None else None for name in names]
    return [(name or str(index), item) for index, (name, item) in enumerate(zip(called, items[:_MANY], strict=True))]


def _chart_of(root: Node) -> Data | None:
    """The chart whose values these are."""
    fields = yaml.entries(root)
    for chart in charts() if fields else ():
        for marks in chart["marks"]:
            if all(mark.partition(".")[0].rstrip("[]{}") in fields for mark in marks) and all(
                walk(root, mark) for mark in marks
            ):
                return chart
    return None


def _of_chart(source: Source, chart: Data, root: Node, path: str) -> list[Launch]:
    from servelint.readers.helm_chart import Entry, Reader

    whole = Entry(source, root, root, root, path, None)
    if path and whole.holds(["enabled=false"]):
        return []
    mask = yaml.mask_of(source)
    before = mask.lookup if mask is not None else None
    if mask is not None and chart.get("templates"):
        mask.lookup = lookup(source, root)
    found: list[Launch] = []
    try:
        for entries in chart["entries"]:
            found += [launch for entry in _entries(source, root, entries, path) for launch in Reader(chart, entry).launches()]
    finally:
        if mask is not None:
            mask.lookup = before
    return found


def _entries(source: Source, root: Node, where: str, path: str) -> Iterator[Entry]:
    """The launches' entries in the values; what they are called is their `name`, or the key that leads to them."""
    from servelint.readers.helm_chart import Entry

    if not where:
        yield Entry(source, root, root, root, path, None)
        return
    parent, _, last = where.rpartition(".")
    key = last.rstrip("[]{}")
    times: dict[int, int] = {}
    for owner, at in walk(root, parent):
        pair = yaml.entries(owner).get(key)
        if pair is None:
            continue
        keys = {id(value): name for name, value in yaml.entries(pair[1]).values()}
        for name, node in _named(pair[1]):
            times[id(node)] = times.get(id(node), 0) + 1
            if times[id(node)] <= _TIMES:
                yield Entry(source, root, owner, node, ".".join(filter(None, (path, at, key, name))), keys.get(id(node)))


_REFERENCE = re.compile(
    r"\{\{-?\s*\$?\.Values((?:\.\w+)+)\s*"
    r"(?:\|\s*default\s+(\"[^\"]*\"|[^\s|}]+)\s*)?"
    r"(?:\|\s*(?:quote|squote|toString|int|int64|float64|trim)\s*)*-?\}\}"
)
_LITERAL = re.compile(r"\"[^\"]*\"|-?[\d.]+|true|false")


def lookup(source: Source, root: Node) -> Callable[[str], TracedText | None]:
    """Make a lookup of actions that only name a value and may give a default for it; None for any other action."""
    busy: set[str] = set()

    def find(action: str) -> TracedText | None:
        match = _REFERENCE.fullmatch(action)
        if match is None or action in busy:
            return None
        node: Node | None = root
        for key in match.group(1)[1:].split("."):
            node = yaml.entries(node).get(key, (None, None))[1]
        if yaml.is_scalar(node) and not yaml.is_null(node):
            busy.add(action)
            text = yaml.text(source, node)
            busy.discard(action)
            default = match.group(2)
            if text.flat and (default is None or node.style or text.flat not in ("0", "false")):
                return text
        return TracedText.of(default.strip('"')) if (default := match.group(2)) and _LITERAL.fullmatch(default) else None

    return find


def attach(source: Source, neighbours: Neighbours) -> None:
    """Let a template of a chart find the chart's own values, which stand in the folder above it."""
    folders = source.path.replace("\\", "/").split("/")[:-1]
    mask = yaml.mask_of(source)
    if mask is None or "templates" not in folders:
        return
    beside = neighbours.read("../" * (folders[::-1].index("templates") + 1) + "values.yaml")
    if beside is None:
        return
    documents, _ = yaml.documents(beside)
    if documents:
        mask.lookup = lookup(beside, documents[0])
