"""Removing and adding words of a command in whatever writes it: a shell, a list, an array, a string.

Between two neighbouring words stands what the format wants there: a blank, a backslash and a line end, a comma, a dash. A word
is removed with what stands in front of it, and a new word comes with a copy of that.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from servelint.core.finding import Edit
from servelint.core.launch import Launch, Word
from servelint.core.source import Source, Span

_GAP = r"(?:[\s\\^`,>\"'+-]|\\[nt])*"
_NOTED = r"(?:[\s\\^`,>\"'+-]|\\[nt]|#[^\n]*\n)*"
_LEAD = r"[ \t]*(?:>[ \t]*)*(?:-[ \t]+)?"
_TAIL = r"[ \t]*(?P<on>\\|\^|`|,)?[ \t]*(?:#[^\n]*)?"
_NOTE = r"\s*#"
_DEFAULT = r"\$\{\w+:?-$"
_QUOTES = ('\\"', '"', "'")
_PLAIN = r"(?a)[\w./:=@%+-]+"
_TYPED = r"(?i)[-+]?[\d.]+(?:e[-+]?\d+)?|true|false|yes|no|on|off|null|none|y|n|~|-+"


class Command:
    """The words of a launch with the places where they stand in its file."""

    __slots__ = ("launch", "sites", "words")

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.words = [*launch.verb, *launch.argv]
        self.sites = Counter(word.site for word in launch.argv)

    def place(self, word: Word) -> Span | None:
        """The characters that make a word, quotes included; where it comes out of a variable, those that are written there."""
        span = word.text.span()
        site = word.site
        if span is None or site is None:
            return site if site is not None and self.sites[site] == 1 else None
        if span.source is site.source and site.start <= span.start and span.end <= site.end:
            return _item(site) if self.sites[site] == 1 or word not in self.launch.argv else _written(span)
        return site if self.sites[site] == 1 and "[" not in site.text else _written(span)

    def around(self, first: Word, last: Word) -> tuple[list[Span], list[Span]]:
        """Where the words before one and after another stand: as they are written, and where their variable is used."""
        start, end = self._index(first), self._index(last)
        before = self.words[start - 1] if start > 0 else None
        after = self.words[end + 1] if 0 <= end < len(self.words) - 1 else None
        return self._places(before), self._places(after)

    def _index(self, word: Word) -> int:
        return next(index for index, one in enumerate(self.words) if one is word)

    def _places(self, word: Word | None) -> list[Span]:
        if word is None:
            return []
        return [place for place in (self.place(word), word.site) if place is not None]

    def holds(self, word: Word) -> bool:
        """Whether a word is one of the launch's argv."""
        return any(one is word for one in self.launch.argv)


def is_mapped(word: Word) -> bool:
    """Whether an option's word comes from a key (`max_model_len: 4096`), so that the file does not hold it."""
    return any(piece.span is None for piece in word.text.pieces if piece.expression is None)


def removal(command: Command, words: list[Word]) -> Edit | None:
    """The edit that removes neighbouring words; None where it would remove or break something else."""
    places = [command.place(word) for word in words]
    spans = [place for place in places if place is not None]
    source = command.launch.source
    if not spans or len(spans) < len(words) or any(span.source is not source for span in spans):
        return None
    inner = [_between(one, other) for one, other in pairwise(spans)]
    if any(gap is None for gap in inner):
        return None
    first, last = spans[0], spans[-1]
    if (whole := _lines(source, first, last)) is not None:
        return Edit(whole, "")
    if any(gap is None or re.fullmatch(_GAP, gap) is None for gap in inner):
        return None
    before, after = command.around(words[0], words[-1])
    for place in before:
        gap = _between(place, first)
        if gap and re.fullmatch(_GAP, gap):
            return Edit(Span(source, place.end, last.end), "")
    for place in after:
        gap = _between(last, place)
        if gap and re.fullmatch(_GAP, gap):
            return Edit(Span(source, first.start, place.start), "")
    text = source.text
    if text[: first.start].rstrip()[-1:] in "([\"'" and text[last.end :].lstrip()[:1] in ")]\"'":
        return Edit(Span(source, first.start, last.end), "")
    return None


def addition(command: Command, anchor: list[Word], texts: list[str]) -> tuple[Edit, bool] | None:
    """The edit that writes words beside an option and its values, and whether they come before it; None without one."""
    found = _style(command, anchor)
    if found is None:
        return None
    first, last, outer, inner, quote = found
    line = _line(texts, inner, quote, first)
    if line is None:
        return None
    source = command.launch.source
    if re.match(_NOTE, _rest(source, last.end)):  # a comment belongs to what stands before it
        return Edit(Span(source, first.start, first.start), line + outer), True
    return Edit(Span(source, last.end, last.end), outer + line), False


def ahead(command: Command, first: Word, place: Span) -> Edit | None:
    """The edit that writes what stands elsewhere in a command before its first word."""
    found = _style(command, [first])
    if found is None or place.source is not command.launch.source:
        return None
    start, _, outer, _, _ = found
    return Edit(Span(place.source, start.start, start.start), place.text + outer)


def exchange(command: Command, words: list[Word], texts: list[str]) -> Edit | None:
    """The edit that writes other words for an option and its values."""
    found = _style(command, words)
    if found is None:
        return None
    first, last, _, inner, quote = found
    line = _line(texts, inner, quote, first)
    return Edit(Span(command.launch.source, first.start, last.end), line) if line is not None else None


