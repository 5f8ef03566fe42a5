"""What an engine upgrade changes for a launch: the findings of one release against those of another, and changed defaults."""

from __future__ import annotations

from copy import copy

from servelint.core.finding import Finding
from servelint.core.launch import Launch, ReleaseClaim
from servelint.core.settings import Settings
from servelint.engines import catalog as catalogs
from servelint.engines.config import configs, facts_of
from servelint.engines.registry import ENGINES
from servelint.filters.masking import mask
from servelint.judge.judging import judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Changed:
    """An option that the launch leaves alone and whose default the target changes; since: the release that did."""

    __slots__ = ("after", "before", "name", "since")

    def __init__(self, name: str, before: Any, after: Any, since: str) -> None:
        self.name = name
        self.before = before
        self.after = after
        self.since = since


class Upgrade:
    """A launch on its way from one release to another.

    breaks:  errors that only the target has;  warns: what else only the target has
    mended:  findings that only the present release has;  stays: findings of both
    """

    __slots__ = ("breaks", "defaults", "launch", "mended", "source", "stays", "target", "warns")

    def __init__(self, launch: Launch, source: str, target: str) -> None:
        self.launch = launch
        self.source = source
        self.target = target
        self.breaks: list[Finding] = []
        self.warns: list[Finding] = []
        self.mended: list[Finding] = []
        self.stays: list[Finding] = []
        self.defaults: list[Changed] = []


def upgrade(launch: Launch, source: str, target: str, settings: Settings) -> Upgrade:
    """Compare a launch under two releases of its engine."""
    result = compared(launch, source, judged(launch, source, settings), target, settings)
    result.defaults = [*_facts(launch, source, target), *_defaults(launch, source, target)]
    return result


def judged(launch: Launch, release: str, settings: Settings) -> list[Finding]:
    """What is found of a launch under a release, as far as it is about the release."""
    return [finding for finding in judge(_under(launch, release), settings) if _of_a_release(finding.rule)]


def compared(launch: Launch, source: str, before: list[Finding], target: str, settings: Settings) -> Upgrade:
    """What a release finds that another one does not, without the defaults. before: what the source finds (`judged`)"""
    result = Upgrade(launch, source, target)
    after = judged(launch, target, settings)
    count = len(before)
    masked = mask([launch], [*before, *after])
    before, after = masked[:count], masked[count:]
    known = {(finding.rule, finding.span) for finding in before}
    for finding in after:
        if (finding.rule, finding.span) in known:
            result.stays.append(finding)
        elif finding.severity == "error":
            result.breaks.append(finding)
        else:
            result.warns.append(finding)
    left = {(finding.rule, finding.span) for finding in after}
    result.mended = [finding for finding in before if (finding.rule, finding.span) not in left]
    return result


def _of_a_release(rule: str) -> bool:
    """Whether a rule is about the release: not about what surrounds it, and not one that looks ahead as an upgrade does."""
    return not rule.startswith("container/") and not rule.endswith("/removed-later")


def _under(launch: Launch, release: str) -> Launch:
    """The launch with another release."""
    moved = copy(launch)
    moved.release = ReleaseClaim(release, "settings")
    return moved


def _facts(launch: Launch, source: str, target: str) -> list[Changed]:
    """What the engine makes of the same settings, where that is known for both and differs: prefix caching, scheduling."""
    catalog = catalogs.load(launch.engine)
    if catalog is None or (low := catalog.index(source)) is None or (high := catalog.index(target)) is None or low >= high:
        return []
    between = configs(launch, catalog.releases[low : high + 1])
    found: list[Changed] = []
    for name in facts_of(launch.engine):
        if name.startswith("speculative"):
            continue  # whether a method is known is a finding, no default
        values = [config.operand("effective." + name).value for config in between]
        if isinstance(values[0], bool) and isinstance(values[-1], bool) and values[0] != values[-1]:
            since = next(index for index in range(len(values)) if all(value == values[-1] for value in values[index:]))
            found.append(Changed(name, values[0], values[-1], catalog.releases[low + since]))
    return found


def _defaults(launch: Launch, source: str, target: str) -> list[Changed]:
    """Options of both releases that the launch does not set and whose literal defaults differ."""
    catalog = catalogs.load(launch.engine)
    if catalog is None:
        return []
    low, high = catalog.index(source), catalog.index(target)
    if low is None or high is None:
        return []
    given = {
        name.partition(".")[0] for config in configs(launch, [source, target]) for name in config.reading.arguments.settings
    }
    found: list[Changed] = []
    for option in catalog.table(low).options():
        other = catalog.table(high).find(option.names[0])
        if other is None or other.name != option.name or option.default == other.default:
            continue
        if option.default is None or other.default is None:
            continue
        if option.name not in given and option.name != ENGINES[launch.engine].dialect.positional:
            found.append(
                Changed(option.names[0], option.default, other.default, _since(launch.engine, option.names[0], low, high))
            )
    return found


def _since(engine: str, spelling: str, low: int, high: int) -> str:
    """The first release between two in which an option has the default that it has in the later one."""
    catalog = catalogs.load(engine)
    if catalog is None:
        return ""
    wanted = catalog.table(high).find(spelling)
    step = 1 if high >= low else -1
    since = high
    for index in range(high, low, -step):
        option = catalog.table(index).find(spelling)
        if option is None or wanted is None or option.default != wanted.default:
            break
        since = index
    return catalog.releases[since]
