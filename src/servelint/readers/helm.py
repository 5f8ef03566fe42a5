"""Helm values: of known charts by the data in readers/charts, of others where an engine's image and words stand together."""

from __future__ import annotations

import json
import os
import re

from servelint.core.launch import Launch
from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, TracedText
from servelint.engines import entry
from servelint.engines.registry import ENGINES
from servelint.files.siblings import Neighbours
from servelint.readers.kubernetes.objects import listed, string
from servelint.readers.registry import YAML, Format
from servelint.syntax import templates, yaml
from servelint.syntax.yaml import Entries, Node, section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
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
    shape=r"(?m)^servingEngineSpec[ \t]*:",
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
_TEMPLATES = ("deployment.yaml", "statefulset.yaml", "deployment.yml", "pod.yaml", "job.yaml", "_helpers.tpl", "helpers.tpl")
"""Where a chart makes its containers."""
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
    document = _whole(document)
    if not yaml.is_mapping(document):
        return False
    if any(_chart_of(root) is not None for root, _ in _roots(document)) or _local_releases(document):
        return True
    if "image" not in source.text:
        return False
    from servelint.readers import helm_chart

    return helm_chart.is_candidate(source, document) or bool(_objects(source, document, disabled=True))


def read(source: Source, documents: list[Node], neighbours: Neighbours) -> list[Launch]:
    """Read the launches of values."""
    yaml.merge_in_order(documents, source)
    documents = [_whole(document) for document in documents]
    own = Own(neighbours)
    found: list[Launch] = []
    for document in documents:
        for item in _local_releases(document):
            found += _of_release(source, item, neighbours)
        found += values(source, document, own=own)
    return found


def _whole(document: Node) -> Node:
    """Values of the production stack around what a file holds of them: its `modelSpec`, or the list of that."""
    fields = yaml.entries(document) if yaml.is_mapping(document) else {}
    items = yaml.items(fields["modelSpec"][1] if "modelSpec" in fields else document)
    if not items or not all({"modelURL", "repository"} <= yaml.entries(item).keys() for item in items):
        return document
    start, end = yaml.start(document), yaml.end(document)
    inner = document
    for key in ("servingEngineSpec",) if fields else ("modelSpec", "servingEngineSpec"):
        inner = yaml.new_mapping([(yaml.new_scalar(key, start, start), inner)], start, end)
    return inner


def _local_releases(document: Node) -> list[Node]:
    """The releases of a helmfile whose chart stands in the same repository."""
    return [item for item in listed(yaml.entries(document), "releases") if _chart_path(item).startswith(".")]


def _chart_path(item: Node) -> str:
    return string(yaml.entries(item), "chart") or ""


def _of_release(source: Source, item: Node, neighbours: Neighbours) -> list[Launch]:
    """The launches of one release of a helmfile: its chart with the values that it names and holds."""
    fields = yaml.entries(item)
    given: list[Any] = []
    for one in listed(fields, "values"):
        path = yaml.scalar(one)
        given += _of_node(source, one) if path is None else _data(neighbours.read(path))
    key, value = fields["chart"]
    site = Span(source, yaml.start(key), yaml.end(value))
    chart = _chart_path(item).rstrip("/") + "/"
    return of_local_chart(source, neighbours, chart, given, site, string(fields, "name") or "")


class Own:
    """The chart whose own values a file holds: what lies beside them."""

    __slots__ = ("_templates", "adds_words", "chart", "version")

    def __init__(self, neighbours: Neighbours) -> None:
        beside = _own_file(neighbours, "")
        self._templates = (
            [found.text for name in _TEMPLATES if (found := neighbours.read("templates/" + name)) is not None]
            if beside is not None
            else []
        )
        self.chart = beside
        """The chart's own file."""
        given = yaml.entries(beside[1]).get("appVersion") if beside is not None else None
        used = any("AppVersion" in text for text in self._templates)
        self.version = yaml.text(beside[0], given[1]) if beside is not None and given is not None and used else None
        """The release that the templates take where the values give no tag."""
        self.adds_words = any(
            "containers:" in text and re.search(r"^ *args:\s*\n *- [^{\s]", text, re.M) for text in self._templates
        )
        """Whether a template writes options of its own."""

    def ignores(self, path: str) -> bool:
        """Whether the template that makes the container of some words' image never reads the key that holds them."""
        above, _, key = path.rpartition(".")
        image = ".Values." + ".".join(filter(None, (above, "image")))
        making = [text for text in self._templates if "containers:" in text and image in text]
        if len(making) != 1 or re.search(r"\.Values" + re.escape("." + above if above else "") + r"[\s})]", making[0]):
            return False  # the whole of it may be written out
        return not any(re.search(rf"[.\"]{re.escape(key)}\b", text) for text in self._templates)