def _line(texts: list[str], between: str, quote: str, place: Span) -> str | None:
    """Words as they are written one after the other; None if one of them needs more care."""
    written = [as_written(text, quote, place) for text in texts]
    known = [text for text in written if text is not None]
    return between.join(known) if len(known) == len(written) else None


def _style(command: Command, anchor: list[Word]) -> tuple[Span, Span, str, str, str] | None:
    """First and last place of an option, what stands before it, what stands between it and its value, and its quote."""
    places = [command.place(word) for word in anchor]
    spans = [place for place in places if place is not None]
    source = command.launch.source
    if not spans or len(spans) < len(anchor) or any(span.source is not source for span in spans) or is_mapped(anchor[0]):
        return None
    first, last = spans[0], spans[-1]
    before, after = command.around(anchor[0], anchor[-1])
    gaps = [*[_between(place, first) for place in before], *[_between(last, place) for place in after]]
    outer = next((gap for gap in gaps if gap and re.fullmatch(_GAP, gap)), None)
    listed = _listed(source, first)
    if outer is None:
        outer = _item_start(source, first) if listed else " "
    quote = next((quote for quote in _QUOTES if first.text.startswith(quote) and first.text.endswith(quote)), "")
    inner = _between(first, spans[1]) if len(spans) > 1 else outer if listed else " "
    if inner is None or re.fullmatch(_GAP, inner) is None:
        return None
    return first, last, outer, inner, quote


def _listed(source: Source, place: Span) -> bool:
    """Whether a word is an item of a list in YAML or JSON: a number must be quoted there."""
    before = source.text[: place.start].rstrip(" \t\r\n\\")[-1:]
    return before in ("[", ",") or _dash(source, place)


def _item_start(source: Source, place: Span) -> str:
    """What stands before the only item of a list, as it would before another one."""
    if not _dash(source, place):
        return ", "
    start = source.line_starts[source.position(place.start)[0] - 1]
    end = "\r\n" if source.text[:start].endswith("\r\n") else "\n"
    return end + source.text[start : place.start]


def _dash(source: Source, place: Span) -> bool:
    lead = source.text[source.line_starts[source.position(place.start)[0] - 1] : place.start]
    return re.fullmatch(r"[ \t]*(?:-[ \t]+)+", lead) is not None


def as_written(text: str, quote: str, place: Span) -> str | None:
    """A word in the quotes of its neighbours; None for a word that needs more care."""
    if re.fullmatch(_PLAIN, text) is None:
        return None
    if not quote and re.fullmatch(_TYPED, text) and _listed(place.source, place):
        quote = '"'
    return quote + text + quote


def _between(one: Span, other: Span) -> str | None:
    """What stands between two places; None if they are not in this order, or if it is more than layout and comments."""
    if one.source is not other.source or one.end > other.start:
        return None
    gap = one.source.text[one.end : other.start]
    return gap if len(gap) < 2000 and re.fullmatch(_NOTED, gap) else None


def _quoted(span: Span) -> Span:
    """A span with the quotes around it."""
    text = span.source.text
    for quote in _QUOTES:
        start = span.start - len(quote)
        if start >= 0 and text.startswith(quote, start) and text.startswith(quote, span.end):
            return Span(span.source, start, span.end + len(quote))
    return span


def _written(span: Span) -> Span:
    """The characters of a word that a variable or an array holds."""
    whole = _item(span)
    return whole if whole is not span else _quoted(span)


def _item(site: Span) -> Span:
    """A word; where it is the default of a variable that makes the whole item of a list, that item."""
    text = site.source.text
    head = re.compile(_DEFAULT).search(text, max(0, site.start - 80), site.start)
    if head is None or not text.startswith("}", site.end):
        return site
    whole = _quoted(Span(site.source, head.start(), site.end + 1))
    return whole if _listed(site.source, whole) else site


def _rest(source: Source, offset: int) -> str:
    end = source.text.find("\n", offset)
    return source.text[offset : end if end != -1 else len(source.text)]


def _lines(source: Source, first: Span, last: Span) -> Span | None:
    """The whole lines of some words, if nothing else stands there and the lines before and after go together without them."""
    start, end = source.position(first.start)[0], source.position(max(last.end - 1, last.start))[0]
    lead = source.text[source.line_starts[start - 1] : first.start]
    tail = re.fullmatch(_TAIL, source.line_text(end)[last.end - source.line_starts[end - 1] :])
    if re.fullmatch(_LEAD, lead) is None or tail is None or end == len(source.line_starts):
        return None
    if tail["on"] is None and _goes_on(source, start - 1):
        return None
    if tail["on"] is not None and not _goes_on(source, start - 1) and tail["on"] != "," and "-" not in lead:
        before = _line_before(source, start - 1)
        if not before.rstrip().endswith(("(", "[", "{", "=", "|", ">", "|-", ">-")):
            return None  # the first line of a command
    return Span(source, source.line_starts[start - 1], source.line_starts[end])


def _line_before(source: Source, line: int) -> str:
    """The nearest line upwards that is neither blank nor a comment."""
    while line >= 1:
        text = source.line_text(line)
        if text.strip() and not text.lstrip(" \t>").startswith("#"):
            return text
        line -= 1
    return ""


def _goes_on(source: Source, line: int) -> bool:
    text = re.sub(r"\s+#.*$", "", _line_before(source, line)).rstrip()
    return text.endswith(("\\", "^", "`", ","))
