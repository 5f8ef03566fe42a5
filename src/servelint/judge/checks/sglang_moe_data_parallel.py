"""Replicas of the experts: with expert parallelism they must make up all GPUs, in one pipeline stage.

Source: handle_context_parallelism in sglang-0.5.23 srt/arg_groups/parallel_hook.py:172, and since 0.5.9 in srt/server_args.py.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    replicas, width = whole(config, "effective.moe-dp-size"), whole(config, "effective.tp-size")
    if replicas is None or width is None or replicas < 2:
        return None
    if width % replicas:
        return {"misfit": f"does not divide the tensor parallel size {width}"}
    stages = whole(config, "effective.pp-size")
    if stages is not None and stages > 1:
        return {"misfit": f"does not go with {stages} pipeline stages"}
    experts = whole(config, "effective.ep-size")
    if experts is None or experts < 2 or experts * replicas == width or config.operand("moe-a2a-backend").present is not False:
        return None
    return {"misfit": f"times the expert parallel size {experts} is not the tensor parallel size {width}"}
