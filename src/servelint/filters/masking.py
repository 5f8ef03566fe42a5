"""Masking: which words of a launch are secrets, and findings without them."""

from __future__ import annotations

from copy import copy

from servelint.core.finding import Finding, Fix, Related
from servelint.core.launch import Launch, Word
from servelint.core.secrets import (
    Part,
    Redactions,
    is_distinct,
    is_filled_in,
    is_plain,
    is_secret_name,
    looks,
    mask_of,
    masked_value,
    may_look,
    merged,
    without,
)
from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.judge.container import variables

_MORE = ("hf-token",)
_SHORTEST = 6
"""A shorter secret is masked in its own place only: elsewhere it could be part of another word."""
_JOINS = frozenset("\"'\\\r\n\t ")
"""Characters between two pieces of one value: quotes, and the end of a continued line."""


def mask(launches: list[Launch], findings: list[Finding]) -> list[Finding]:
    """Return findings without the secrets of launches, and redact the sources that these findings show."""
    texts = _all_secrets(launches)
    if not texts:
        return findings
    values = _values(texts)
    places: dict[Source, list[Part]] = {}
    for text in texts:
        for source, parts in _places(text).items():
            places.setdefault(source, []).extend(parts)
    shown = {span.source for finding in findings for span in (finding.span, *[one.span for one in finding.related])}
    for source in {**places, **dict.fromkeys(shown)}:
        old = source.redactions
        found = merged([*old.places, *places.get(source, [])])
        source.redactions = Redactions(values if source in shown else old.values, tuple(found))
    return [_masked(finding, values) for finding in findings]


def _masked(finding: Finding, values: tuple[str, ...]) -> Finding:
    new = copy(finding)
    new.message, new.advice, new.label = (without(text, values) for text in (finding.message, finding.advice, finding.label))
    new.related = [Related(one.span, without(one.message, values)) for one in finding.related]
    if (fix := finding.fix) is not None:
        new.fix = Fix(without(fix.title, values), fix.safe, fix.edits, note=fix.note, effect=fix.effect)
    return new


def secrets_of(launches: list[Launch]) -> tuple[str, ...]:
    """Return the secrets of launches, the longest first."""
    return _values(_all_secrets(launches))


def _all_secrets(launches: list[Launch]) -> list[TracedText]:
    return [text for launch in launches for one in launch.every for text in _secrets(one)]


def words(argv: list[Word]) -> list[str]:
    """Return words of a launch for a listing, without expansions that add none in a plain run (`"$@"`)."""
    found: list[str] = []
    before = ""
    for word in argv:
        shown = word.shown
        if shown or not word.many:
            name, sign, value = shown.partition("=")
            if _is_option(before) and not shown.startswith("--"):
                shown = _named(before, word.text, shown)
            elif sign and _is_option(name):
                shown = f"{name}={_named(name, word.text.cut(len(name) + 1), value)}"
            found.append(masked_value("", shown))
        before = word.text.flat
    return found


def _named(name: str, text: TracedText, shown: str) -> str:
    return mask_of(shown) if _holds(name, text) else shown


def _holds(name: str, text: TracedText) -> bool:
    """Whether the value of a name that is a secret's is one. `name`: "" for a text that looks like one."""
    value = text.value
    return bool(value) and value is not None and not is_filled_in(value) and not (name and is_plain(name, value))


def _values(texts: list[TracedText]) -> tuple[str, ...]:
    known = {text.value for text in texts if text.value is not None}
    values = [value for value in known if len(value) >= _SHORTEST and is_distinct(value)]
    return tuple(sorted(values, key=lambda value: (-len(value), value)))


def _places(text: TracedText) -> dict[Source, list[Part]]:
    """Return where the pieces of a secret are written, with the quotes between them."""
    found: dict[Source, list[Part]] = {}
    for piece in text.pieces:
        for span in (piece.span, piece.origin):
            if span is None or piece.expression is not None or span.text.startswith(("$", "{{", "%")):
                continue  # a variable is used here; its value is written elsewhere
            parts = found.setdefault(span.source, [])
            between = span.source.text[parts[-1][1] : span.start] if parts else "-"
            if len(between) <= 64 and _JOINS.issuperset(between):
                parts[-1] = (parts[-1][0], max(parts[-1][1], span.end))
            else:
                parts.append((span.start, span.end))
    return found


def _secrets(launch: Launch) -> list[TracedText]:
    """Return the values of a launch that are secrets by the name of their option or variable, or by their form."""
    values = [variable.value for variable in launch.env.values()]
    texts = [word.text.flat for word in launch.argv] + [value.flat for value in values if value is not None]
    any_look = may_look("\n".join(texts))
    found: list[tuple[str, TracedText]] = [*launch.secrets]
    before = ""
    for word in launch.argv:
        flat = word.text.flat
        name, sign, _ = flat.partition("=")
        if _is_option(before) and not flat.startswith("--"):
            found.append((before, word.text))
        elif sign and _is_option(name):
            found.append((name, word.text.cut(len(name) + 1)))
        elif any_look:
            found += [("", word.text.cut(start, end)) for start, end in looks(flat)]
        before = flat
    for name, variable in launch.env.items():
        value = variable.value
        if value is not None and is_secret_name(name):
            found.append((name, value))
        elif value is not None and any_look:
            found += [("", value.cut(start, end)) for start, end in looks(value.flat)]
    return [text for name, text in found if _holds(name, text)]


def _is_option(word: str) -> bool:
    if not word.startswith("--"):
        return False
    name = word[2:].replace("_", "-")
    return name in variables.OPTIONS or name in _MORE or is_secret_name(name)
