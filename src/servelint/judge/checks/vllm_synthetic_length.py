"""A synthetic acceptance length outside of 1 to one more than the drafted tokens.

Source: SpeculativeConfig._resolve_synthetic_acceptance_rates in vllm/config/speculative.py, 0.20.0 to 0.33.0.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    length = config.operand("speculative-config.synthetic_acceptance_length").value
    tokens = whole(config, "effective.speculative-tokens")
    if tokens is None or isinstance(length, bool) or not isinstance(length, (int, float)) or 1 <= length <= tokens + 1:
        return None
    return {"most": str(tokens + 1)}
