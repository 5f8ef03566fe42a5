"""Comments to servelint in a file that it reads: for which lines each of them speaks."""

from __future__ import annotations

from servelint.source import Source

SIGN = "servelint:"
"""What every one of them has."""


def lines_of(source: Source, start: int) -> tuple[int, ...]:
    """The lines for which a comment speaks that starts at an offset: its own, and the next one if it stands alone."""
    line = source.position(start)[0]
    alone = not source.line_text(line)[: start - source.line_starts[line - 1]].strip()
    return (line, line + 1) if alone else (line,)