def values(source: Source, document: Node, label: str = "", own: Own | None = None) -> list[Launch]:
    """Read the launches of values, of known charts and of others.

    Args:
        source: The text.
        document: The values.
        label: What stands in front of the names of the launches.
        own: The chart beside the values, None if they are for another one.
    """
    from servelint.readers import helm_chart

    found: list[Launch] = []
    known: set[int] = set()
    for root, path in _roots(document):
        chart = _chart_of(root)
        if chart is not None and id(root) not in known:
            known.add(id(root))
            if own is not None and own.version is not None and not path:
                chart = {**chart, "version": own.version}
            found += _of_chart(source, chart, root, path, own.chart if own is not None else None)
    if id(document) not in known:
        found += helm_chart.of_unknown_chart(source, document, known, own)
    found += _of_objects(source, document)
    secrets = _secrets(source, document) if found else ()
    for launch in found:
        launch.secrets = secrets
        launch.name = ".".join([name for name in (label, launch.name) if name])
    return found


_OBJECT = re.compile(r"(?m)^(?:apiVersion|kind):")
"""A line of a text that is an object of Kubernetes."""
_HOLDS_OBJECTS = re.compile(r"(?i)extra|additional|raw|object|resource|manifest|deploy|template").search
"""Parts of the keys under which values hold objects as texts; a text elsewhere may be an example, or data."""


def _objects(source: Source, document: Node, *, disabled: bool = False) -> list[Node]:
    """The objects of Kubernetes that values hold whole, as mappings or as texts: `extraObjects`, `rawResources`.

    disabled: whether to have those that are switched off as well

    https://github.com/bjw-s-labs/helm-charts/blob/main/charts/library/common/values.yaml (rawResources)
    """
    if "apiVersion" not in source.text or "apiVersion" in yaml.entries(document):
        return []
    found: list[Node] = []
    waiting, visits = [(document, 0, False)], 0
    while waiting and visits < _NODES_AT_MOST:
        node, depth, named = waiting.pop()
        visits += 1
        fields = yaml.entries(node)
        if not disabled and string(fields, "enabled") == "false":
            continue
        if yaml.is_scalar(node):
            if named and len(set(_OBJECT.findall(yaml.scalar(node) or ""))) == 2:
                found.append(node)
        elif string(fields, "apiVersion") is not None and string(fields, "kind") is not None:
            whole = next((fields[key][1] for key in ("manifest", "spec") if key in fields), None)
            if whole is None:
                continue
            if "spec" in yaml.entries(whole):  # rawResources: what the chart writes beside the names
                pairs = [fields["apiVersion"], fields["kind"], *yaml.entries(whole).values()]
                node = yaml.new_mapping(pairs, yaml.start(node), yaml.end(node))
            found.append(node)
        elif depth < _OBJECTS_DEPTH:
            inside = [(value, named or bool(_HOLDS_OBJECTS(key))) for key, (_, value) in fields.items()]
            inside = inside or [(item, named) for item in yaml.items(node) or []]
            waiting += [(value, depth + 1, within) for value, within in reversed(inside)]
    return found


_NODES_AT_MOST, _OBJECTS_DEPTH = 10_000, 4


def _of_objects(source: Source, document: Node) -> list[Launch]:
    """The launches of the objects that values hold whole."""
    from servelint.readers import embedded, kubernetes

    def read_all(inner: Source, nodes: list[Node]) -> list[Launch]:
        own: list[Node] = [node for node in nodes if yaml.is_mapping(node)]
        return kubernetes.read(inner, own, Neighbours(None)) if own else []

    objects = _objects(source, document)
    found = read_all(source, [node for node in objects if yaml.is_mapping(node)])
    for node in objects:
        found += embedded.of_yaml(source, node, read_all)
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


def of_object(source: Source, document: Node, kind: str, label: str, neighbours: Neighbours | None = None) -> list[Launch]:
    """The launches of a HelmRelease, an Argo CD application or a HelmChart: of a chart beside it, or of the values in it."""
    from servelint.readers import embedded

    local = _application(source, yaml.entries(document), neighbours, label) if neighbours is not None else None
    if local:
        return local
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


def _of_chart(source: Source, chart: Data, root: Node, path: str, own: tuple[Source, Node] | None) -> list[Launch]:
    from servelint.readers.helm_chart import Entry, Reader

    whole = Entry(source, root, root, root, path, None)
    if path and whole.holds(["enabled=false"]):
        return []
    mask = yaml.mask_of(source)
    before = mask.lookup if mask is not None else None
    if mask is not None and chart.get("templates"):
        mask.lookup = Known(source, root, own)
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


_ACTION = re.compile(r"\{\{-?(?P<inside>[^{}]*)\}\}")
_CONDITION = re.compile(r"(?:else )?(?:if|with|range) (?P<of>.+)")
_TERM = re.compile(r"\$?\.Values(?P<path>(?:\.\w+)+)|\$?\.Chart\.(?P<chart>\w+)|(?P<literal>\"[^\"]*\"|-?[\d.]+|true|false)")
_SAME = re.compile(r"quote|squote|toString|int|int64|float64|trim")
_CHART = {"AppVersion": "appVersion", "Name": "name", "Version": "version"}
_REPOSITORIES = (".repository", ".registry")
"""Fields of an image that rarely differ from the chart's default, where another value may be given for each model."""
_INCLUDED = re.compile(r"include \"(?P<name>[^\"]+)\" [.$](?: ?\| ?(?:n?indent \d+|trim))*")
_NEGATED = re.compile(r"not (?P<of>.+)")
_COMPARED = re.compile(r"(?P<how>eq|ne) (?P<one>\"[^\"]*\"|[^\s\"]+) (?P<other>\"[^\"]*\"|[^\s\"]+)")


