"""More data-parallel ranks on a node than its GPUs hold.

Source: get_device_indices in vllm-0.33.0 vllm/v1/engine/utils.py, which gives each local rank its own GPUs and fails beyond
the last.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole, world_size


def check(config: Config) -> dict[str, str] | None:
    size, replicas, gpus = world_size(config), whole(config, "data-parallel-size"), whole(config, "gpu.count")
    if size is None or replicas is None or gpus is None or size > gpus or size * replicas <= gpus:
        return None
    return {"size": str(size * replicas)}
