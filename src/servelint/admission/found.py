"""The findings of one object: its text as the readers take it, and each place as a path of fields."""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from typing import NamedTuple

from servelint.admission import nodes
from servelint.core.finding import SEVERITIES, Finding
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.engines import ENGINE_NAMES
from servelint.files.siblings import Neighbours
from servelint.filters.masking import mask
from servelint.judge.judging import judge
from servelint.readers import kubernetes, mentions_engine
from servelint.rules.ranges import describe
from servelint.syntax import yaml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.syntax.yaml import Node

_NAMES = ("name", "generateName", "namespace")
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What JSON may have as it stands, and YAML may not, or takes for the end of a line."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_PLAIN_KEY = re.compile(r"[\w-]+")
_REMEMBERED = 512


class UnreadError(Exception):
    """An object that the readers cannot take."""


class Found(NamedTuple):
    """One finding, for people.

    field: "spec.template.spec.containers[0].args[3]", "" where it stands nowhere in the object
    sentence: what is wrong and what to write;  releases: "vLLM 0.27.1, affected: 0.20 and later"
    mark: the same for the same finding of the same object, whatever release it runs on by now
    """

    rule: str
    severity: str
    field: str
    sentence: str
    releases: str
    mark: str


_known: dict[tuple[bytes, Settings], tuple[Found, ...]] = {}
"""What was found in texts of late, by their digest, the last that was asked for at the end: an update has the old object as
well, and controllers write the same one many times."""


def found(thing: dict[str, Any], settings: Settings) -> tuple[Found, ...]:
    """The findings of an object, the most severe first. Raises UnreadError; settings are compared as objects."""
    slim, text = text_of(thing)
    data = text.encode("utf-8", "replace")
    if not mentions_engine(data):
        return ()
    key = blake2b(data, digest_size=32).digest(), settings
    known = _known.pop(key, None)
    if known is None:
        known = _found(slim, text, settings)
        if len(_known) >= _REMEMBERED:
            del _known[next(iter(_known))]
    _known[key] = known
    return known


def text_of(thing: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """An object as JSON that is YAML as well, without what launches nothing: its status, who wrote which of its fields, its
    annotations, among which `kubectl apply` keeps it once more, and what its pods are called. With it what it is the JSON of,
    None where YAML takes some of its characters only as escapes."""
    slim = {key: value for key, value in thing.items() if key != "status"}
    metadata = thing.get("metadata")
    if isinstance(metadata, dict):
        slim["metadata"] = {key: metadata[key] for key in _NAMES if key in metadata}
    spec = thing.get("spec")
    template = spec.get("template") if isinstance(spec, dict) else None
    if isinstance(spec, dict) and isinstance(template, dict) and "metadata" in template:
        slim["spec"] = {**spec, "template": {key: value for key, value in template.items() if key != "metadata"}}
    try:
        text = json.dumps(slim, ensure_ascii=False)
    except RecursionError as error:
        raise UnreadError("the object is nested too deeply") from error
    if text.isascii() and "\x7f" not in text:
        return slim, text
    plain = _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", _SURROGATE.sub("\ufffd", text))
    return slim if plain == text else None, plain


def _documents(slim: dict[str, Any] | None, source: Source) -> list[Node]:
    node = nodes.of(slim, source.text) if slim is not None else None
    if node is not None:
        return [node]
    documents, problem = yaml.documents(source)
    if problem is not None:
        raise UnreadError(problem.message)
    return documents


def _found(slim: dict[str, Any] | None, text: str, settings: Settings) -> tuple[Found, ...]:
    source = Source("object.json", text)
    documents = _documents(slim, source)
    launches = kubernetes.read(source, documents, Neighbours(None))
    kept: dict[tuple[str, object, str], Finding] = {}
    least = SEVERITIES.index(settings.severity)
    for launch in launches:
        for finding in judge(launch, settings):
            if SEVERITIES.index(finding.severity) >= least:
                kept.setdefault((finding.rule, finding.span, finding.message), finding)
    findings = sorted(kept.values(), key=lambda one: (-SEVERITIES.index(one.severity), one.span.start, one.rule))
    return tuple([_told(finding, source, documents) for finding in mask(launches, findings)])


def _told(finding: Finding, source: Source, documents: list[Node]) -> Found:
    here = finding.span.source is source and bool(documents)
    return Found(
        finding.rule,
        finding.severity,
        field(documents[0], finding.span.start) if here else "",
        finding.sentence,
        _releases(finding),
        finding.fingerprint,
    )


def _releases(finding: Finding) -> str:
    if finding.launch is None:
        return ""
    name = ENGINE_NAMES[finding.launch.engine]
    range_ = describe(finding.affected) if finding.affected else ""
    if finding.release is None:
        return f"{name}, affected: {range_}" if range_ else name
    return f"{name} {finding.release}" + (f", affected: {range_}" if range_ else "")


def field(node: Node, offset: int) -> str:
    """The path of the deepest field that holds an offset.

    >>> source = Source("x.json", '{"spec": {"args": ["a", "b"], "a/b": 1}}')
    >>> (document,), _ = yaml.documents(source)
    >>> [field(document, source.text.index(text)) for text in ('"b"', "1")]
    ['spec.args[1]', 'spec["a/b"]']
    """
    path = ""
    while True:
        step = None
        for number, item in enumerate(yaml.items(node) or []):
            if yaml.start(item) <= offset < yaml.end(item):
                step = f"[{number}]", item
        for key, (start, value) in yaml.entries(node).items():
            if yaml.start(start) <= offset < yaml.end(value):
                plain = _PLAIN_KEY.fullmatch(key) is not None
                step = (f".{key}" if path else key) if plain else f"[{json.dumps(key)}]", value
        if step is None:
            return path
        path += step[0]
        node = step[1]
