"""Large texts are checked by a process of their own: it can be stopped, and the server answers meanwhile."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

from lsprotocol import types

from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.lsp import diagnostics
from servelint.lsp.options import Options
from servelint.lsp.positions import Positions
from servelint.readers import discover, mentions_engine
from servelint.report.clean import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LARGE = 1 << 17
"""Characters (128 Ki). To read a text of this length takes half a second."""
_PROGRAM = "import sys; sys.path[:1] == [''] and sys.path.pop(0); from servelint.cli import main; sys.exit(main())"
"""As `python -m servelint`, which would take modules from the current folder first: that is the editor's, and anybody's."""


def too_large(source: Source) -> list[Problem] | None:
    """What there is to say of a text that no check reads; None for one that a check reads."""
    size = len(source.text.encode("utf-8", "replace"))
    if size <= discover.bound(source.path).most:
        return None
    if source.path.lower().endswith(".json") or not mentions_engine(source.text.encode("utf-8", "replace")):
        return []
    return [discover.too_large(source.path, size)]


async def check(source: Source, options: Options, positions: Positions, uri: str) -> list[types.Diagnostic]:
    """What `servelint check` says of a text, with the files beside it as they are on the disk."""
    if not mentions_engine(source.text.encode("utf-8", "replace")):
        return []
    words = ["check", "-", f"--stdin-filename={source.path}", "--format=json", *options.words()]
    # not asyncio's own: up to Python 3.12.3 it never ends if it is given up before its pipes are connected
    process = subprocess.Popen(  # noqa: S603 - this very program
        [sys.executable, "-c", _PROGRAM, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=options.layer.folder,
    )
    try:
        out, _ = await asyncio.to_thread(process.communicate, source.text.encode("utf-8", "replace"))
    finally:
        if process.poll() is None:  # nobody waits for it any more
            process.kill()
    try:
        report = json.loads(out)
    except ValueError:
        return []
    problems = [Problem(one["path"], one["message"], one["line"], one["column"]) for one in report["errors"]]
    told = [diagnostics.of_problem(one, source, positions) for one in problems]
    return told + [_finding(one, source, positions, uri) for one in report["findings"]]


def _finding(data: dict[str, Any], source: Source, positions: Positions, uri: str) -> types.Diagnostic:
    related = [one for one in data["related"] if one["path"] == source.path]
    place = next((one for one in (data, *related) if one["path"] == source.path), None)
    start, end = (_offset(source, place["start"]), _offset(source, place["end"])) if place is not None else (0, 0)
    return types.Diagnostic(
        range=positions.range(source, start, end),
        message=clean(data["message"]),
        severity=diagnostics.SEVERITIES[data["severity"]],
        code=data["rule"],
        code_description=diagnostics.description(data["rule"], ()),
        source=diagnostics.NAME,
        tags=diagnostics.tags(data["rule"], data["impact"]),
        related_information=[
            types.DiagnosticRelatedInformation(
                types.Location(
                    uri,
                    positions.range(source, _offset(source, one["start"]), _offset(source, one["end"])),
                ),
                clean(one["message"]),
            )
            for one in related
            if one is not place
        ],
    )


def _offset(source: Source, place: dict[str, int]) -> int:
    return min(source.line_starts[place["line"] - 1] + place["column"] - 1, len(source.text))
