"""Context parallelism, together with replicas of attention, must divide the GPUs.

Source: handle_context_parallelism in sglang-0.5.23 srt/arg_groups/parallel_hook.py:159, and since 0.5.9 in srt/server_args.py.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    context, width = whole(config, "effective.cp-size"), whole(config, "effective.tp-size")
    if context is None or width is None or context < 2:
        return None
    if width % context:
        return {"misfit": f"does not divide the tensor parallel size {width}"}
    if config.operand("effective.dp-attention").value is not True:
        return None
    replicas = whole(config, "effective.attn-dp-size")
    if replicas == 1:
        replicas = whole(config, "effective.dp-size")
    if replicas is None or width % (replicas * context) == 0:
        return None
    return {"misfit": f"and {replicas} replicas of attention do not divide the tensor parallel size {width}"}
