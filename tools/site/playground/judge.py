"""What the playground's worker runs: servelint, with the browser's tree-sitter in the place of the compiled one."""

from __future__ import annotations

import json
import sys
import types

import tree_sitter_js  # the worker registers it


class Node:
    """A node of a tree, with what servelint asks of tree-sitter's."""

    __slots__ = ("_fields", "children", "end_byte", "has_error", "is_named", "start_byte", "text", "type")

    def __init__(self, kind: str, start: int, end: int, flags: int, text: bytes) -> None:
        self.type, self.start_byte, self.end_byte, self.text = kind, start, end, text
        self.is_named, self.has_error = bool(flags & 1), bool(flags & 2)
        self.children: list[Node] = []
        self._fields: dict[str, list[Node]] = {}

    def children_by_field_name(self, name: str) -> list[Node]:
        return self._fields.get(name, [])


class Parser:
    """Parses bash by the worker's parser, which gives the nodes in the order of the text."""

    def __init__(self, _language: object) -> None:
        pass

    def parse(self, data: bytes) -> types.SimpleNamespace:
        kinds, rows = json.loads(tree_sitter_js.parse(data.decode("ascii")))
        nodes: list[Node] = []
        for kind, start, end, flags, parent, field in rows:
            node = Node(kinds[kind], start, end, flags, data[start:end])
            if parent >= 0:
                nodes[parent].children.append(node)
                if field:
                    nodes[parent]._fields.setdefault(field, []).append(node)
            nodes.append(node)
        return types.SimpleNamespace(root_node=nodes[0])


sys.modules["tree_sitter"] = types.SimpleNamespace(Parser=Parser, Language=lambda pointer: pointer, Node=Node)  # type: ignore[assignment]
sys.modules["tree_sitter_bash"] = types.SimpleNamespace(language=lambda: None)  # type: ignore[assignment]

from servelint import hardware, upgrade  # noqa: E402
from servelint.core.settings import Settings  # noqa: E402
from servelint.core.source import Source  # noqa: E402
from servelint.engines import ENGINE_NAMES, ENGINES  # noqa: E402
from servelint.engines.catalog import load  # noqa: E402
from servelint.files.siblings import Neighbours  # noqa: E402
from servelint.lint import check_launches  # noqa: E402
from servelint.lsp.analysis import Analysis, analyse  # noqa: E402
from servelint.lsp.hover import hover as hover_of  # noqa: E402
from servelint.report.memory import Plans, plan_text  # noqa: E402

_LAST: list[Analysis] = []


def choices() -> str:
    """The engines with their releases, newest first, and the GPUs."""
    catalogs = {name: load(name) for name in ENGINES}
    engines = {name: found.releases[::-1] for name, found in catalogs.items() if found is not None}
    return json.dumps({"engines": engines, "gpus": hardware.names()})


def check(name: str, text: str, asked: str) -> str:
    """Judge a text; what was asked is JSON: engine, version, profile, gpu, gpu_count."""
    options = json.loads(asked)
    settings = Settings(
        profile=options.get("profile") or "default", gpu=options.get("gpu") or None, gpu_count=options.get("gpu_count") or None
    )
    engine, version = options.get("engine"), options.get("version")
    analysis = analyse(Source(name, text), settings, Neighbours(None))
    if engine and version:
        analysis.findings = check_launches(
            analysis.source,
            analysis.launches,
            settings,
            lambda launch, own: upgrade.judged(launch, version, own) if launch.engine == engine else [],
        )
    _LAST[:] = [analysis]
    return json.dumps(
        {
            "findings": [_finding(one) for one in analysis.findings if one.span.source is analysis.source],
            "problems": [{"line": one.line, "column": one.column, "message": one.message} for one in analysis.problems],
            "launches": [_launch(one) for one in analysis.launches],
            "memory": _memory(analysis, settings),
        }
    )


def _finding(one) -> dict[str, object]:  # type: ignore[no-untyped-def]
    fix = one.fix
    edits = [{"from": edit.span.start, "to": edit.span.end, "text": edit.text} for edit in fix.edits] if fix is not None else []
    return {
        "rule": one.rule,
        "severity": one.severity,
        "message": one.message,
        "advice": one.advice,
        "from": one.span.start,
        "to": one.span.end,
        "line": one.span.line,
        "fix": {"title": fix.title, "safe": fix.safe, "edits": edits} if fix is not None else None,
        "evidence": list(one.evidence),
    }


def _launch(one) -> dict[str, object]:  # type: ignore[no-untyped-def]
    words = [word.shown for word in one.argv]
    return {
        "name": ENGINE_NAMES[one.engine],
        "engine": one.engine,
        "version": one.release.release,
        "line": one.line,
        "argv": words,
    }


def _memory(analysis: Analysis, settings: Settings) -> list[str]:
    plan = Plans(settings)
    return [plan_text(found) for launch in analysis.launches if (found := plan(launch)) is not None]


def hover(offset: int) -> str:
    """What is known of what stands at an offset of the text that was judged last, as Markdown."""
    found = hover_of(_LAST[0], offset) if _LAST else None
    return json.dumps(None if found is None else {"markdown": found.markdown, "from": found.span.start, "to": found.span.end})
