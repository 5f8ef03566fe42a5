"""A KV cache that certainly holds less than one request of the longest length: vLLM does not start.

Source: _check_enough_kv_cache_memory in vllm-0.33.0 vllm/v1/core/kv_cache_planning.py; see servelint.memory.vllm.refusals.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks import planned
from servelint.judge.checks.memory_refused import encoder_gib, remedy


def check(config: Config) -> dict[str, str] | None:
    found = planned.plan(config)
    if found is None or found.verdict != "refused" or found.kv_gib is None or found.need_gib is None:
        return None
    kv, need = found.kv_gib, found.need_gib
    if kv.mid <= 0 or kv.mid >= need or kv.high + encoder_gib(found) >= need:
        return None
    return {
        "where": planned.where(found),
        "length": str(found.max_model_len),
        "need": planned.gib(need),
        "left": planned.gib(kv.mid),
        "remedy": remedy(config, found),
    }
