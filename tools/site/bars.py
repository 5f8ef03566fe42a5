"""Bars of releases, and names that several pages use."""

from __future__ import annotations

import functools
import html
import re

from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines.catalog import load
from servelint.engines.releases import known_releases


@functools.cache
def releases_of(engine: str) -> list[str]:
    """The releases of an engine, oldest first; empty if they are not known."""
    if engine not in ENGINES:
        return []
    catalog = load(engine)
    return catalog.releases if catalog is not None else known_releases(engine)


def engine_name(engine: str) -> str:
    """The name of an engine as a text has it."""
    return ENGINE_NAMES.get(engine, "any engine")


def slug(name: str) -> str:
    """A name as the last part of an address."""
    return re.sub(r"[^A-Za-z0-9_.-]", "-", name.lstrip("-"))


_APART = 0.12
"""Share of a bar's width that two marks below it must lie apart."""


def bar(engine: str, runs: list[tuple[int, int, str, str]]) -> str:
    """A bar of all releases of an engine, with runs marked.

    Args:
        engine: its id.
        runs: first position, last position, CSS class and text of each run, oldest first; they do not overlap.
    """
    releases = releases_of(engine)
    parts: list[str] = []
    at = 0
    for first, last, kind, text in [*runs, (len(releases), len(releases), "", "")]:
        if first > at:
            parts.append(
                f'<span class="off" style="flex:{first - at}" title="{releases[at]} to {releases[first - 1]}: absent"></span>'
            )
        if first < len(releases):
            where = releases[first] if first == last else f"{releases[first]} to {releases[last]}"
            parts.append(
                f'<span class="{kind}" style="flex:{last - first + 1}" title="{html.escape(f"{where}: {text}")}"></span>'
            )
        at = last + 1
    marks = [(0.0, releases[0])]
    for place in sorted({position for first, last, _, _ in runs for position in (first, last + 1)}):
        share = place / len(releases)
        if share - marks[-1][0] > _APART and share < 1 - _APART:
            marks.append((share, releases[place]))
    ends = "".join(f'<span style="left:{share:.1%}" data-text="{release}"></span>' for share, release in marks)
    ends = f'<span class="ends">{ends}<span data-text="{releases[-1]}"></span></span>'
    label = "; ".join(
        [releases[first] if first == last else f"{releases[first]} to {releases[last]}" for first, last, _, _ in runs]
    )
    said = html.escape(f"of {releases[0]} to {releases[-1]}: {label}")
    return f'<div class="bar" role="img" aria-label="{said}"><div>{"".join(parts)}</div>{ends}</div>'
