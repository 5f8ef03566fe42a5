"""The values that a chart's templates, and values that are templates themselves, refer to: `{{ .Values.image.tag }}`."""

from __future__ import annotations

import re
from collections.abc import Callable

from servelint.core.source import Source
from servelint.core.text import Text
from servelint.files.siblings import Neighbours
from servelint.syntax import yaml
from servelint.syntax.yaml import Node

_REFERENCE = re.compile(
    r"\{\{-?\s*\$?\.Values((?:\.\w+)+)\s*"
    r"(?:\|\s*default\s+(\"[^\"]*\"|[^\s|}]+)\s*)?"
    r"(?:\|\s*(?:quote|squote|toString|int|int64|float64|trim)\s*)*-?\}\}"
)
_LITERAL = re.compile(r"\"[^\"]*\"|-?[\d.]+|true|false")


def lookup(source: Source, root: Node) -> Callable[[str], Text | None]:
    """The value of an action that only names a value, and may give a default for it; None for any other action."""
    busy: set[str] = set()

    def find(action: str) -> Text | None:
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
        return Text.of(default.strip('"')) if (default := match.group(2)) and _LITERAL.fullmatch(default) else None

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
