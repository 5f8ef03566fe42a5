"""What an engine's own parser would say of a launch, by the catalog of its release.

Each complaint belongs to a rule of rules/catalog/, which has its severity and impact; here are the words and the places.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from servelint.engines.config import Config
from servelint.judge.parser import arguments, env_values, environment, objects, values, words
from servelint.judge.parser.complaint import Complaint
from servelint.judge.parser.wording import Here

_known: WeakKeyDictionary[Config, list[Complaint]] = WeakKeyDictionary()
"""A config is asked several times: whether it starts, what is refused, what a later release would refuse."""

__all__ = ["Complaint", "complaints", "refuses"]


def complaints(config: Config) -> list[Complaint]:
    """What the release of a config has to say of the launch.

    Of a release that the catalog does not have: what those before and after it both say, nothing at the catalog's ends.
    """
    found = _known.get(config)
    if found is None:
        found = _known[config] = _found(config)
    return found


def refuses(config: Config) -> bool:
    """Whether the release of a config ends the start, as far as complaints say; cheaper than the complaints themselves.

    What no release has may be of the next one, and tells nothing of these.
    """
    if config.around is None and config.index is not None and any(fault.fatal for fault in config.reading.arguments.faults):
        return True
    return any(complaint.refused and not complaint.new for complaint in complaints(config))


def _found(config: Config) -> list[Complaint]:
    if config.around is not None:
        before, after = config.around
        later = {(one.rule, one.span) for one in complaints(after)}
        return [one for one in complaints(before) if (one.rule, one.span) in later]
    if config.catalog is None or config.index is None:
        return words.complaints(config)
    here = Here(config, config.catalog, config.index)
    return [
        *words.complaints(config),
        *arguments.complaints(here),
        *values.complaints(here),
        *objects.complaints(here),
        *environment.complaints(here),
        *env_values.complaints(here),
    ]
