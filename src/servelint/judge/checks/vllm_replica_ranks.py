"""The ranks of data-parallel replicas: below the number of all of them, and on a node no more than there are.

Source: ParallelConfig in vllm-0.33.0 vllm/config/parallel.py:545 (the replicas of a node) and 1018 (the rank, of which
create_engine_config makes a start rank's where --data-parallel-size-local is given); the same in 0.11.0.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    replicas, local = whole(config, "data-parallel-size", 1), whole(config, "data-parallel-size-local")
    if replicas is None:
        return None
    rank, start = whole(config, "data-parallel-rank"), whole(config, "data-parallel-start-rank")
    if local is not None and local > replicas and config.operand("data-parallel-rank").present is False:
        return {"reason": f"--data-parallel-size-local {local} is above --data-parallel-size {replicas}"}
    if replicas < 2:
        return None
    if rank is not None and rank >= replicas:
        return {"reason": f"--data-parallel-rank {rank} is not below --data-parallel-size {replicas}"}
    if start is not None and start >= replicas and local is not None and config.operand("data-parallel-rank").present is False:
        return {"reason": f"--data-parallel-start-rank {start} is not below --data-parallel-size {replicas}"}
    return None
