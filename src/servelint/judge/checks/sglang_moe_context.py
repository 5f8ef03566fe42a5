"""Replicas of the experts are as many as attention has parts of the context, from 0.5.11 on.

Source: handle_context_parallelism in sglang-0.5.23 srt/arg_groups/parallel_hook.py:190.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.engines.sglang.facts import CONTEXT_PARALLEL
from servelint.judge.checks import sglang_moe_data_parallel
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    replicas, context = whole(config, "effective.moe-dp-size"), whole(config, "effective.cp-size")
    if replicas is None or context is None or replicas in (1, context):
        return None
    if any(config.operand(name).present is not False for name in CONTEXT_PARALLEL):
        return None  # some of these layouts set the size by themselves
    return {"width": str(context)} if sglang_moe_data_parallel.check(config) is None else None
