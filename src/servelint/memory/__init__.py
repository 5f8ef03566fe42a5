"""GPU memory of a launch: what weights, caches and graphs take, and whether the engine starts.

Each engine with known arithmetic is a package of its own with a function `plan(config)`. It is imported with the first plan, as
is servelint.memory.plan: reports ask for `PLANNED` where no GPU is named.
"""

from __future__ import annotations

from importlib import import_module

from servelint.engines.registry import ENGINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.core.launch import Launch
    from servelint.engines.config import Config
    from servelint.memory.plan import MemoryPlan

PLANNED = tuple(engine.id for engine in ENGINES.values() if engine.plans_memory)
"""Engines whose arithmetic is known."""
_ALIKE = 0.03
"""Share by which the figures of two releases may differ and still count as equal."""


def is_planned(launch: Launch) -> bool:
    """Whether a launch has a plan: its engine's arithmetic is known, and it says what runs."""
    return launch.engine in PLANNED and (not launch.fragment or launch.name in ENGINES[launch.engine].planned_fragments)


def plan_of(config: Config) -> MemoryPlan:
    """Plan the memory of a launch under one release.

    The launch or its container names the GPU and how many there are. Without a GPU the plan has the weights and the size of
    the KV cache per request, and the verdict "unknown". Raises ValueError if the arithmetic of the engine is not known.
    """
    engine = config.launch.engine
    if engine not in PLANNED:
        raise ValueError(f"no memory plan for {engine!r}; use one of {', '.join(PLANNED)}")
    found: MemoryPlan = _module(engine).plan(config)
    return found


def changes_of(engine: str) -> tuple[str, ...]:
    """The releases of an engine that changed its memory arithmetic, oldest first."""
    changes: tuple[str, ...] = _module(engine).CHANGES
    return changes


def computed_defaults(config: Config) -> dict[str, str | float | bool]:
    """Option -> default, for the options of `Engine.computed_defaults` that a launch does not give. There is at least one."""
    found: dict[str, str | float | bool] = _module(config.launch.engine).computed_defaults(config)
    return found


def _module(engine: str) -> Any:
    return import_module("servelint.memory." + ENGINES[engine].package)


def plan_over(configs: list[Config]) -> MemoryPlan:
    """Plan the memory of a launch whose release is not pinned.

    The size of the KV cache becomes an interval over the releases. All single figures are those of the newest. The launch fits
    where it fits under all of them and is refused where all refuse it. Where they differ, a note tells which release does what.
    `configs` are the launch under each release, oldest first, at least one.
    """
    from servelint.memory.plan import OOM_RISK, REFUSED, TIGHT, UNKNOWN

    plans = [plan_of(config) for config in configs]
    latest = plans[-1]
    known = [plan for plan in plans if plan.verdict != UNKNOWN]
    if latest.verdict == UNKNOWN or len(known) < 2:
        return latest
    latest.releases = [plan.release for plan in known if plan.release is not None]
    verdicts = {plan.verdict for plan in known}
    runs = _runs(known)
    _widen(latest, known)
    if len(runs) > 1:
        latest.notes.append("by release: " + "; ".join([_summary(run, len(verdicts) > 1) for run in runs]))
    if len(verdicts) > 1:
        latest.verdict = OOM_RISK if verdicts <= {REFUSED, OOM_RISK} else TIGHT
        latest.refusal = None
    return latest


def _widen(plan: MemoryPlan, plans: list[MemoryPlan]) -> None:
    """Widen the size of the KV cache to that under any of the releases."""
    from servelint.memory.plan import Interval, Part

    sizes = [one.kv_gib for one in plans if one.kv_gib is not None]
    if plan.kv_gib is None:
        return
    plan.kv_gib = Interval(min(one.low for one in sizes), plan.kv_gib.mid, max(one.high for one in sizes))
    for index, part in enumerate(plan.parts):
        if part.name == "kv cache":
            plan.parts[index] = Part(part.name, plan.kv_gib.map(lambda gib: max(gib, 0.0)), part.origin)


def _runs(plans: list[MemoryPlan]) -> list[list[MemoryPlan]]:
    """Plans of successive releases grouped by equal results, oldest first."""
    runs: list[list[MemoryPlan]] = []
    for plan in plans:
        if runs and runs[-1][0].verdict == plan.verdict and all(map(_near, _figures(runs[-1][0]), _figures(plan))):
            runs[-1].append(plan)
        else:
            runs.append([plan])
    return runs


def _figures(plan: MemoryPlan) -> tuple[float | None, float | None]:
    """GiB of KV cache and what they hold: requests for vLLM, whose printed tokens changed their meaning with 0.20.1."""
    return plan.kv_gib.mid if plan.kv_gib is not None else None, plan.max_concurrency or plan.kv_tokens


def _near(one: float | None, other: float | None) -> bool:
    return one == other or (one is not None and other is not None and abs(one - other) <= _ALIKE * max(abs(one), abs(other)))


def _summary(run: list[MemoryPlan], differ: bool) -> str:
    """One clause of the note. differ: whether the verdict has to be named."""
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