class Known:
    """What the values of a chart say about the actions of its templates. Calling it gives the value of one that only names it.

    Attributes:
        source: The values.
        root: Their mapping.
        chart: The text of the chart's own file and its entries.
    """

    __slots__ = ("_busy", "_helpers", "chart", "root", "source")

    def __init__(
        self, source: Source, root: Node, chart: tuple[Source, Node] | None = None, helpers: Source | None = None
    ) -> None:
        self._helpers = helpers
        self.source = source
        self.root = root
        self.chart = chart
        self._busy: set[str] = set()

    def __call__(self, action: str) -> TracedText | None:
        """The value of `.Values.a | default .Chart.AppVersion`, None for what is not known and for any other action."""
        match = _ACTION.fullmatch(action)
        if match is None or action in self._busy:
            return None
        self._busy.add(action)
        inside = _inside(match)
        included = _INCLUDED.fullmatch(inside)
        try:
            if included is not None:
                return self._included(included.group("name"))
            first, *steps = [step.strip() for step in inside.split("|")]
            text = self._of(first)
            for step in steps:
                default = step.removeprefix("default ").strip() if step.startswith("default ") else None
                if default is not None and (_is_empty(text) if text is not None else first.endswith(_REPOSITORIES)):
                    text = self._of(default)
                elif text is None or (default is None and _SAME.fullmatch(step) is None):
                    return None
        finally:
            self._busy.discard(action)
        return text if text is not None and text.flat else None

    def _included(self, name: str) -> TracedText | None:
        """The words that a helper writes; None for one that is not there, or that writes items of a list."""
        if self._helpers is None:
            return None
        opening = re.search(r"\{\{-?\s*define\s+\"" + re.escape(name) + r"\"\s*-?\}\}", self._helpers.text)
        following = templates.scan(self._helpers.text[opening.end() :]) if opening is not None else []
        depth = 1
        for action in following:
            depth += {templates.OPEN: 1, templates.CLOSE: -1}.get(action.kind, 0)
            if depth == 0 and opening is not None:
                inside = TracedText.at(self._helpers, opening.end(), opening.end() + action.start)
                written = templates.filled(inside, self, script=True, truth=self.truth).strip()
                return written if written.flat.startswith("--") else None
        return None

    def _of(self, term: str) -> TracedText | None:
        """The value of a term, empty for one that is; None if it is not known."""
        match = _TERM.fullmatch(term)
        if match is None:
            return None
        if match.group("literal"):
            return TracedText.of(match.group("literal").strip('"'))
        if (name := match.group("chart")) is not None:
            fields = yaml.entries(self.chart[1]) if self.chart is not None else {}
            given = fields.get(_CHART.get(name, ""))
            return yaml.text(self.chart[0], given[1]) if self.chart is not None and given is not None else None
        node = self._node(match.group("path"))
        if node is None or yaml.is_null(node):
            return EMPTY
        if not yaml.is_scalar(node):
            return None
        return yaml.text(self.source, node)

    def _node(self, path: str) -> Node | None:
        node: Node | None = self.root
        for key in path[1:].split("."):
            node = yaml.entries(node).get(key, (None, None))[1]
        return node

    def truth(self, action: str) -> bool | None:
        """Whether the condition of `if`, `with` or `range` holds; None if the values do not tell."""
        match = _ACTION.fullmatch(action)
        condition = _CONDITION.fullmatch(_inside(match)) if match is not None else None
        return self._holds(condition.group("of").strip()) if condition is not None else None

    def _holds(self, condition: str) -> bool | None:
        if condition.startswith("(") and condition.endswith(")") and condition.count("(") == 1:
            condition = condition[1:-1].strip()
        if (negated := _NEGATED.fullmatch(condition)) is not None:
            inner = self._holds(negated.group("of"))
            return None if inner is None else not inner
        if (compared := _COMPARED.fullmatch(condition)) is not None:
            one, other = self._of(compared.group("one")), self._of(compared.group("other"))
            if one is None or other is None or not (one.known and other.known):
                return None
            return (one.flat == other.flat) == (compared.group("how") == "eq")
        match = _TERM.fullmatch(condition)
        node = self._node(match.group("path")) if match is not None and match.group("path") else None
        if match is None or (node is None and not match.group("path")):
            return None
        if node is not None and not yaml.is_scalar(node):
            return bool(node.value)
        text = self._of(condition)
        return not _is_empty(text) if text is not None else None


def _inside(action: re.Match[str]) -> str:
    """What an action says, with single blanks, without the message of `required`."""
    said = " ".join(action.group("inside").removesuffix("-").split())
    return re.sub(r"^required (?:\"[^\"]*\"|`[^`]*`) (?=\.Values)", "", said)


def _is_empty(text: TracedText) -> bool:
    """Whether Go takes a value for empty; a number or a truth value in quotes is a text."""
    quoted = (place := text.span()) is not None and place.source.text[max(0, place.start - 1)] in "'\""
    return not text.flat or (text.flat in ("0", "false") and not quoted)


def values_beside(source: Source, neighbours: Neighbours) -> Source | None:
    """The own values of the chart that a template is a part of."""
    above = _chart_above(source)
    return neighbours.read(above + "values.yaml") if above else None


