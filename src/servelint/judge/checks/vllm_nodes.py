"""The nodes of a launch share its GPUs evenly, and each has a rank of its own.

Source: EngineArgs.create_engine_config in vllm-0.33.0 vllm/engine/arg_utils.py:2393-2420; from 0.11.1 on.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole, world_size


def check(config: Config) -> dict[str, str] | None:
    nodes, rank = whole(config, "nnodes"), whole(config, "node-rank", 0)
    if nodes is None or nodes < 2:
        return None
    if rank is not None and not 0 <= rank < nodes:
        return {"reason": f"--node-rank {rank} is not below --nnodes {nodes}"}
    size, replicas = world_size(config), whole(config, "data-parallel-size", 1)
    if size is None or replicas is None or size * replicas % nodes == 0:
        return None
    return {"reason": f"{size * replicas} ranks cannot be shared evenly by --nnodes {nodes}"}
