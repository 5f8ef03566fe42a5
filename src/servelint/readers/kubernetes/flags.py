"""Engine settings that an operator passes on, as the options that they are: `max_model_len: 4096`."""

from __future__ import annotations

import json
import re

from servelint.core.launch import Word
from servelint.core.source import Source
from servelint.core.text import Text, unknown
from servelint.syntax import yaml, yaml_values
from servelint.syntax.yaml import Entries, Node
from servelint.syntax.yaml_values import KUBERNETES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.yaml import ScalarNode

_NODES_AT_MOST = 2_000
_DEPTH = 16
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")


def of_mapping(source: Source, fields: Entries) -> list[Word]:
    """The options that a mapping of settings gives; null leaves the engine's default."""
    return [word for name, (key, value) in fields.items() for word in of_setting(source, name, key, value)]


def of_setting(source: Source, name: str, key: Node, value: Node) -> list[Word]:
    site = yaml.span(source, key)
    option = name.replace("_", "-")
    switch = yaml_values.truth(value, KUBERNETES)
    if switch is not None:
        return [Word(Text.of(("--" if switch else "--no-") + option), yaml.span(source, value))]
    if yaml.is_null(value):
        return []
    items = yaml.items(value)
    values = [value] if items is None else items
    return [Word(Text.of("--" + option), site), *[_value(source, one) for one in values]]


def _value(source: Source, node: Node) -> Word:
    site = yaml.span(source, node)
    if yaml.is_scalar(node):
        return Word(yaml.text(source, node), site)
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
        if yaml.is_mapping(node):
            for key, value in yaml.entries(node).values():
                inner = self.text(value, depth + 1)
                if inner is None:
                    return None
                parts += [Text.of(", " if parts else "{"), self.quoted(key), Text.of(": "), inner]
            return Text.join([*parts, Text.of("}" if parts else "{}")])
        if yaml.is_sequence(node):
            for item in node.value:
                inner = self.text(item, depth + 1)
                if inner is None:
                    return None
                parts += [Text.of(", " if parts else "["), inner]
            return Text.join([*parts, Text.of("]" if parts else "[]")])
        return self.scalar(node) if yaml.is_scalar(node) else None

    def scalar(self, node: ScalarNode) -> Text:
        text = yaml.text(self.source, node)
        try:
            value = yaml_values.value(node, KUBERNETES)
        except ValueError:
            value = text.flat
        if isinstance(value, str):
            return self.quoted(node)
        number = isinstance(value, (int, float)) and _NUMBER.fullmatch(text.flat) is not None
        plain = text.flat if number else json.dumps(value, default=str)
        return text if text.flat == plain else Text.of(plain)

    def quoted(self, node: Node) -> Text:
        text = yaml.text(self.source, node)
        quoted = json.dumps(text.flat, ensure_ascii=False)
        if quoted[1:-1] != text.flat:
            return Text.of(quoted)
        return Text.join((Text.of('"'), text, Text.of('"')))
