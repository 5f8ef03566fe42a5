"""A deployment that grows starts with no more replicas than it may have.

Source: ParallelConfig.__post_init__ in vllm-0.33.0 vllm/config/parallel.py:1043; from 0.30.0 on.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    most, first = whole(config, "elastic-ep-max-dp-size"), whole(config, "data-parallel-size")
    return {} if most is not None and first is not None and most < first else None
