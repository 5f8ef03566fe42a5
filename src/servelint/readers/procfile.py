"""Procfiles: a line a process, `name: command`, run by a shell with the variables of the `.env` beside it."""

from __future__ import annotations

import re

from servelint.core.launch import Launch
from servelint.core.source import Source, Span
from servelint.core.text import Text
from servelint.files.siblings import Neighbours
from servelint.readers.commands import script_launches
from servelint.readers.context import CommandContext, env_file, named
from servelint.readers.registry import Format

FORMAT = Format(
    "procfile", 200, title="Procfile", about="processes with the `.env` beside it", files=("Procfile", "Procfile.*")
)

_PROCESS = re.compile(r"([A-Za-z0-9_-]+):[ \t]*")
_CONTINUED = re.compile(r"[ \t]*\\$")


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    """Read the launches of the processes."""
    env = env_file(neighbours)(".env") or {}
    found: list[Launch] = []
    for line, start in enumerate(source.line_starts, start=1):
        flat = source.line_text(line)
        process = _PROCESS.match(flat)
        if process is None or process.end() == len(flat):
            continue
        # a line ends with its line: what a backslash continues in a shell script is not read here
        continued = _CONTINUED.search(flat)
        end = continued.start() if continued is not None else len(flat)
        command = Text.at(source, start + process.end(), start + max(end, process.end()))
        context = CommandContext(source, process.group(1), env=env, env_file=env_file(neighbours), files=neighbours.read)
        started = named(script_launches(command, context, None))
        cut = _lost(source, line)
        for launch in started:
            launch.cut = launch.cut or cut
        found += started
    return found


def _lost(source: Source, line: int) -> Span | None:
    """The lines after a line, if they start with an option."""
    starts = source.line_starts
    after = line + 1
    while after <= len(starts) and source.line_text(after).lstrip().startswith("-"):
        after += 1
    if after == line + 1:
        return None
    first, last = source.line_text(line + 1), source.line_text(after - 1)
    return Span(source, starts[line] + len(first) - len(first.lstrip()), starts[after - 2] + len(last.rstrip()))