def values_above(source: Source, neighbours: Neighbours) -> list[Source]:
    """The own values of a template's chart, and those of the chart whose folder `charts` holds it."""
    above = _chart_above(source)
    places = (above, f"{above}../../") if above and neighbours.read(f"{above}../../Chart.yaml") is not None else (above,)
    return [one for place in places if above and (one := neighbours.read(place + "values.yaml")) is not None]


def _chart_above(source: Source) -> str:
    """The path of the chart's folder from a template's; empty for another file."""
    folders = source.path.replace("\\", "/").split("/")[:-1]
    return "../" * (folders[::-1].index("templates") + 1) if "templates" in folders else ""


def attach(source: Source, neighbours: Neighbours, documents: list[Node]) -> None:
    """Let a template of a chart or a role find the values of it, which stand in folders beside its own."""
    mask = yaml.mask_of(source)
    beside = values_beside(source, neighbours) if mask is not None else None
    if mask is not None and source.path.endswith((".j2", ".yml", ".yaml")):
        from servelint.readers.tasks import roles

        mask.lookup = roles.lookup(source, neighbours, documents)
    if mask is None or beside is None:
        return
    values, _ = yaml.documents(beside)
    if values:
        above = _chart_above(source)
        known = Known(beside, values[0], _own_file(neighbours, above), neighbours.read(above + "templates/_helpers.tpl"))
        mask.lookup, mask.truth = known, known.truth


_OTHER_VALUES = (
    "values.global.yaml", "values-global.yaml", "global.values.yaml", "values.common.yaml", "values-common.yaml",
    "values.prod.yaml", "values-prod.yaml", "values.production.yaml", "values-production.yaml",
)  # fmt: skip


def elsewhere(source: Source, neighbours: Neighbours) -> dict[str, str]:
    """Paths of values that another file or another chart gives a template, and which, as a sentence."""
    above = _chart_above(source)
    own = _own_file(neighbours, above) if above else None
    if own is None:
        return {}
    found: dict[str, str] = {}
    for item in listed(yaml.entries(own[1]), "dependencies"):
        fields = yaml.entries(item)
        name = string(fields, "alias") or string(fields, "name") or ""
        local = (string(fields, "repository") or "").removeprefix("file://")
        places = (f"charts/{name}", f"charts/{string(fields, 'name')}", local)
        if name and not any(neighbours.read(f"{above}{place}/Chart.yaml") for place in places if place):
            found[name] = f"the chart {name}, whose files are not here, may set it"
    for file in _OTHER_VALUES:
        for values in _data(neighbours.read(above + file)):
            for path in _paths(values):
                found.setdefault(path, f"{file} sets it, which Helm reads only where it is given with -f")
    return found


def _paths(values: Any, above: str = "", depth: int = 0) -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, dict) and depth < 8:
            yield from _paths(value, f"{above}{key}.", depth + 1)
        else:
            yield f"{above}{key}"


_HELPERS = (
    "_helpers.tpl", "helpers.tpl", "_helper.tpl", "_common.tpl", "_pod.tpl", "_deployment.tpl", "_container.tpl", "_env.tpl",
    "_args.tpl", "_names.tpl", "_images.tpl", "_image.tpl", "_vllm.tpl",
)  # fmt: skip
"""Files in which charts keep their helpers, where the folder cannot be listed."""


def _helper_files(neighbours: Neighbours, chart: str) -> list[str]:
    listed = neighbours.names(f"{chart}templates/", r".*\.tpl")
    return listed or [f"{chart}templates/{name}" for name in _HELPERS]


def filled(source: Source, neighbours: Neighbours, *, shown: bool = False) -> list[tuple[str, TracedText]]:
    """A template of a chart as Helm writes it with the chart's own values; what these do not tell stays as it is written.

    Args:
        source: The template.
        neighbours: The files beside it.
        shown: Whether to write what a condition around everything keeps out.

    Returns:
        A text for each alias under which a parent chart has the chart, with the alias if there are several; none for another
        file, and for one in which nothing is known.
    """
    above = _chart_above(source)
    own = _own_file(neighbours, above) if above else None
    parents = _of_parent(neighbours, above, own) if own is not None and not neighbours.given else {}
    installed: dict[str, list[Any]] = {alias: [given] for alias, given in parents.items()} or {"": neighbours.given}
    texts = [
        (alias if len(installed) > 1 else "", _rendered(source, neighbours, above, given, shown=shown))
        for alias, given in installed.items()
        if above
    ]
    return [(alias, text) for alias, text in texts if text is not None and text.flat != source.text]


