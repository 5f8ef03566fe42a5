"""Multi-token prediction on a hybrid model: its attention layer makes every group larger, and pages of each block hold nothing.

Source: _get_kv_cache_groups_uniform_page_size in vllm-0.19.1 vllm/v1/core/kv_cache_utils.py; see servelint.memory.vllm.
"""

from __future__ import annotations

import re

from servelint.engines.config import Config
from servelint.judge.checks import planned

_MORE = re.compile(r" joins the model's .* takes (\d+) % more")
_WORTH = 8


def check(config: Config) -> dict[str, str] | None:
    found = planned.plan(config)
    if found is None or found.verdict not in ("fits", "tight") or not found.max_concurrency:
        return None
    more = next((int(match[1]) for match in map(_MORE.search, found.notes) if match), 0)
    without = planned.plain(config) if more >= _WORTH else None
    if without is None or not without.max_concurrency or without.max_concurrency <= found.max_concurrency:
        return None
    return {
        "where": planned.where(found),
        "more": str(more),
        "length": str(found.max_model_len),
        "requests": f"{found.max_concurrency:.1f}",
        "plain": f"{without.max_concurrency:.1f}",
        "gain": planned.times(without.max_concurrency, found.max_concurrency),
    }
