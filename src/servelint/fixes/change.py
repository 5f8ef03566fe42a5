"""What a fix changes, before anybody looks at where it stands."""

from __future__ import annotations

from servelint.core.launch import Variable, Word
from servelint.core.source import Span
from servelint.engines.argv import Setting


class Change:
    """replace: spans and what is to stand there;  drop: options that go, each with its value;  words: single words that go
    instead: words, and those to be written for them;  goes_on: where a line is to go on with the next one
    key: a key of a JSON option that goes;  option: one that is added, and its value
    unset: a variable that goes;  rename: a variable and its new name
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
    """A change of the characters at a span, None where they do not stand anywhere."""
    return Change(replace=[(span, text)]) if span is not None else None


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
