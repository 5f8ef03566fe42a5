"""The plan of a launch whose release is not pinned: an interval over the releases that can start it.

The middle of the interval is the plan of the newest of them. The launch fits where all fit, and is refused where all refuse;
where they differ a note says which releases do what.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.memory import plan_of
from servelint.memory.plan import OOM_RISK, REFUSED, TIGHT, UNKNOWN, Interval, MemoryPlan, Part

_ALIKE = 0.03
"""Share by which figures of two releases may differ and still be told as one."""


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