def _rendered(
    template: Source, neighbours: Neighbours, chart: str, given: list[Any], *, shown: bool = False
) -> TracedText | None:
    """A template as Helm writes it; None where that cannot be known.

    Args:
        template: The template.
        neighbours: The files beside the file that is read.
        chart: The path of the chart's folder from there, with a slash behind it.
        given: What an installation gives over the chart's own values, the strongest last.
        shown: Whether to write what a condition around everything keeps out.
    """
    beside = neighbours.read(chart + "values.yaml")
    own = _own_file(neighbours, chart)
    documents = yaml.documents(beside)[0] if beside is not None and own is not None else []
    alone = beside is None and not given and _has_defaults(template.text)
    if not alone and (own is None or not (documents or given)):
        return None
    from servelint.syntax import go_functions, go_templates

    try:
        values = go_functions.loaded(beside, documents[0]) if beside is not None and documents else {}
        named = go_functions.loaded(*own) if own is not None else {}
        read = go_templates.Template(template)
        helpers = dict(read.helpers)
        for path in _helper_files(neighbours, chart):
            helper = neighbours.read(path)
            if helper is not None and not template.path.endswith(path.rpartition("/")[2]):
                helpers.update(go_templates.Template(helper).helpers)
    except go_functions.Unknown:
        return None
    if not isinstance(values, dict) or not isinstance(named, dict):
        return None
    for more in given:
        values = _over(values, more)
    renderer = go_templates.Renderer(values, {key[:1].upper() + key[1:]: value for key, value in named.items()}, helpers)
    text = renderer.render(read, shown=shown)
    return _tagged(text, values) if text is not None and "@sha256:" in text.flat else text


_BY_DIGEST = re.compile(r"(?P<name>[\w.-]+)(?P<digest>@sha256:\w+)")


def _tagged(text: TracedText, values: Any) -> TracedText:
    """A template's output with the tag that the values give beside a digest, where the template writes the digest alone."""
    tags: dict[str, TracedText] = {}
    waiting = [values]
    for _ in range(_NODES_AT_MOST):
        if not waiting:
            break
        fields = waiting.pop()
        if isinstance(fields, dict):
            tag, digest = fields.get("tag"), fields.get("digest")
            if isinstance(tag, TracedText) and isinstance(digest, TracedText) and tag.flat and digest.known:
                tags["@" + digest.flat.removeprefix("@")] = tag
            waiting += fields.values()

    def tagged(match: re.Match[str]) -> TracedText | None:
        if match["digest"] not in tags or text.flat[match.start() - 1 : match.start()] == ":":
            return None
        parts = (text.cut(*match.span("name")), TracedText.of(":"), tags[match["digest"]], text.cut(*match.span("digest")))
        return TracedText.join(parts)

    return text.sub(_BY_DIGEST, tagged) if tags else text


_VALUE = re.compile(r"\{\{-?\s*\.Values\.(?P<path>[\w.]+)\s*(?:\|(?!\s*default\b)[^{}]*)?\}\}")


def _has_defaults(text: str) -> bool:
    """Whether a template of a chart without values has a default for each value that it writes, or asks for it before."""
    return "| default" in text and all(
        re.search(rf"\{{\{{-?\s*(?:if|with)\s+\.Values\.{re.escape(match['path'])}\b", text) for match in _VALUE.finditer(text)
    )


def _of_parent(neighbours: Neighbours, chart: str, own: tuple[Source, Node]) -> dict[str, dict[str, Any]]:
    """What the values of a parent chart give a chart in its folder `charts`, under each name that it has there.

    They are those under the name, and `global`. A name whose condition does not hold is left out where another one's does.
    """
    name = string(yaml.entries(own[1]), "name")
    parent = _own_file(neighbours, f"{chart}../../") if name else None
    inside = neighbours.read(f"{chart}../../charts/{name}/Chart.yaml") if parent is not None else None
    if name is None or parent is None or inside is None or inside.text != own[0].text:
        return {}
    declared = [
        one for item in listed(yaml.entries(parent[1]), "dependencies") if string(one := yaml.entries(item), "name") == name
    ]
    found: dict[str, dict[str, Any]] = {}
    off: set[str] = set()
    for values in _data(neighbours.read(f"{chart}../../values.yaml")):
        for key, condition in {string(one, "alias") or name: string(one, "condition") for one in declared or [{}]}.items():
            under = values.get(key)
            found[key] = dict(under) if isinstance(under, dict) else {}
            if isinstance(values.get("global"), dict):
                found[key]["global"] = values["global"]
            if any(_is_off(values, path.strip()) for path in (condition or "").split(",")):
                off.add(key)
    return {key: given for key, given in found.items() if key not in off or len(off) == len(found)}


def _is_off(values: Any, path: str) -> bool:
    """Whether values have false at a path."""
    from servelint.syntax import go_functions

    for key in path.split("."):
        values = values.get(key) if isinstance(values, dict) else None
    return isinstance(values, go_functions.Scalar) and values.value is False


def _over(base: Any, more: Any) -> Any:
    """Values with others over them: mappings are merged, anything else is replaced, and null takes a key away."""
    from servelint.syntax import go_functions

    if not isinstance(base, dict) or not isinstance(more, dict):
        return more
    found = dict(base)
    for key, value in more.items():
        if isinstance(value, go_functions.Scalar) and value.value is None:
            found.pop(key, None)
        else:
            found[key] = _over(base[key], value) if key in base else value
    return found


