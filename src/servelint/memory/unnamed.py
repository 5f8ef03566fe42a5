"""The plan of a launch whose release nobody names: an interval over the releases that can start it.

The middle of it is what the newest of them makes of the launch: what is installed today is that. It fits where all fit, and is
refused where all refuse; where they differ nobody can tell, and a note says which releases do what.
"""

from __future__ import annotations

from importlib import import_module

from servelint.core.launch import Launch
from servelint.engines import entry
from servelint.engines.config import Config, configs
from servelint.engines.releases import known_releases, newest, release_key, sort_key
from servelint.judge.parser import refuses
from servelint.memory import plan_of
from servelint.memory.plan import OOM_RISK, REFUSED, TIGHT, UNKNOWN, Interval, MemoryPlan, Part

_ALIKE = 0.03
"""Share by which figures of two releases may differ and still be told as one."""


def under_releases(launch: Launch, given: str | None) -> tuple[list[Config], str | None]:
    """A launch under each release to plan for, the newest last, and what to say of them where nobody names one.

    given: the release that counts where the launch names none
    """
    claim = launch.release.release
    named = claim if claim is not None and release_key(claim) is not None else given
    if named is not None:
        return configs(launch, [named]), None
    latest = newest(launch.engine)
    if launch.release.rolling and latest is not None:
        return configs(launch, [latest]), f"the image's tag moves: planned as {latest}, the newest that is known"
    found = possible(launch)
    return found, note(found, "no release is named")


def possible(launch: Launch) -> list[Config]:
    """A launch under the newest release of each that counts alike (`CHANGES` of its engine) and may start it, oldest first.

    A release may start it that knows the model's architecture and the verb, and whose parser takes the arguments. Where no
    parser takes them, that tells nothing of the release; where none knows the model either, it is the newest of all.
    """
    known = known_releases(launch.engine)
    if not known:
        return configs(launch, [])
    changes: tuple[str, ...] = import_module("servelint.memory." + launch.engine).CHANGES
    bounds = sorted(sort_key(one) for one in changes)
    alike: dict[int, list[str]] = {}
    for release in known:
        key = sort_key(release)
        if key >= bounds[0]:
            alike.setdefault(sum(key >= bound for bound in bounds), []).append(release)
    latest = configs(launch, [several[-1] for several in alike.values()])
    found: list[Config] = []
    for config, several in zip(latest, alike.values(), strict=True):
        one = config if _starts(config) else _first_that_starts(launch, several[-2::-1])
        if one is not None:
            found.append(one)
    return found or [config for config in latest if _able(config)] or latest[-1:]


def _first_that_starts(launch: Launch, releases: list[str]) -> Config | None:
    return next((config for config in configs(launch, releases) if _starts(config)), None) if releases else None


def _starts(config: Config) -> bool:
    """Whether a release may start a launch."""
    return _able(config) and not refuses(config)


def _able(config: Config) -> bool:
    """Whether a release has the verb and knows the model, whatever its parser says of the arguments."""
    verb = config.at_least(entry.since(config.launch.engine, config.launch.verb))
    return verb is not False and _knows_model(config)


def _knows_model(config: Config) -> bool:
    since = config.since
    return since is None or config.at_least(since) is not False


def plan_over(found: list[Config]) -> MemoryPlan:
    """The plan of a launch over several releases; of one it is that release's.

    found: the launch under each of them, oldest first; at least one
    """
    plans = [plan_of(config) for config in found]
    latest = plans[-1]
    told = [plan for plan in plans if plan.verdict != UNKNOWN]
    if latest.verdict == UNKNOWN or len(told) < 2:
        return latest
    latest.releases = [plan.release for plan in told if plan.release is not None]
    verdicts = {plan.verdict for plan in told}
    runs = _runs(told)
    _widen(latest, told)
    if len(runs) > 1:
        latest.notes.append("by release: " + "; ".join([_said(run, len(verdicts) > 1) for run in runs]))
    if len(verdicts) > 1:
        latest.verdict = OOM_RISK if verdicts <= {REFUSED, OOM_RISK} else TIGHT
        latest.refusal = None
    return latest


def note(found: list[Config], why: str) -> str:
    """What a reader should know of the releases that a plan is for. why: "no release is named" """
    first, last = found[0].release, found[-1].release
    if first == last:
        return f"{why}: planned as {last}, the newest that can start it"
    return f"{why}: planned for {first} to {last}, which can start it; single figures are those of {last}"


def _widen(plan: MemoryPlan, told: list[MemoryPlan]) -> None:
    """The size of the KV cache under any of the releases."""
    sizes = [plan.kv_gib for plan in told if plan.kv_gib is not None]
    if plan.kv_gib is None:
        return
    plan.kv_gib = Interval(min(one.low for one in sizes), plan.kv_gib.mid, max(one.high for one in sizes))
    for index, part in enumerate(plan.parts):
        if part.name == "kv cache":
            plan.parts[index] = Part(part.name, plan.kv_gib.map(lambda gib: max(gib, 0.0)), part.origin)


def _runs(told: list[MemoryPlan]) -> list[list[MemoryPlan]]:
    """Neighbours that say the same, the oldest first."""
    runs: list[list[MemoryPlan]] = []
    for plan in told:
        if runs and runs[-1][0].verdict == plan.verdict and all(map(_near, _figures(runs[-1][0]), _figures(plan))):
            runs[-1].append(plan)
        else:
            runs.append([plan])
    return runs


def _figures(plan: MemoryPlan) -> tuple[float | None, float | None]:
    """GiB and what they hold: in vLLM requests, for what it prints as tokens changed its meaning with 0.20.1."""
    return plan.kv_gib.mid if plan.kv_gib is not None else None, plan.max_concurrency or plan.kv_tokens


def _near(one: float | None, other: float | None) -> bool:
    return one == other or (one is not None and other is not None and abs(one - other) <= _ALIKE * max(abs(one), abs(other)))


def _said(run: list[MemoryPlan], differ: bool) -> str:
    first, plan = run[0].release, run[-1]
    words = [f"{first} to {plan.release}" if first != plan.release else str(plan.release)]
    if differ:
        words.append(plan.verdict)
    gib = plan.kv_gib
    if gib is not None:
        words.append(f"{gib.mid:.1f} GiB of KV cache")
    if plan.max_concurrency is not None:
        words.append(f"{plan.max_concurrency:.2f} requests at once")
    elif plan.kv_tokens is not None:
        words.append(f"{plan.kv_tokens:,} tokens")
    return ", ".join(words)
