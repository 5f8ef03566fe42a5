"""FlashInfer's kernels keep all experts on each GPU, or spread them over all.

Source: handle_moe_kernel_config in sglang-0.5.23 srt/arg_groups/moe_hook.py:89, since 0.5.1 (srt/server_args.py).
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    experts, width = whole(config, "effective.ep-size"), whole(config, "effective.tp-size")
    return {"width": str(width)} if experts is not None and width is not None and experts not in (1, width) else None
