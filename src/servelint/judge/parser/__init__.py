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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.judge.parser.view import Shared

_known: WeakKeyDictionary[Config, _Found] = WeakKeyDictionary()
"""A config's violations are needed several times: for its start, its findings, and what a later release refuses."""

_alike: WeakKeyDictionary[Config, _Found] = WeakKeyDictionary()
"""The same, where messages may name another release."""

__all__ = ["Violation", "note_misspelt", "refuse", "verdicts", "violations"]


class _Found:
    """The violations of a launch under one release.

    Attributes:
        first, last: positions in the catalog of the releases that have the same violations, if they read the arguments alike.
    """

    __slots__ = ("first", "last", "violations")

    def __init__(self, violations: list[Violation], first: int, last: int) -> None:
        self.violations = violations
        self.first = first
        self.last = last


def violations(config: Config) -> list[Violation]:
    """The violations of a launch under one release.

    For a release that the catalog does not have, they are those that the releases before and after it share; none at the ends
    of the catalog.
    """
    found = _known.get(config)
    if found is None:
        found = _known[config] = _found(config)
    return found.violations


def verdicts(configs: list[Config]) -> list[list[Violation]]:
    """The violations of a launch under each of some releases, oldest first; alike for releases that nothing tells apart.

    Only the rules and the places of violations are those of each release: a message may name a later one.
    """
    alike: dict[int, list[_Found]] = {}
    parts: dict[int, Shared] = {}
    return [_verdict(config, alike, parts) for config in reversed(configs)][::-1]


def _verdict(config: Config, alike: dict[int, list[_Found]], parts: dict[int, Shared]) -> list[Violation]:
    index = config.index
    if index is None or config.around is not None:
        return violations(config)
    known = alike.setdefault(id(config.reading), [])
    found = next((one for one in known if one.first <= index <= one.last), None)
    if found is None:
        found = _alike.get(config) or _known.get(config) or _found(config, parts.setdefault(id(config.reading.first), {}))
        known.append(found)
    if config not in _alike:
        _alike[config] = found
        if not found.violations:
            _known[config] = found
    return found.violations


def refuse(configs: list[Config]) -> list[bool]:
    """Whether each of some releases keeps a launch from starting, as far as violations show; cheaper than the violations.

    What is in no known release may be in the next one, so it is not a reason against any of them.
    """
    fatal = {id(one): any(fault.fatal for fault in one.arguments.faults) for one in {config.reading for config in configs}}
    cheap = [config.around is None and config.index is not None and fatal[id(config.reading)] for config in configs]
    others = iter(verdicts([config for config, refused in zip(configs, cheap, strict=True) if not refused]))
    return [refused or any(one.refused and not one.new for one in next(others)) for refused in cheap]


def note_misspelt(config: Config) -> None:
    """Take the options that misspelt ones stand for as perhaps set, so that no rule concludes anything from their absence."""
    for fault in config.reading.arguments.faults:
        if fault.kind == "unknown-option" and config.catalog is not None and config.index is not None:
            table = config.catalog.table(config.index)
            close = similar(fault.spelling, table.spellings())
            option = table.find(close) if close is not None else None
            if option is not None:
                config.reading.arguments.possible.add(option.name)


_OF_OBJECTS = frozenset(
    ("unknown-option", "removed-option", "option-not-yet", "option-of-other-engine", "unknown-json-key", "invalid-json-value")
)
"""What a class refuses that makes an engine of its keyword arguments: names. No parser converts their values."""


def _found(config: Config, shared: Shared | None = None) -> _Found:
    if config.around is not None:
        before, after = config.around
        shared_by = [{(one.rule, one.span) for one in violations(one)} for one in (after, *_of_next_candidate(after))]
        return _Found([one for one in violations(before) if all((one.rule, one.span) in more for more in shared_by)], 0, 0)
    if config.made:
        if config.catalog is None or config.index is None:
            return _Found([], 0, 0)
        view = ReleaseView(config, config.catalog, config.index, shared)
        named = [*arguments.violations(view), *values.violations(view)]
        kept = [one for one in named if one.rule in _OF_OBJECTS and config.launch.likely]
        return _Found(kept + environment.violations(view), view.first, view.last)
    found = arguments.word_violations(config)
    first, last = 0, 0
    if config.catalog is not None and config.index is not None:
        view = ReleaseView(config, config.catalog, config.index, shared)
        # words that a stray backslash has made are none that anyone wrote
        for part in (environment,) if arguments.escaped_blanks(config) else (arguments, values, environment):
            found += part.violations(view)
        first, last = view.first, view.last
    braces = arguments.expanded_braces(config)
    # what is said of the words that the braces became is not worth a finding of its own
    kept = [one for one in found if not any(one.span is not None and _within(one.span, each.span) for each in braces)]
    return _Found(kept + braces, first, last)


def _within(one: Span, other: Span | None) -> bool:
    return other is not None and one.source is other.source and other.start <= one.start and one.end <= other.end


def _of_next_candidate(after: Config) -> list[Config]:
    """A launch under the candidate that follows a release: the candidates of that release may be nearer to it.

    TensorRT-LLM cuts a release's branch before its last candidates, which are of the main branch, as the next candidates are.
    """
    catalog, index = after.catalog, after.index
    if catalog is None or index is None or "rc" in catalog.releases[index]:
        return []
    return [after.under(one) for one in catalog.releases[index + 1 : index + 2] if "rc" in one]
