"""Readers turn one source into launches. Each declares its format in a record, from which the registry is made."""

from __future__ import annotations

import re

from servelint.core import bounds
from servelint.core.launch import Launch, pair
from servelint.core.problem import Problem
from servelint.core.run import Run, current
from servelint.core.source import Source, Span
from servelint.engines.products import PRODUCTS, product
from servelint.engines.registry import ENGINES, derived
from servelint.files.siblings import Neighbours
from servelint.readers.registry import FORMATS, JSON, YAML, Format, calls_script, named, of_syntax, recognise
from servelint.syntax import placeholders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from servelint.core.text import TracedText
    from servelint.syntax.yaml import Node

_TEMPLATE = "{{"
_CHART_WORDS = (b"{{", b"containers:", b"image:", b".values.")
"""What a chart's template has whose engine may only be named in the chart's values."""
_INSTALLATION_WORDS = (b"argoproj.io", b"kind: application", b"path:", b"helm:")
"""What an application of Argo CD has that gives values to a chart of its repository, which may name the engine alone."""
_RESOURCES = r"(?i)\{\{[^{}\n]*(?:accelerator|gpu|resources)"
"""An action of a chart's template that writes the resources of a container."""
_ALIAS = r"(?m)(?:[:,\[{-]|^)[ \t]*\*\w"
_KEYS_AT_MOST = 10_000
_LARGE = 1 << 17
"""Characters of a YAML text, such as a bundle of manifests, whose objects are looked at before it is parsed."""
_ROOM = 10_000


class Reading:
    """What was found in one source.

    Attributes:
        source: The source.
        launches: The launches, in the order in which the reader found them.
        problems: What could not be read.
    """

    __slots__ = ("launches", "problems", "source")

    def __init__(self, source: Source, launches: list[Launch], problems: list[Problem]) -> None:
        self.source = source
        self.launches = launches
        self.problems = problems


@derived
def _words() -> tuple[bytes, ...]:
    words = [word.encode() for many in (FORMATS, PRODUCTS) for one in many for word in one.words]
    return (*[word for engine in ENGINES.values() for word in engine.words], *words)


def mentions_engine(data: bytes) -> bool:
    """Whether a file's bytes contain a word of an engine or of a format. A file without one is not parsed."""
    lowered = data.lower()
    # 15 times as fast as a pattern of them all
    return any(word in lowered for word in _words()) or any(
        all(word in lowered for word in words) for words in (_CHART_WORDS, _INSTALLATION_WORDS)
    )


def read(source: Source, neighbours: Neighbours | None = None) -> Reading:
    """Read the launches of a source. A format that is not recognised yields none.

    Args:
        source: The text.
        neighbours: The files beside it, none by default.
    """
    beside = neighbours if neighbours is not None else Neighbours(None)
    kind = recognise(source)
    if kind is None and source.path != NO_NAME:
        return Reading(source, [], [])
    around = current()
    if _is_silent(source, kind, beside):
        return Reading(source, [], [])
    with Run(source.path) as run:
        if kind is None:
            found = _unnamed(source, beside)
        elif kind == YAML:
            found = _yaml(source, beside)
        elif kind == JSON:
            found = _json(source, beside)
            if source.path == NO_NAME and not found.launches and not found.problems:
                found = _unnamed(source, beside)  # a notebook
        else:
            one = named(kind)
            read_as = one.function(one.read)(source, beside)
            found = Reading(source, [], [read_as]) if isinstance(read_as, Problem) else Reading(source, read_as, [])
        if any(launch.fragment for launch in found.launches):
            from servelint.readers import deployed

            found.launches = deployed.beside_server(found.launches)
        found.launches = _within(found.launches)
        for launch in found.launches:
            placeholders.fill(launch)
        if any(word.many and word.text.pieces[0].perhaps is not None for one in found.launches for word in one.argv):
            from servelint.readers import alternatives

            for launch in found.launches:
                alternatives.of_conditions(launch)
        of_chart = kind == YAML and "/templates/" in f"/{source.path}"
        if of_chart and any(".Values" in one.shown for one in _texts(found.launches)):
            from servelint.readers import helm

            given = helm.elsewhere(source, beside)
            for launch in found.launches:
                launch.elsewhere = given
    if any(launch.release.release is None for launch in found.launches):
        from servelint.readers import source_tree

        source_tree.claim(found.launches, beside)
    pair(found.launches)
    found.problems += run.problems
    if around is not None:
        # a template is read with and without its values
        launched = [one.image.extent() for one in found.launches if one.image is not None]
        around.unjudged += [one for one in run.unjudged if one[0].extent() is None or one[0].extent() not in launched]
        if kind == YAML:
            around.unjudged += _products(source, [*run.unjudged, *[(one.image, "") for one in found.launches]])
    return found


