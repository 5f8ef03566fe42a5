"""A memory plan for programs. GiB are 2**30 bytes on one GPU; what is not known is null."""

from __future__ import annotations

from servelint.memory.plan import Interval, MemoryPlan
from servelint.memory.variants import WhatIf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def plan_data(plan: MemoryPlan) -> dict[str, Any]:
    return {
        "engine": plan.engine,
        "version": plan.release,
        "versions": plan.releases,
        "model": plan.model,
        "gpu": plan.gpu,
        "gpu_count": plan.gpu_count,
        "gpu_gib": plan.gpu_gib,
        "budget_gib": plan.budget_gib,
        "weights_gib": plan.weights_gib,
        "kv_gib": _interval(plan.kv_gib),
        "kv_tokens": plan.kv_tokens,
        "max_concurrency": plan.max_concurrency,
        "max_model_len": plan.max_model_len,
        "need_gib": plan.need_gib,
        "largest_context": plan.largest_context,
        "verdict": plan.verdict,
        "refusal": plan.refusal,
        "parts": [
            {"name": part.name, "gib": _interval(part.gib), "origin": part.origin, "inside": part.inside} for part in plan.parts
        ],
        "notes": plan.notes,
        "missing": plan.missing,
    }


def what_if_data(one: WhatIf) -> dict[str, Any]:
    plan = one.plan
    return {
        "change": one.name,
        "kv_gib": _interval(plan.kv_gib),
        "kv_tokens": plan.kv_tokens,
        "max_concurrency": plan.max_concurrency,
        "verdict": plan.verdict,
    }


def _interval(value: Interval | None) -> dict[str, float] | None:
    return {"low": value.low, "mid": value.mid, "high": value.high} if value is not None else None
