"""The outline of a text: its launches, and the options and variables of each."""

from __future__ import annotations

from servelint.core.launch import Launch, Word
from servelint.core.secrets import without
from servelint.core.source import Source, Span
from servelint.filters.masking import secrets_of
from servelint.lsp import cursor
from servelint.lsp.analysis import Analysis
from servelint.lsp.facts import briefly

_SHOWN_AT_MOST = 60


class Symbol:
    """name, detail: what an outline shows;  kind: "launch", "option" or "variable"
    span: all of it;  selection: the part of that which names it
    """

    __slots__ = ("children", "detail", "kind", "name", "selection", "span")

    def __init__(self, name: str, detail: str, kind: str, span: Span, selection: Span) -> None:
        self.name = name
        self.detail = detail
        self.kind = kind
        self.span = span
        self.selection = selection
        self.children: list[Symbol] = []

    def __repr__(self) -> str:
        return f"Symbol({self.kind} {self.name} {self.detail!r})"


def symbols(analysis: Analysis) -> list[Symbol]:
    """The launches that stand in a text, in its order."""
    found: list[Symbol] = []
    for launch in analysis.launches:
        site = launch.site
        if site.source is not analysis.source or site.start >= site.end:
            continue
        one = Symbol(title(launch), briefly(launch, analysis.settings), "launch", site, first_line(site))
        one.children = sorted(_children(launch, analysis.source), key=lambda child: child.span.start)
        found.append(one)
    return sorted(found, key=lambda one: one.span.start)


def title(launch: Launch) -> str:
    """What a launch is called: where it stands in its file, else the words that start it."""
    if launch.name:
        return launch.name
    words = [word.shown for word in launch.verb]
    if words:
        words[0] = words[0].rpartition("/")[2]
    model = next((word for word in launch.argv[:1] if not word.text.flat.startswith("-") and not word.many), None)
    return " ".join([*words, *([model.shown] if model is not None else [])]) or launch.engine


def first_line(span: Span) -> Span:
    """The first line of a span, without white space at its end."""
    text = span.text.partition("\n")[0].rstrip()
    return Span(span.source, span.start, span.start + len(text)) if text else span


def _children(launch: Launch, source: Source) -> list[Symbol]:
    """The options that stand within the launch's own characters, values that are secrets shortened."""
    hidden = secrets_of([launch])
    found: list[Symbol] = []
    for setting in cursor.config_of(launch, None).reading.arguments.every:
        name = _place(setting.word, launch, source)
        if name is None:
            continue
        places = [place for word in setting.words if (place := _place(word, launch, source)) is not None]
        span = Span(source, min(place.start for place in places), max(place.end for place in places))
        shown = " ".join([word.shown for word in setting.values]) if setting.values else ""
        if setting.value is not None and setting.value_word is setting.word:
            shown = setting.value.shown
        shown = without(" ".join(shown.split()), hidden)
        detail = shown if len(shown) <= _SHOWN_AT_MOST else shown[: _SHOWN_AT_MOST - 1] + "\u2026"
        found.append(Symbol(setting.spelling, detail, "option", span, name))
    return found


def _place(word: Word, launch: Launch, source: Source) -> Span | None:
    site = word.site
    inside = site is not None and site.source is source and launch.site.start <= site.start and site.end <= launch.site.end
    return site if inside else None