_IN_WORKFLOWS = ".github/workflows"


def _is_silent(source: Source, kind: str | None, beside: Neighbours) -> bool:
    """Whether a pipeline or a file of tasks neither mentions an engine nor runs a script that does."""
    if kind not in (YAML, "makefile", "justfile") or ".sh" not in source.text:
        return False
    data = source.text.encode("utf-8", "replace")
    if mentions_engine(data) or not calls_script(source.path, data):
        return False
    from servelint.readers.scripts import starts_one

    above = "../../" if f"{_IN_WORKFLOWS}/" in source.path else ""
    return not starts_one(source.text, lambda path: beside.read(above + path, named=False))


_IMAGE = r"(?im)^[ \t]*(?:- )?(?:repository|image)[ \t]*:[ \t]*[\"']?([\w.-]+(?::\d+)?(?:/[\w.-]+)+(?::[\w.-]+)?)"
"""An image of a text, whatever object it belongs to."""


def _products(source: Source, known: list[tuple[TracedText | None, str]]) -> list[tuple[TracedText, str]]:
    """The images of products in a YAML text which no reader takes for a container's; known: those that one did."""
    from servelint.core.text import TracedText

    text = source.text.lower()
    if not any(word in text for one in PRODUCTS for word in one.words):
        return []
    spans = [image.extent() for image, _ in known if image is not None]
    lines = {source.position(span.start)[0] for span in spans if span is not None and span.source is source}
    found: list[tuple[TracedText, str]] = []
    for match in re.finditer(_IMAGE, source.text):
        if (held := product(match.group(1))) is not None and source.position(match.start(1))[0] not in lines:
            image = TracedText.at(source, *match.span(1))
            found.append((image, f"{image.shown} is not judged: {held.name} {held.why}"))
    return found


def _texts(found: list[Launch]) -> Iterator[TracedText]:
    for launch in found:
        yield from [word.text for word in launch.argv]
        yield from [one.value for one in launch.env.values() if one.value is not None]
        if launch.image is not None:
            yield launch.image


NO_NAME = "-"
"""What a text is called that has no name."""
_MAPPING = r"(?m)^(?:- |[\w\"'.-]+[ \t]*:(?:[ \t]|$))"


def _unnamed(source: Source, beside: Neighbours) -> Reading:
    """Read a text without a name or a shape: by the first format that it may have and in which it starts something."""
    if re.search(_MAPPING, source.text) is not None:
        found = _yaml(source, beside)
        if found.launches:
            return found
    for one in FORMATS:
        if one.syntax not in (YAML, JSON) and one.unnamed and re.search(one.unnamed, source.text):
            launches = one.function(one.read)(source, beside)
            if launches:
                return Reading(source, launches, [])
    shell = named("shell")
    return Reading(source, shell.function(shell.read)(source, beside), [])


def _within(launches: list[Launch]) -> list[Launch]:
    """The launches that are judged: those that are too long, or too many, are left out."""
    found = [one for one in launches if not bounds.WORDS.passed(len(one.argv), one.site)]
    if len(found) > bounds.LAUNCHES.most:
        bounds.LAUNCHES.reached(found[bounds.LAUNCHES.most].site)
    return found[: bounds.LAUNCHES.most]


def read_documents(
    source: Source, documents: list[Node], neighbours: Neighbours, formats: list[Format] | None = None
) -> tuple[list[Launch], bool]:
    """Read YAML documents, each by the first format that it has.

    Args:
        source: The text that holds them.
        documents: The documents.
        neighbours: The files beside the text.
        formats: The formats that are tried, all YAML formats by default.

    Returns:
        The launches, and whether any document has one of the formats.
    """
    from servelint.syntax import yaml

    launches: list[Launch] = []
    left: list[Node] = [document for document in documents if yaml.is_mapping(document) or yaml.is_sequence(document)]
    sprawling: dict[int, bool] = {}
    known = False
    for one in of_syntax(YAML) if formats is None else formats:
        offered = left if one.lists else [document for document in left if yaml.is_mapping(document)]
        if one.bounded:
            for document in offered:
                if id(document) not in sprawling:
                    sprawling[id(document)] = _sprawls(source, document)
            offered = [document for document in offered if not sprawling[id(document)]]
        if not offered:
            continue
        is_mine = one.function(one.is_mine)
        if own := [document for document in offered if is_mine(source, document)]:
            launches += one.function(one.read)(source, own, neighbours)
            taken = {id(document) for document in own}
            left = [document for document in left if id(document) not in taken]
            known = True
    return launches, known


