"""Where a variable is set."""

from __future__ import annotations

from servelint.core.launch import Variable
from servelint.core.source import Span


def name_span(variable: Variable) -> Span | None:
    """The characters of a variable's name where it is set, else all that sets it."""
    site = site_of(variable)
    if site is None:
        return None
    start = site.source.line_starts[site.line - 1]
    at = site.source.text[start : site.end].rfind(variable.name)
    return Span(site.source, start + at, start + at + len(variable.name)) if at != -1 else site


def site_of(variable: Variable) -> Span | None:
    """Where a variable is set: its name, or the value where only that is known."""
    if variable.site is not None:
        return variable.site
    return variable.value.span() if variable.value is not None else None
