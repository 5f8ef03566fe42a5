"""What a fix changes, independent of how the file writes it, and where a variable is set."""

from __future__ import annotations

from servelint.core.launch import Variable, Word
from servelint.core.source import Span
from servelint.engines.argv import Setting


class Change:
    """What a fix changes.

    Attributes:
        replace: Spans, each with its new text.
        drop: Options that go with their values.
        words: Words that go.
        instead: Words, and the words to write instead of them.
        goes_on: A line end where the command must continue.
        key: A key of a JSON option that goes.
        option: An option to add, and its value.
        unset: A variable that goes.
        rename: A variable and its new name.
    """

    __slots__ = ("drop", "goes_on", "instead", "key", "option", "rename", "replace", "unset", "words")

    def __init__(
        self,
        *,
        replace: list[tuple[Span, str]] | None = None,
        drop: list[Setting] | None = None,
        words: list[Word] | None = None,
        instead: tuple[list[Word], list[str]] | None = None,
        goes_on: Span | None = None,
        key: str = "",
        option: tuple[str, str] | None = None,
        unset: str = "",
        rename: tuple[str, str] | None = None,
    ) -> None:
        self.replace = replace or []
        self.drop = drop or []
        self.words = words or []
        self.instead = instead
        self.goes_on = goes_on
        self.key = key
        self.option = option
        self.unset = unset
        self.rename = rename


def written_at(span: Span | None, text: str) -> Change | None:
    """A change of the characters at a span; None without a span."""
    return Change(replace=[(span, text)]) if span is not None else None


def name_span(variable: Variable) -> Span | None:
    """The characters of a variable's name where it is set, or else of the whole setting."""
    site = site_of(variable)
    if site is None:
        return None
    start = site.source.line_starts[site.line - 1]
    at = site.source.text[start : site.end].rfind(variable.name)
    return Span(site.source, start + at, start + at + len(variable.name)) if at != -1 else site


def site_of(variable: Variable) -> Span | None:
    """Where a variable is set: its name, or its value where only that is known."""
    if variable.site is not None:
        return variable.site
    return variable.value.span() if variable.value is not None else None
