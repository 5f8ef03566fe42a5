"""Tensor parallelism splits the attention heads evenly.

Source: ModelConfig.verify_with_parallel_config in vllm-0.33.0 vllm/config/model.py:1561; in every release since 0.8.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    heads, size = whole(config, "model.heads"), whole(config, "tensor-parallel-size")
    if heads is None or size is None or size < 1 or heads % size == 0:
        return None
    divisors = [str(one) for one in range(1, min(size, heads) + 1) if heads % one == 0]
    return {"heads": str(heads), "largest": divisors[-1]}
