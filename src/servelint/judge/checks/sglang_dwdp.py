"""Weights that are spread over replicas are spread over all GPUs of a launch.

Source: handle_dwdp in sglang-0.5.23 srt/arg_groups/parallel_hook.py:441, since 0.5.17 (srt/server_args.py).
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    spread, width = whole(config, "dwdp-size"), whole(config, "effective.tp-size")
    return {"width": str(width)} if spread is not None and width is not None and spread != width else None
