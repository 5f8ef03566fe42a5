"""A running request of a hybrid model takes at least three state slots where there is a radix cache.

Source: MAMBA_CACHE_SIZE_MAX_RUNNING_REQUESTS_RATIO in sglang-0.5.7 srt/model_executor/model_runner_kv_cache_mixin.py:39 and in
sglang-0.5.23 srt/mem_cache/kv_cache_configurator.py:227; replicas of data-parallel attention divide slots and requests alike.
"""

from __future__ import annotations

from servelint.engines.config import Config

_SLOTS = 3


def check(config: Config) -> dict[str, str] | None:
    slots = config.operand("max-mamba-cache-size").value
    requests = config.operand("max-running-requests").value
    if not isinstance(slots, int) or not isinstance(requests, int) or slots // _SLOTS >= requests:
        return None
    return {"held": str(slots // _SLOTS), "needed": str(requests * _SLOTS)}
