"""The GPUs of tensor and pipeline parallelism are spread evenly over the nodes.

Source: check_server_args in sglang-0.4.6 srt/server_args.py and sglang-0.5.23 srt/arg_groups/validation_hook.py:178.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    nodes, tensor, stages = (whole(config, name) for name in ("nnodes", "effective.tp-size", "effective.pp-size"))
    if nodes is None or tensor is None or stages is None or nodes < 2 or tensor * stages % nodes == 0:
        return None
    return {"gpus": str(tensor * stages)}
