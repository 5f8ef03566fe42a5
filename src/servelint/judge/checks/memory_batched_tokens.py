"""Activations of a large --max-num-batched-tokens take a good part of the KV cache.

Source: Worker.determine_available_memory in vllm-0.33.0 vllm/v1/worker/gpu_worker.py profiles one batch of as many tokens.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks import planned
from servelint.judge.checks.values import whole

_FEWER = 8192
_WORTH_GIB = 1.0
_WORTH_TIMES = 1.25


def check(config: Config) -> dict[str, str] | None:
    tokens = whole(config, "max-num-batched-tokens")
    found = planned.plan(config)
    if tokens is None or tokens <= _FEWER or found is None or found.kv_gib is None or found.kv_gib.mid <= 0:
        return None
    activations = found.part("activations")
    other = planned.changed(config, ("max-num-batched-tokens", str(_FEWER)))
    smaller = other.part("activations") if other is not None else None
    if activations is None or other is None or smaller is None or other.kv_gib is None:
        return None
    freed = other.kv_gib.mid - found.kv_gib.mid
    if smaller.gib.high >= activations.gib.low or freed < _WORTH_GIB or other.kv_gib.mid < _WORTH_TIMES * found.kv_gib.mid:
        return None
    gain = planned.times(other.kv_gib.mid, found.kv_gib.mid)
    return {
        "where": planned.where(found),
        "reserve": planned.gib(activations.gib.mid),
        "left": planned.gib(found.kv_gib.mid),
        "remedy": f"--max-num-batched-tokens {_FEWER} frees {planned.gib(freed)} GiB: {gain} the KV cache",
    }
