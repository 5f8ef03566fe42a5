"""Complaints about the words themselves: what a shell makes of a command is not always what was meant."""

from __future__ import annotations

import re

from servelint.core.source import Span
from servelint.engines import ENGINE_NAMES
from servelint.engines.config import Config
from servelint.fixes.change import Change, written_at
from servelint.judge.parser.complaint import Complaint

_QUOTES = ("'", '"')
_PLAIN = re.compile(r"[\w./:=@%+-]+", re.ASCII)


def complaints(config: Config) -> list[Complaint]:
    """The same for every release."""
    return [*_cut(config), *_quotes(config)]


def _cut(config: Config) -> list[Complaint]:
    cut = config.launch.cut
    if cut is None:
        return []
    name = ENGINE_NAMES[config.launch.engine]
    first = cut.text.split(None, 1)[0]
    message = f"the command ends before {first}: this and what follows never reaches {name}"
    advice = "let every line but the last end with the continuation character, and no comment or blank line follow it"
    return [
        Complaint(
            "command-cut-short",
            cut,
            message,
            advice,
            "not part of the command",
            change=_joined(config, cut),
            title="end the line before with a backslash",
        )
    ]


def _joined(config: Config, cut: Span) -> Change | None:
    """The line before with a backslash at its end, if nothing but the line end is between."""
    words = [word for word in (*config.launch.verb, *config.launch.argv) if word.text.flat.strip() or word.many]
    last = words[-1].site if words else None
    source = cut.source
    if last is None or last.source is not source or last.end > cut.start or source.path.endswith((".bat", ".cmd", ".ps1")):
        return None
    gap = source.text[last.end : cut.start]
    line = re.fullmatch(r"([ \t]*(?:\\[ \t]+)?)\r?\n[ \t]*", gap)
    return Change(goes_on=Span(source, last.end, last.end + len(line[1]))) if line is not None else None


def _quotes(config: Config) -> list[Complaint]:
    """Quotes that stand in a variable's value: the shell removes only those that stand in the command itself."""
    arguments = config.reading.arguments
    values = [(setting.spelling, setting.value, setting.option) for setting in arguments.every]
    found: list[Complaint] = []
    for spelling, text, option in values:
        if text is None or (option is not None and (option.json or "json" in option.types)):
            continue
        flat = text.flat
        if flat[:1] not in _QUOTES or len(flat) < 2 or (flat[-1:] != flat[:1] and " " in flat):
            continue
        span = text.span()
        if span is None or not text.known:
            continue
        message = f"the value of {spelling} is {flat}: the quotes are part of it, since no shell removes them here"
        advice = "write the value without these quotes"
        change = written_at(text.written, flat[1:-1]) if _PLAIN.fullmatch(flat[1:-1]) else None
        found.append(Complaint("literal-quotes", span, message, advice, "quotes and all", change=change))
    return found
