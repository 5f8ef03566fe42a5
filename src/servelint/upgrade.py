"""What an upgrade of the engine changes for a launch: findings of one release against another's, and changed defaults."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field

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

    from servelint.memory.plan import MemoryPlan


@dataclass(frozen=True, slots=True)
class ChangedDefault:
    """An option that the launch does not set and whose default the target changes.

    Attributes:
        name: the option.
        before: its default before.
        after: its default in the target.
        since: the release that changed it.
    """

    name: str
    before: Any
    after: Any
    since: str


@dataclass(eq=False, slots=True)
class Upgrade:
    """The change of a launch from one release to another.

    Attributes:
        launch: the launch.
        source: the present release.
        target: the release to upgrade to.
        breaks: errors that only the target has.
        warns: other findings that only the target has.
        mended: findings that only the present release has.
        stays: findings of both.
        defaults: changed defaults.
        plans: the memory plan under either release, with the verdict that `servelint memory` gives; None without arithmetic.
    """

    launch: Launch
    source: str
    target: str
    breaks: list[Finding] = field(default_factory=list)
    warns: list[Finding] = field(default_factory=list)
    mended: list[Finding] = field(default_factory=list)
    stays: list[Finding] = field(default_factory=list)
    defaults: list[ChangedDefault] = field(default_factory=list)
    plans: tuple[MemoryPlan, MemoryPlan] | None = None


def upgrade(launch: Launch, source: str, target: str, settings: Settings) -> Upgrade:
    """Compare a launch under two releases of its engine, the present one (source) and the one to upgrade to (target)."""
    result = compared(launch, source, judged(launch, source, settings), target, settings)
    result.defaults = [*_facts(launch, source, target), *_defaults(launch, source, target)]
    if ENGINES[launch.engine].plans_memory and not launch.fragment:
        from servelint.judge.start import start_plan

        before, after = [start_plan(_under(launch, one), settings)[0] for one in (source, target)]
        result.plans = before, after
    return result


def judged(launch: Launch, release: str, settings: Settings) -> list[Finding]:
    """The findings of a launch under a release that depend on the release."""
    return [finding for finding in judge(_under(launch, release), settings) if _of_a_release(finding.rule)]


def compared(launch: Launch, source: str, before: list[Finding], target: str, settings: Settings) -> Upgrade:
    """Compare the findings of two releases, without changed defaults. `before` is what the present release finds (`judged`)."""
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
    """Whether a rule depends on the release: not one about the container, and not one that itself looks ahead."""
    return not rule.startswith("container/") and not rule.endswith("/removed-later")


def _under(launch: Launch, release: str) -> Launch:
    moved = copy(launch)
    # another tag of the image, or another version to install, brings what belongs to that release beside it
    kept = launch.release.how in ("image", "pip") and launch.release.release is not None
    moved.release = ReleaseClaim(release, launch.release.how if kept else "settings")
    moved.others = [_under(one, release) for one in launch.others]
    return moved


def _facts(launch: Launch, source: str, target: str) -> list[ChangedDefault]:
    """What the engine makes of the same settings (prefix caching, scheduling), where both releases are known and differ."""
    catalog = catalogs.load(launch.engine)
    if catalog is None or (low := catalog.index(source)) is None or (high := catalog.index(target)) is None or low >= high:
        return []
    between = configs(launch, catalog.releases[low : high + 1])
    found: list[ChangedDefault] = []
    for name in facts_of(launch.engine):
        if name.startswith("speculative"):
            continue  # whether a method is known is a finding, no default
        values = [config.operand("effective." + name).value for config in between]
        if isinstance(values[0], bool) and isinstance(values[-1], bool) and values[0] != values[-1]:
            since = next(index for index in range(len(values)) if all(value == values[-1] for value in values[index:]))
            found.append(ChangedDefault(name, values[0], values[-1], catalog.releases[low + since]))
    return found


def _defaults(launch: Launch, source: str, target: str) -> list[ChangedDefault]:
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
    found: list[ChangedDefault] = []
    for option in catalog.table(low).options():
        other = catalog.table(high).find(option.names[0])
        if other is None or other.name != option.name or option.default == other.default:
            continue
        if option.default is None or other.default is None:
            continue
        if option.name not in given and option.name != ENGINES[launch.engine].dialect.positional:
            found.append(
                ChangedDefault(
                    option.names[0], option.default, other.default, _since(launch.engine, option.names[0], low, high)
                )
            )
    return found


def _since(engine: str, spelling: str, low: int, high: int) -> str:
    """The first release between two in which an option has the default of the later one."""
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
