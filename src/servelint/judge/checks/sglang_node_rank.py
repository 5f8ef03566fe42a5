"""Ranks of nodes count from 0: the last one is the number of nodes less one. No release compares them.

Source: run on sglang-0.4.6 to 0.5.23 with --nnodes 2 --node-rank 5.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    rank, nodes = whole(config, "node-rank"), whole(config, "nnodes", 1)
    if rank is None or nodes is None or nodes < 1 or 0 <= rank < nodes:
        return None
    return {"nodes": str(nodes), "last": str(nodes - 1)}
