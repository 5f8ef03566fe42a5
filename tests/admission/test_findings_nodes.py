"""Objects as nodes: what is built of an object is what libyaml reads in its JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.admission.findings import nodes_of
from servelint.core import bounds
from servelint.core.source import Source
from servelint.syntax import yaml
from tests.admission.reviews import BROKEN, deployment

TEXT = st.text(st.characters(min_codepoint=1, max_codepoint=0x7E) | st.sampled_from('"\\/\n\t\b\x1f<~&!*é😀{%}'), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def written(node: yaml.Node) -> Any:
    """All that readers see of a node."""
    place = (type(node), yaml.tag(node), yaml.start(node), yaml.end(node))
    if yaml.is_mapping(node):
        return (*place, bool(node.flow_style), [(written(key), written(value)) for key, value in node.value])
    if yaml.is_sequence(node):
        return (*place, bool(node.flow_style), [written(item) for item in node.value])
    assert yaml.is_scalar(node)
    return (*place, node.style or None, node.value)


def read(text: str) -> yaml.Node:
    (document,), problem = yaml.documents(Source("object.json", text))
    assert problem is None
    return document


@given(st.dictionaries(TEXT, VALUES, max_size=5))
def test_the_nodes_are_those_of_the_text(thing: dict[str, Any]) -> None:
    text = json.dumps(thing, ensure_ascii=False)
    built = nodes_of(thing, text)
    if "{{" in text or "{%" in text:
        assert built is None
    else:
        assert built is not None
        assert written(built) == written(read(text))


def test_an_object_of_a_cluster() -> None:
    thing = deployment(BROKEN, env=[{"name": "A", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}], ports=[])
    text = json.dumps(thing)
    built = nodes_of(thing, text)
    assert built is not None
    assert written(built) == written(read(text))


def deep(levels: int) -> dict[str, Any]:
    thing: dict[str, Any] = {}
    for _ in range(levels):
        thing = {"a": thing}
    return thing


@pytest.mark.parametrize(
    "thing",
    [
        {"a": 1.5},
        {"a": 1e16},
        {"a": [float("nan")]},
        {"a" * 1001: 1},
        {"a": "{{ .Values.a }}"},
        {"a": ["{% if b %}"]},
        deep(200),
        {"a": [0] * bounds.YAML_NODES.most},
    ],
    ids=["point", "exponent", "no-number", "key", "template", "jinja", "depth", "nodes"],
)
def test_what_is_left_to_libyaml(thing: dict[str, Any]) -> None:
    assert nodes_of(thing, json.dumps(thing)) is None


def test_a_text_of_another_object_is_not_taken() -> None:
    assert nodes_of({"a": "b"}, '{"a": "bc"}') is None
