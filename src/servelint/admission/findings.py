"""The findings of one object of Kubernetes: its JSON as the readers take it, and each place as a path of fields."""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from typing import Any, NamedTuple

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
from servelint.syntax.yaml import Node

_NAMES = ("name", "generateName", "namespace")
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What JSON may have as it stands, and YAML may not, or takes for the end of a line."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_PLAIN_KEY = re.compile(r"[\w-]+")
_REMEMBERED = 512


class UnreadError(Exception):
    """The readers cannot read an object. The message is one sentence."""


class Found(NamedTuple):
    """One finding of an object.

    Attributes:
        rule: the id of the rule.
        severity: error, warning or info.
        field: such as "spec.template.spec.containers[0].args[3]", "" where it is not a place in the object.
        sentence: what is wrong and what to write.
        releases: such as "vLLM 0.27.1, affected: 0.20 and later".
        mark: a text that is equal for the same finding of the object before and after an update, whatever release it runs.
    """

    rule: str
    severity: str
    field: str
    sentence: str
    releases: str
    mark: str


_known: dict[tuple[bytes, Settings], tuple[Found, ...]] = {}
"""Recent findings, by the digest of the object and the settings, the last used at the end: an update has the old object too,
and controllers write the same object many times."""


def findings_of(thing: dict[str, Any], settings: Settings) -> tuple[Found, ...]:
    """Return the findings of an object, the most severe first.

    Args:
        thing: the object.
        settings: the settings, compared by identity.

    Raises:
        UnreadError: the readers cannot read the object.
    """
    text = text_of(thing)
    data = text.encode("utf-8", "replace")
    if not mentions_engine(data):
        return ()
    key = blake2b(data, digest_size=32).digest(), settings
    known = _known.pop(key, None)
    if known is None:
        known = _found(text, settings)
        if len(_known) >= _REMEMBERED:
            del _known[next(iter(_known))]
    _known[key] = known
    return known


def text_of(thing: dict[str, Any]) -> str:
    """Return an object as JSON that is valid YAML, without the parts that launch nothing.

    These are its status, its managed fields, its annotations, among which `kubectl apply` keeps a copy of it, and the metadata
    of its pods.

    Raises:
        UnreadError: the object is nested too deeply.
    """
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
        return text
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", _SURROGATE.sub("\ufffd", text))


def _found(text: str, settings: Settings) -> tuple[Found, ...]:
    source = Source("object.json", text)
    documents, problem = yaml.documents(source)
    if problem is not None:
        raise UnreadError(problem.message)
    launches = kubernetes.read(source, documents, Neighbours(None))
    kept: dict[tuple[str, object, str], Finding] = {}
    least = SEVERITIES.index(settings.severity)
    for launch in launches:
        for finding in judge(launch, settings):
            if SEVERITIES.index(finding.severity) >= least:
                kept.setdefault((finding.rule, finding.span, finding.message), finding)
    findings = sorted(kept.values(), key=lambda one: (-SEVERITIES.index(one.severity), one.span.start, one.rule))
    return tuple([_for_people(finding, source, documents) for finding in mask(launches, findings)])


def _for_people(finding: Finding, source: Source, documents: list[Node]) -> Found:
    inside = finding.span.source is source and bool(documents)
    return Found(
        finding.rule,
        finding.severity,
        field(documents[0], finding.span.start) if inside else "",
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
    """Return the path of the deepest field that contains an offset.

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
