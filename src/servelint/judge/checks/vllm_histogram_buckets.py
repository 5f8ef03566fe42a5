"""The buckets of --custom-histogram-buckets.

Source: ObservabilityConfig in vllm-0.33.0 vllm/config/observability.py:163-214, and the families in vllm/v1/metrics/buckets.py.
"""

from __future__ import annotations

import math
from itertools import pairwise

from servelint.engines.config import Config
from servelint.syntax.json import ARRAY, NUMBER, OBJECT, JsonNode

_FAMILIES = (
    "request_latency",
    "time_to_first_token",
    "inter_token_latency",
    "iteration_tokens",
    "request_params_n",
    "request_num_preemptions",
    "request_tokens",
    "kv_cache_residency",
)


def check(config: Config) -> dict[str, str] | None:
    node = config.reading.parsed("custom-histogram-buckets")
    if node is None or node.kind != OBJECT:
        return None
    for family, (_, buckets) in node.members.items():
        if family not in _FAMILIES:
            if not config.at_least("0.33.1"):
                return {"reason": f"{family} is no family of histograms"}
            continue
        if buckets.kind == ARRAY and (reason := _fault(buckets)) is not None:
            return {"reason": f"{family} {reason}"}
    return None


def _fault(buckets: JsonNode) -> str | None:
    if not buckets.items and not buckets.open:
        return "has no bucket"
    bounds = [item.value for item in buckets.items if item.kind == NUMBER and isinstance(item.value, (int, float))]
    if any(not math.isfinite(bound) or bound <= 0 for bound in bounds):
        return "has a bound that is not above 0"
    known = len(bounds) == len(buckets.items) and not buckets.open
    return "has bounds that do not rise" if known and any(a >= b for a, b in pairwise(bounds)) else None