_MAKING = (
    *_TEMPLATES[:5], "deployment.tpl", "daemonset.yaml", "deployments.yaml", "server.yaml", "vllm.yaml", "vllm-deployment.yaml",
    "deployment-vllm.yaml", "inferenceservice.yaml", "inference-service.yaml", "isvc.yaml", "llminferenceservice.yaml",
    "llm-inference-service.yaml", "servingruntime.yaml", "serving-runtime.yaml", "lws.yaml", "lws-deployment.yaml",
    "leaderworkerset.yaml", "model-deployment.yaml",
    "llm-deployment.yaml", "engine.yaml", "rayservice.yaml", "model.yaml", "workload.yaml",
    "{}.yaml", "{}-deployment.yaml", "{}-deployments.yaml", "{}/deployment.yaml", "vllm-deployments.yaml",
)  # fmt: skip
"""Files in which charts keep the objects with their containers, where the folder cannot be listed; {} is the chart's name."""


def of_local_chart(source: Source, neighbours: Neighbours, chart: str, given: list[Any], site: Span, name: str) -> list[Launch]:
    """The launches that a chart of the same repository makes with the values of an installation.

    Args:
        source: The file of the installation.
        neighbours: The files beside it.
        chart: The path of the chart's folder from there, with a slash behind it.
        given: What the installation gives over the chart's own values, the strongest last.
        site: What stands for the launches.
        name: What stands in front of their names.
    """
    from servelint import readers
    from servelint.readers import embedded

    found: list[Launch] = []
    beside = neighbours.below(f"{chart}templates")
    beside.given = given
    own = _own_file(neighbours, chart)
    for file in _making(own, neighbours.read(f"{chart}values.yaml"), neighbours, chart):
        template = neighbours.read(f"{chart}templates/{file}")
        text = _rendered(template, neighbours, chart, given) if template is not None else None
        if template is None or text is None or _holds_no_container(template):
            continue
        inner = Source(template.path, text.flat)
        documents, problem = yaml.documents(inner)
        if problem is None:
            launches = readers.read_documents(inner, documents, beside)[0]
            found += embedded.moved(launches, inner, text, source)
    for launch in found:
        launch.source, launch.site = source, site
        launch.name = ".".join([part for part in (name, launch.name) if part])
    return found


def of_own_values(source: Source, neighbours: Neighbours) -> list[Launch]:
    """The launches that the templates beside a chart's own values make of them. They count once if these are read."""
    from servelint import readers

    own = _own_file(neighbours, "") if source.path.replace("\\", "/").endswith(("values.yaml", "values.yml")) else None
    found: list[Launch] = []
    for file in _making(own, source, neighbours, "") if own is not None else ():
        folder, _, name = f"templates/{file}".rpartition("/")
        beside = neighbours.below(folder)
        beside.give("../" * (folder.count("/") + 1) + "values.yaml", source)
        template = beside.read(name)
        if template is not None and ".Values" in template.text and not _holds_no_container(template):
            for launch in readers.read(template, beside).launches:
                launch.source, launch.owner = source, template
                found.append(launch)
    return found


def _holds_no_container(template: Source) -> bool:
    """Whether a template only makes what containers are given: a script of a ConfigMap counts where one runs it."""
    return (
        "containers:" not in template.text and re.search(r"(?m)^kind:[ \t]*(?:ConfigMap|Secret)\b", template.text) is not None
    )


_MAKING_PARTS = ("{}-deployment.yaml", "{}.yaml", "deployment-{}.yaml", "{}-statefulset.yaml", "{}/deployment.yaml")
_PARTS_AT_MOST = 12


def _making(own: tuple[Source, Node] | None, values: Source | None, neighbours: Neighbours, chart: str) -> Iterable[str]:
    """The files of a chart that may make its containers; where the folder cannot be listed, by the names that charts use."""
    folder = f"{chart}templates/"
    listed = neighbours.names(folder, r"[^_].*\.(?:ya?ml|tpl)")
    for below in neighbours.names(folder, r"[^.]+")[:_PARTS_AT_MOST]:
        listed += neighbours.names(f"{below}/", r"[^_].*\.(?:ya?ml|tpl)")
    if listed:
        return [path[len(folder) :] for path in listed]
    called = string(yaml.entries(own[1]), "name") if own is not None else None
    parts = _components(values) if values is not None else []
    files = [form.format(called) for form in _MAKING if called or "{}" not in form]
    return dict.fromkeys([*files, *[form.format(part) for part in parts for form in _MAKING_PARTS]])


