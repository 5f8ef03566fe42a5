"""YAML texts from data, and data from them."""

from __future__ import annotations

import io
from typing import Any

from ruamel.yaml import YAML

from servelint.core.source import Source
from servelint.syntax import yaml, yaml_values


def load_all(text: str) -> list[Any]:
    """The documents of a text as data, by YAML 1.2."""
    documents, problem = yaml.documents(Source("text.yaml", text))
    assert problem is None, problem
    return [yaml_values.data(document) for document in documents]


def load(text: str) -> Any:
    (data,) = load_all(text) or [None]
    return data


def dump(data: object, *, style: str | None = None, indent: int = 2, width: int = 80, flow: bool = False) -> str:
    """A text that holds some data."""
    writer: Any = YAML(typ="safe")
    writer.default_style, writer.default_flow_style = style, flow
    writer.indent, writer.width = indent, width
    written = io.StringIO()
    writer.dump(data, written)
    return written.getvalue()
