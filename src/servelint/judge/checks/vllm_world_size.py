"""More ranks than the GPUs of the node.

Source: ParallelConfig in vllm-0.33.0 vllm/config/parallel.py:1066-1079 (from 0.13.0 on); with the mp backend written out the
workers fail on a device that is not there.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole, world_size


def check(config: Config) -> dict[str, str] | None:
    size, gpus = world_size(config), whole(config, "gpu.count")
    return {"size": str(size)} if size is not None and gpus is not None and size > gpus else None
