"""Engine settings that an operator passes on, as the options that they are: `max_model_len: 4096`."""

from __future__ import annotations

import json
import re

import yaml

from servelint.core.launch import Word
from servelint.core.source import Source
from servelint.core.text import Text, unknown
from servelint.syntax import yaml as yaml_nodes
from servelint.syntax.yaml import Entries, Node

_NODES_AT_MOST = 2_000
_DEPTH = 16
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_TAG = "tag:yaml.org,2002:"


def of_mapping(source: Source, fields: Entries) -> list[Word]:
    """The options that a mapping of settings gives; null leaves the engine's default."""
    return [word for name, (key, value) in fields.items() for word in of_setting(source, name, key, value)]


def of_setting(source: Source, name: str, key: Node, value: Node) -> list[Word]:
    site = yaml_nodes.span(source, key)
    option = name.replace("_", "-")
    switch = _switch(value)
    if switch is not None:
        return [Word(Text.of(("--" if switch else "--no-") + option), yaml_nodes.span(source, value))]
    if yaml_nodes.is_null(value):
        return []
    items = yaml_nodes.items(value)
    values = [value] if items is None else items
    return [Word(Text.of("--" + option), site), *[_value(source, one) for one in values]]


def _switch(value: Node) -> bool | None:
    plain = yaml_nodes.scalar(value) if value.tag == _TAG + "bool" else None
    return None if plain is None else plain.lower() in ("true", "yes", "on")


def _value(source: Source, node: Node) -> Word:
    site = yaml_nodes.span(source, node)
    if isinstance(node, yaml.ScalarNode):
        return Word(yaml_nodes.text(source, node), site)
    text = _Json(source).text(node)
    return Word(text if text is not None else Text((unknown(site.text, site),)), site)


class _Json:
    """Writes nodes as JSON whose values keep their places. Aliases may repeat nodes without end: they are counted."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.left = _NODES_AT_MOST

    def text(self, node: Node, depth: int = 0) -> Text | None:
        """None for more than a person writes."""
        self.left -= 1
        if self.left < 0 or depth > _DEPTH:
            return None
        parts: list[Text] = []
        if isinstance(node, yaml.MappingNode):
            for key, value in yaml_nodes.entries(node).values():
                inner = self.text(value, depth + 1)
                if inner is None:
                    return None
                parts += [Text.of(", " if parts else "{"), self.quoted(key), Text.of(": "), inner]
            return Text.join([*parts, Text.of("}" if parts else "{}")])
        if isinstance(node, yaml.SequenceNode):
            for item in node.value:
                inner = self.text(item, depth + 1)
                if inner is None:
                    return None
                parts += [Text.of(", " if parts else "["), inner]
            return Text.join([*parts, Text.of("]" if parts else "[]")])
        return self.scalar(node)

    def scalar(self, node: Node) -> Text:
        text = yaml_nodes.text(self.source, node)
        switch = _switch(node)
        if switch is not None:
            plain = "true" if switch else "false"
        elif yaml_nodes.is_null(node):
            plain = "null"
        elif node.tag in (_TAG + "int", _TAG + "float"):
            plain = text.flat if _NUMBER.fullmatch(text.flat) else _number(node)
        else:
            return self.quoted(node)
        return text if text.flat == plain else Text.of(plain)

    def quoted(self, node: Node) -> Text:
        text = yaml_nodes.text(self.source, node)
        quoted = json.dumps(text.flat, ensure_ascii=False)
        if quoted[1:-1] != text.flat:
            return Text.of(quoted)
        return Text.join((Text.of('"'), text, Text.of('"')))


def _number(node: Node) -> str:
    """A number that YAML writes as JSON does not: `.5`, `0x10`, `1_000`."""
    try:
        return json.dumps(yaml.constructor.SafeConstructor().construct_document(node))
    except (yaml.YAMLError, ValueError):
        return json.dumps(yaml_nodes.scalar(node))
