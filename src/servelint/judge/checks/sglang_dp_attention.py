"""Data-parallel attention splits the tensor parallel group: its size must divide that of the group.

Source: sglang-0.4.6 srt/server_args.py:295, sglang-0.5.23 srt/arg_groups/parallel_hook.py:326.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    width = config.operand("attn-dp-size")
    if width.present is None:
        return None
    size = whole(config, "effective.tp-size")
    replicas = whole(config, "attn-dp-size" if width.present else "effective.dp-size")
    if size is None or replicas is None or replicas < 2 or size % replicas == 0:
        return None
    return {"replicas": str(replicas), "size": str(size)}