def _sprawls(source: Source, document: Node) -> bool:
    """Whether a document is a large table, or one that aliases make much larger than its text."""
    if len(document.value) > _KEYS_AT_MOST:
        return True
    if re.search(_ALIAS, source.text) is None:
        return False
    from servelint.syntax import yaml

    left = len(source.text) + _ROOM
    waiting = [document]
    while waiting and left > 0:
        node = waiting.pop()
        left -= 1
        if yaml.is_mapping(node):
            inner = [value for _, value in yaml.entries(node).values()]
            left -= len(inner)
            waiting += inner
        else:
            waiting += yaml.items(node) or []
    return left <= 0


def _yaml(source: Source, neighbours: Neighbours, text: str | None = None, most: bounds.Bound = bounds.YAML_NODES) -> Reading:
    found = _yaml_as_one(source, neighbours, text, most)
    if text is None and "{%" in source.text and re.search(_ELSE, source.text) is not None:
        _add_arms(source, neighbours, found.launches)
    return found


_ELSE = r"(?m)^[ \t]*\{%[-+]?\s*el(?:se|if)\b"
_CONDITIONS_AT_MOST = 4
"""Conditions of a template of which each part is read alone."""


def _add_arms(source: Source, neighbours: Neighbours, found: list[Launch]) -> None:
    """Add the launches of a template of Jinja with each part of a condition alone: another may have the same keys."""
    from servelint.core.launch import Branch
    from servelint.core.text import TracedText
    from servelint.readers.alternatives import attach
    from servelint.readers.embedded import moved
    from servelint.syntax import templates

    whole = TracedText.at(source, 0, len(source.text))
    for *parts, (_, _, last) in templates.arms(source.text)[:_CONDITIONS_AT_MOST]:
        opening = parts[0][0]
        for action, start, end in parts:
            before, after = source.text[opening.start : start], source.text[end:last]
            text = "".join(
                (source.text[: opening.start], _blank(before), source.text[start:end], _blank(after), source.text[last:])
            )
            inner = Source(source.path, text, source.encoding)
            with Run(source.path):
                others = moved(_yaml_as_one(inner, neighbours).launches, inner, whole, source)
            own = action if action is opening or "elif" in source.text[action.start : action.end] else opening
            attach(found, others, Branch(Span(source, own.start, own.end), own is action))


def _alone(text: str, start: int, end: int) -> str:
    """A text with blanks instead of what is around a part of it."""
    return _blank(text[:start]) + text[start:end] + _blank(text[end:])


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _yaml_as_one(
    source: Source, neighbours: Neighbours, text: str | None = None, most: bounds.Bound = bounds.YAML_NODES
) -> Reading:
    from servelint.syntax import yaml

    if text is None and len(source.text) > _LARGE:
        from servelint.readers import cluster_list

        text = cluster_list.thinned_yaml(source.text)
        most = bounds.CLUSTER_NODES if text is not None else most
    if _TEMPLATE in source.text and not _names_engine(source, neighbours):
        return Reading(source, [], [])
    documents, problem = yaml.documents(source, text, most)
    if problem is not None and text is None and re.search(_LINE_OF_TEMPLATE, source.text) is not None:
        documents, problem = yaml.documents(source, None, most, _LINE_OF_TEMPLATE)
    if re.search(_NAMELESS, source.path) is not None:
        documents = [_in_services(document) for document in documents]
    if yaml.mask_of(source) is not None:
        from servelint.readers import helm

        helm.attach(source, neighbours, documents)
    mask = yaml.mask_of(source)
    plain = mask is None or mask.text is None  # Helm takes what a value of such a text has in braces for characters
    if plain and problem is None and ("values" in source.path.lower() or _REPOSITORY in source.text):
        from servelint.readers import helm

        wanted = "values" in source.path.lower() or helm.may_be_for_a_chart(source)
        made = helm.with_chart(source, documents, neighbours) if wanted else []
        if made:
            return Reading(source, made, [])
    launches, known = read_documents(source, documents, neighbours)
    if problem is None and plain and source.path.endswith(("values.yaml", "values.yml")):
        from servelint.readers import helm

        launches = helm.completed(launches, helm.of_own_values(source, neighbours))
    if _TEMPLATE in source.text and (filled := _filled(source, neighbours, shown=bool(launches))):
        return Reading(source, filled, [])
    shown = problem is not None and (known or not _has_actions(source.text) or re.search(named("compose").shape, source.text))
    return Reading(source, launches, [problem] if problem is not None and shown else [])


_REPOSITORY = "repository:"
"""What stands in the values of a chart that name an image."""
_NAMELESS = r"(?:^|/)[^./]+\.(?:in|j2|jinja2?|tmpl|(?:tf)?tpl|gotmpl|template)$"
"""A template whose name does not say of what."""


