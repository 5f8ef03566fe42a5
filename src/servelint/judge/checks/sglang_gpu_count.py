"""More GPUs than the nodes have: tensor x pipeline parallel size, times the replicas where attention is not data parallel.

Source: sglang-0.5.23 srt/arg_groups/parallel_hook.py, srt/entrypoints/engine.py (_launch_subprocesses); nothing there compares
them with the machine.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    tensor, pipeline = whole(config, "effective.tp-size"), whole(config, "effective.pp-size")
    nodes, held = whole(config, "nnodes", 1), whole(config, "gpu.count")
    if tensor is None or pipeline is None or nodes is None or held is None or nodes < 1:
        return None
    replicas = whole(config, "effective.dp-size")
    needed = tensor * pipeline
    if config.operand("effective.dp-attention").value is False and replicas is not None:
        needed *= replicas
    if needed <= held * nodes:
        return None
    return {"needed": str(needed), "held": str(held) if nodes == 1 else f"{nodes} x {held}"}
