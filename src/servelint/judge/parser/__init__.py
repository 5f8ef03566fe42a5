"""What an engine's own parser makes of a launch, by the catalog of its release.

Each violation belongs to a rule of rules/catalog/, which has its severity and impact; messages and places are made here.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from servelint.core.source import Span
from servelint.engines.config import Config
from servelint.judge.parser import arguments, environment, values
from servelint.judge.parser.view import ReleaseView, similar
from servelint.judge.parser.violation import Violation

_known: WeakKeyDictionary[Config, list[Violation]] = WeakKeyDictionary()
"""A config's violations are needed several times: for its start, its findings, and what a later release refuses."""

__all__ = ["Violation", "note_misspelt", "refuses", "violations"]


def violations(config: Config) -> list[Violation]:
    """The violations of a launch under one release.

    For a release that the catalog does not have, they are those that the releases before and after it share; none at the ends
    of the catalog.
    """
    found = _known.get(config)
    if found is None:
        found = _known[config] = _found(config)
    return found


def refuses(config: Config) -> bool:
    """Whether a release keeps a launch from starting, as far as violations show; cheaper than the violations themselves.

    What is in no known release may be in the next one, so it is not a reason against any of them.
    """
    if config.around is None and config.index is not None and any(fault.fatal for fault in config.reading.arguments.faults):
        return True
    return any(violation.refused and not violation.new for violation in violations(config))


def note_misspelt(config: Config) -> None:
    """Take the options that misspelt ones stand for as perhaps set, so that no rule concludes anything from their absence."""
    for fault in config.reading.arguments.faults:
        if fault.kind == "unknown-option" and config.catalog is not None and config.index is not None:
            table = config.catalog.table(config.index)
            close = similar(fault.spelling, table.lines)
            option = table.find(close) if close is not None else None
            if option is not None:
                config.reading.arguments.possible.add(option.name)


def _found(config: Config) -> list[Violation]:
    if config.around is not None:
        before, after = config.around
        later = {(one.rule, one.span) for one in violations(after)}
        return [one for one in violations(before) if (one.rule, one.span) in later]
    found = arguments.word_violations(config)
    if config.catalog is not None and config.index is not None:
        view = ReleaseView(config, config.catalog, config.index)
        # words that a stray backslash has made are none that anyone wrote
        for part in (environment,) if arguments.escaped_blanks(config) else (arguments, values, environment):
            found += part.violations(view)
    braces = arguments.expanded_braces(config)
    # what is said of the words that the braces became is not worth a finding of its own
    return [one for one in found if not any(one.span is not None and _within(one.span, each.span) for each in braces)] + braces


def _within(one: Span, other: Span | None) -> bool:
    return other is not None and one.source is other.source and other.start <= one.start and one.end <= other.end