def _in_services(document: Node) -> Node:
    """A compose file around services that a template holds alone."""
    from servelint.syntax import yaml

    fields = yaml.entries(document) if yaml.is_mapping(document) else {}
    if not fields or not all({"image", "command"} <= yaml.entries(value).keys() for _, value in fields.values()):
        return document
    start = yaml.start(document)
    return yaml.new_mapping([(yaml.new_scalar("services", start, start), document)], start, yaml.end(document))


_LINE_OF_TEMPLATE = r"(?m)^[ \t]*(\$?\{[A-Za-z_]\w*\}|<[A-Za-z_][\w-]*>|%[A-Za-z_]\w*%|@[A-Za-z_]\w*@)[ \t]*$"
"""What stands alone in a line that a program fills in: what it becomes is not known."""
_QUOTED = r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'"
_ACTION = r"(?<!\$)\{\{"
_OTHER_ACTION = (
    r"(?m)^[ \t]*(?:(?:- )?[\w.-]*:?[ \t]*)?(?:<%|\[%|\(%|<#|\[\[-?[ \t]*(?:if|range|end|template|\.))"
    r"|^[ \t]*%-?[ \t]*(?:if|for|set|end\w*|else)\b"
)
"""An action of a template whose delimiters are not those of Helm and Jinja: `<% for`, `[[ if`, `% endif`."""


def _has_actions(text: str) -> bool:
    """Whether a text has template actions where YAML does not take them for text: outside quotes, and not `${{ ... }}`."""
    if re.search(_OTHER_ACTION, text) is not None:
        return True
    return _TEMPLATE in text and re.search(_ACTION, re.sub(_QUOTED, "", text)) is not None


def _filled(source: Source, neighbours: Neighbours, *, shown: bool) -> list[Launch]:
    """The launches of a chart's template as the chart's own values fill it.

    shown: whether the template shows a launch itself; if not, one that the values hold whole is left to their file
    """
    from servelint.readers import embedded, helm
    from servelint.syntax import yaml

    texts = helm.filled(source, neighbours)
    if shown and texts and not any(text.flat.strip("- \n") for _, text in texts):
        texts = helm.filled(source, neighbours, shown=True)  # the values switch the whole file off
    found: list[Launch] = []
    for alias, text in texts:
        inner = Source(source.path, text.flat, source.encoding)
        documents, problem = yaml.documents(inner)
        if problem is not None:
            continue
        if yaml.mask_of(inner) is not None:
            helm.attach(inner, neighbours, documents)
        launches = read_documents(inner, documents, neighbours)[0]
        if launches and not shown:
            held = helm.held_by_values(source, neighbours)
            launches = [launch for launch in launches if (launch.engine, *[word.shown for word in launch.argv]) not in held]
        if _TEMPLATE in source.text and re.search(_RESOURCES, source.text) is not None:
            for launch in launches:
                # the values of an installation ask for GPUs, those of the chart often do not
                if launch.container is not None and launch.container.reserved is False:
                    launch.container.gpus = launch.container.reserved = None
        for launch in embedded.moved(launches, inner, text, source):
            launch.name = f"{alias}.{launch.name}" if alias else launch.name
            found.append(launch)
    return found


def _names_engine(source: Source, neighbours: Neighbours) -> bool:
    """Whether a template or the values of its chart name an engine."""
    from servelint.readers import helm

    if any(word in source.text.lower().encode() for word in _words()):
        return True
    given = helm.values_above(source, neighbours)
    return not given or any(mentions_engine(one.text.encode()) for one in given)


def _json(source: Source, neighbours: Neighbours) -> Reading:
    """Read a manifest, which is YAML as well, or the JSON format that takes the text first."""
    if '"apiVersion"' in source.text or '"services"' in source.text:
        from servelint.readers import cluster_list

        if (objects := cluster_list.stream(source.text)) is not None:
            most = bounds.JSON_MANIFESTS.most
            if len(objects) > most:
                bounds.JSON_MANIFESTS.reached(Span(source, *objects[most]))
            each = [_yaml(source, neighbours, _alone(source.text, *place)) for place in objects[:most]]
            return Reading(
                source, [one for found in each for one in found.launches], [one for found in each for one in found.problems]
            )
        thinned = cluster_list.thinned(source.text)
        if thinned is None:
            return _yaml(source, neighbours)
        if (run := current()) is not None:
            run.extend(bounds.CLUSTER_NODES.most // bounds.YAML_NODES.most)
        return _yaml(source, neighbours, thinned, bounds.CLUSTER_NODES)
    for one in of_syntax(JSON):
        found = one.function(one.read)(source, neighbours)
        if isinstance(found, Problem):
            return Reading(source, [], [found])
        if found:
            return Reading(source, found, [])
    return Reading(source, [], [])
