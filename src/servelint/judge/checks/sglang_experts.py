"""Checks of replicas of the experts: they must fit all GPUs, and the parts of the context.

Source: handle_context_parallelism in sglang-0.5.23 srt/arg_groups/parallel_hook.py:172 and 190, and since 0.5.9 in
srt/server_args.py.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.engines.sglang.facts import CONTEXT_PARALLEL
from servelint.judge.checks.values import whole


def data_parallel(config: Config) -> dict[str, str] | None:
    """With expert parallelism the replicas must make up all GPUs, in one pipeline stage."""
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


def context(config: Config) -> dict[str, str] | None:
    """Replicas of the experts are as many as attention has parts of the context, from 0.5.11 on."""
    replicas, parts = whole(config, "effective.moe-dp-size"), whole(config, "effective.cp-size")
    if replicas is None or parts is None or replicas in (1, parts):
        return None
    if any(config.operand(name).present is not False for name in CONTEXT_PARALLEL):
        return None  # some of these layouts set the size by themselves
    return {"width": str(parts)} if data_parallel(config) is None else None