def _components(source: Source) -> list[str]:
    """The parts of a chart by the keys above their images: `ollama.gpu.image` gives `ollama-gpu`, `ollama` and `gpu`."""
    documents, _ = yaml.documents(source)
    found: list[str] = []
    waiting = [(document, ()) for document in documents[:1]]  # type: list[tuple[Node, tuple[str, ...]]]
    while waiting and len(found) < _PARTS_AT_MOST:
        node, path = waiting.pop(0)
        for key, (_, value) in yaml.entries(node).items():
            if key == "image" and path and entry.mentions(f"{path} {source.text[yaml.start(value) : yaml.end(value)]}"):
                found += ["-".join(path), path[0], path[-1]]
            elif len(path) < _OBJECTS_DEPTH - 1 and yaml.is_mapping(value):
                waiting.append((value, (*path, re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", key).lower())))
    return list(dict.fromkeys(found))[:_PARTS_AT_MOST]


def completed(held: list[Launch], made: list[Launch]) -> list[Launch]:
    """The launches that values hold, without those of which a template makes others; what that makes stands for them."""

    def stands(whole: Launch, one: Launch) -> bool:
        return _adds_to(one, whole) or (_made_alone(one, held, made) and _differs(one, whole))

    kept = [one for one in held if not any(stands(whole, one) for whole in made)]
    return kept + [whole for whole in made if not held or any(stands(whole, one) for one in held)]


def _image_of(launch: Launch) -> tuple[str, str | None]:
    return launch.engine, launch.image.shown if launch.image is not None else None


def _made_alone(one: Launch, held: list[Launch], made: list[Launch]) -> bool:
    """Whether the templates make each launch of an image that values hold, so that none is left to files not read here."""
    count = [sum(_image_of(other) == _image_of(one) for other in many) for many in (made, held)]
    return count[0] >= count[1]


def _differs(held: Launch, whole: Launch) -> bool:
    """Whether a launch of the same image has other words, all of them known, and its template reads what holds the first."""
    words = [[word.text.shown for word in launch.argv] for launch in (held, whole)]
    template, part = whole.owner.text if whole.owner is not None else "", held.name.partition(".")[0]
    reads = not part or re.search(rf"\.Values\.{re.escape(part)}\b", template) is not None
    same = _image_of(held) == _image_of(whole) and reads
    return same and words[0] != words[1] and not any(word.many for word in whole.argv)


def _adds_to(held: Launch, whole: Launch) -> bool:
    """Whether a launch has all words of another one of the same image, and more."""
    words = iter([word.text.shown for word in whole.argv])
    known = [word for word in held.argv if not word.many]  # the others are what a template may add
    more = len(known) < max(len(whole.argv), len(held.argv))
    return _image_of(held) == _image_of(whole) and more and all(one.text.shown in words for one in known)


_PLACES = ("", "../", "../../", "../../../", "../../../../", "../../../../../", "../../../../../../")


def _local_chart(neighbours: Neighbours, path: str) -> tuple[str, str] | None:
    """The folder of a chart that a path from the root of the repository names, and that root; None where there is none."""
    path = path.removeprefix("./").strip("/")
    for up in _PLACES if path and "{{" not in path else ():
        if neighbours.read(f"{up}{path}/Chart.yaml") is not None:
            return f"{up}{path}/", up
    return None


def _application(source: Source, fields: Entries, neighbours: Neighbours, label: str) -> list[Launch] | None:
    """The launches of an Argo CD application, or of a HelmRelease, of a chart in the same repository; None for another one."""
    spec = section(fields, "spec")
    sources = [yaml.entries(item) for item in listed(spec, "sources")] or [section(spec, "source")]
    found: list[Launch] = []
    known = False
    for one in sources:
        helm, path = section(one, "helm"), string(one, "path")
        if "chart" in spec:
            one = section(spec, "chart", "spec")
            helm, path = spec, string(one, "chart")
        chart = _local_chart(neighbours, path or "")
        if chart is None or path is None:
            continue
        known = True
        given: list[Any] = []
        for item in [*listed(helm, "valueFiles"), *listed(one, "valuesFiles")]:
            file = yaml.scalar(item) or ""
            root, rest = (chart[1], file.partition("/")[2]) if file.startswith("$") else (chart[0], file)
            given += _data(neighbours.read(root + rest))
        for key in ("values", "valuesObject"):
            node = yaml.field(helm, key)
            if yaml.is_mapping(node):
                given += _of_node(source, node)
            elif yaml.is_scalar(node):
                text = yaml.text(source, node, verbatim=True)
                extent = text.extent()
                given += _data(Source(source.path, text.flat)) if extent is not None else []
        for item in listed(helm, "parameters"):
            given += _parameter(source, yaml.entries(item))
        named, at = one["path" if "path" in one else "chart"]
        found += of_local_chart(source, neighbours, chart[0], given, Span(source, yaml.start(named), yaml.end(at)), label)
    return found if known else None


def _parameter(source: Source, fields: Entries) -> list[Any]:
    """The values that one parameter sets: `a.b.c` with a value. One with an index is left out."""
    from servelint.syntax import go_functions

    name = string(fields, "name") or ""
    if not re.fullmatch(r"[\w-]+(?:\.[\w-]+)*", name) or "value" not in fields:
        return []
    value = go_functions.loaded(source, fields["value"][1])
    if isinstance(value, TracedText) and string(fields, "forceString") != "true":
        # as `helm --set` reads it
        plain = {"true": True, "false": False}.get(value.flat)
        number = int(value.flat) if re.fullmatch(r"-?(?:0|[1-9]\d{0,17})", value.flat) else None
        if plain is not None or number is not None:
            value = go_functions.Scalar(plain if plain is not None else number, value)
    for key in reversed(name.split(".")):
        value = {key: value}
    return [value]


def _data(source: Source | None) -> list[Any]:
    """The values in a file; none where it cannot be read."""
    documents = yaml.documents(source)[0] if source is not None else []
    return _of_node(source, documents[0]) if source is not None and documents else []


def _of_node(source: Source, node: Node) -> list[Any]:
    from servelint.syntax import go_functions

    try:
        values = go_functions.loaded(source, node)
    except go_functions.Unknown:
        return []
    return [values] if isinstance(values, dict) else []


_VALUES_NAME = re.compile(r"(?:^|[/._-])values?(?:[/._-]|$)", re.IGNORECASE)
_EVERYWHERE = frozenset(("fullnameOverride", "global", "nameOverride"))
"""Keys that every chart may be given."""
_CHART_FOLDERS = ("charts", "helm", "chart", "deploy/charts", "deploy/helm")


_REPOSITORY = re.compile(r"(?m)^[ \t]+repository[ \t]*:")
"""How charts name an image."""


def may_be_for_a_chart(source: Source) -> bool:
    """Whether a YAML text that its path does not call values may be some for a chart of the same repository."""
    return _REPOSITORY.search(source.text) is not None and entry.mentions(source.text)


def with_chart(source: Source, documents: list[Node], neighbours: Neighbours) -> list[Launch]:
    """The launches of values for a chart of the same repository, in a file that is not the chart's own `values.yaml`.

    Only those are taken for a file that is not called values, all of whose keys the chart's own values have.
    """
    path = source.path.replace("\\", "/")
    name = path.rpartition("/")[2]
    called = _VALUES_NAME.search("/".join(path.split("/")[-2:])) is not None
    if len(documents) != 1 or not yaml.is_mapping(documents[0]) or "apiVersion" in yaml.entries(documents[0]):
        return []
    own = next((up for up in _PLACES[:3] if neighbours.read(up + "Chart.yaml") is not None), None)
    if name in ("values.yaml", "values.yml") and own == "":
        return []
    chart = own if own is not None else _named_chart(name, neighbours) or _only_chart(neighbours)
    if chart is None:
        chart = _chart_of_engine(source, neighbours)
    fields = yaml.entries(documents[0])
    if chart is None and len(fields) > 1:
        chart = _chart_with_keys(set(fields), neighbours)
    beside = neighbours.read(f"{chart}values.yaml") if chart is not None else None
    known = yaml.documents(beside)[0] if beside is not None else []
    theirs = yaml.entries(known[0]).keys() | _EVERYWHERE if known else set()
    fits = not fields.keys().isdisjoint(theirs) if own is not None and called else fields.keys() <= theirs
    if chart is None or not fields or not fits:
        return []
    key, value = next(iter(fields.values()))
    site = Span(source, yaml.start(key), yaml.end(value))
    return of_local_chart(source, neighbours, chart, _of_node(source, documents[0]), site, "")


def _named_chart(name: str, neighbours: Neighbours) -> str | None:
    """The folder of the chart that values are called after: `values/vllm-amd.yaml`, `values-vllm.yaml`."""
    words = re.sub(r"\.ya?ml$", "", name).split("-")
    words = [word for word in words if word != "values"]
    for count in range(len(words), 0, -1):
        for up in _PLACES[:5]:
            for folder in _CHART_FOLDERS:
                path = f"{up}{folder}/{'-'.join(words[:count])}/"
                if neighbours.read(path + "Chart.yaml") is not None:
                    return path
    return None


def _chart_of_engine(source: Source, neighbours: Neighbours) -> str | None:
    """The folder of a chart that is called after the engine whose image the values name: `charts/vllm`."""
    names = [name for engine in ENGINES.values() for name in engine.yaml_keys if name in source.text.lower()]
    paths = [f"{up}{folder}/{name}/" for up in _PLACES[1:5] for folder in _CHART_FOLDERS for name in names]
    return next((path for path in paths if neighbours.read(path + "Chart.yaml") is not None), None)


def _chart_with_keys(keys: set[str], neighbours: Neighbours) -> str | None:
    """The folder of the only chart in a folder for charts whose own values have all of some keys."""
    for up in _PLACES[1:5]:
        for folder in _CHART_FOLDERS:
            found: list[str] = []
            for below in neighbours.names(f"{up}{folder}/", r"[^.]+")[:_PARTS_AT_MOST]:
                own = neighbours.read(f"{below}/values.yaml") if neighbours.read(f"{below}/Chart.yaml") is not None else None
                documents = yaml.documents(own)[0] if own is not None else []
                if documents and keys <= yaml.entries(documents[0]).keys() | _EVERYWHERE:
                    found.append(f"{below}/")
            if found:
                return found[0] if len(found) == 1 else None
    return None


def _only_chart(neighbours: Neighbours) -> str | None:
    """The folder of a chart that stands alone in a folder for charts."""
    paths = [f"{up}{folder}/" for up in _PLACES[1:5] for folder in _CHART_FOLDERS]
    return next((path for path in paths if neighbours.read(path + "Chart.yaml") is not None), None)


def held_by_values(source: Source, neighbours: Neighbours) -> set[tuple[str, ...]]:
    """The engine and the words of each launch that the own values of a template's chart hold."""
    beside = values_beside(source, neighbours)
    documents = yaml.documents(beside)[0] if beside is not None else []
    if beside is None or not documents:
        return set()
    return {(launch.engine, *[word.shown for word in launch.argv]) for launch in values(beside, documents[0])}


def _own_file(neighbours: Neighbours, above: str) -> tuple[Source, Node] | None:
    """The Chart.yaml of a chart."""
    source = neighbours.read(above + "Chart.yaml")
    documents = yaml.documents(source)[0] if source is not None else []
    return (source, documents[0]) if source is not None and documents else None
