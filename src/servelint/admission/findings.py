"""The findings of one object of Kubernetes: its JSON as the readers take it, and each place as a path of fields.

The object has been parsed once, as JSON. Its nodes are built from that: libyaml would parse the text again, and take twice as
long. Where YAML may read the text otherwise, libyaml does it.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from json.encoder import encode_basestring
from typing import Any, NamedTuple

from servelint.core import bounds
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
from servelint.syntax.yaml import PLAIN, STRING

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
    """The readers cannot read an object. The message is one sentence."""


class Found(NamedTuple):
    """One finding of an object.

    Attributes:
        rule: the id of the rule.
        severity: error, warning or info.
        field: such as "spec.template.spec.containers[0].args[3]", "" where it is no place in the object.
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
    """Return an object as JSON that is valid YAML, without the parts that launch nothing.

    These are its status, its managed fields, its annotations, among which `kubectl apply` keeps a copy of it, and the metadata
    of its pods.

    Returns:
        The object without these parts, None where its text has characters that YAML takes as escapes only; and the text.
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
        return slim, text
    printable = _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", _SURROGATE.sub("\ufffd", text))
    return slim if printable == text else None, printable


def _documents(slim: dict[str, Any] | None, source: Source) -> list[Node]:
    node = nodes_of(slim, source.text) if slim is not None else None
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


_WORDS = {True: "true", False: "false", None: "null"}
_KEY_AT_MOST = 1000
"""Characters: libyaml accepts no longer key."""
_DEPTH_AT_MOST = min(100, bounds.YAML_DEPTH.most)


class _OtherwiseError(Exception):
    """Part of an object that YAML may read otherwise than JSON."""


def nodes_of(thing: dict[str, Any], text: str) -> Node | None:
    """Return the nodes of an object; None where libyaml must read its text.

    Args:
        thing: the object.
        text: `json.dumps(thing, ensure_ascii=False)`.
    """
    if "{{" in text or "{%" in text:
        return None  # it may be a template
    try:
        node, end = _Builder().mapping(thing, 0, 0)
    except _OtherwiseError:
        return None
    return node if end == len(text) else None


class _Builder:
    """Builds nodes with the places that `json.dumps` gives them.

    Attributes:
        left: number of nodes that may still be made.
    """

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = bounds.YAML_NODES.most

    def mapping(self, thing: dict[str, Any], start: int, depth: int) -> tuple[Node, int]:
        """Return a mapping that begins at an offset, and where it ends."""
        self._count(len(thing), depth)
        found: list[tuple[Node, Node]] = []
        at = start + 1
        for key, value in thing.items():
            if len(key) > _KEY_AT_MOST:
                raise _OtherwiseError
            end = at + len(encode_basestring(key))
            node = yaml.new_scalar(key, at, end, STRING, '"')
            at = end + 2
            if type(value) is str:
                end = at + len(encode_basestring(value))
                found.append((node, yaml.new_scalar(value, at, end, STRING, '"')))
            else:
                other, end = self._other(value, at, depth)
                found.append((node, other))
            at = end + 2
        at = at - 1 if found else start + 2  # no comma after the last
        return yaml.new_mapping(found, start, at), at

    def _sequence(self, things: list[Any], start: int, depth: int) -> tuple[Node, int]:
        self._count(len(things), depth)
        found: list[Node] = []
        at = start + 1
        for value in things:
            if type(value) is str:
                end = at + len(encode_basestring(value))
                found.append(yaml.new_scalar(value, at, end, STRING, '"'))
            else:
                other, end = self._other(value, at, depth)
                found.append(other)
            at = end + 2
        at = at - 1 if found else start + 2
        return yaml.new_sequence(found, start, at), at

    def _other(self, value: Any, at: int, depth: int) -> tuple[Node, int]:
        """Return a node that is not a text."""
        kind = type(value)
        if kind is dict:
            return self.mapping(value, at, depth + 1)
        if kind is list:
            return self._sequence(value, at, depth + 1)
        if value is None or kind is bool:
            written = _WORDS[value]
        elif kind is int:
            written = str(value)
        else:
            raise _OtherwiseError  # YAML reads only some of the floats of JSON
        return yaml.new_scalar(written, at, at + len(written), PLAIN), at + len(written)

    def _count(self, nodes: int, depth: int) -> None:
        self.left -= 2 * nodes
        if self.left < 0 or depth > _DEPTH_AT_MOST:
            raise _OtherwiseError
