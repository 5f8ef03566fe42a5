"""The dense layers of a model with experts run on one GPU or on all of them.

Source: check_server_args in sglang-0.5.23 srt/arg_groups/validation_hook.py:207, since 0.5.13 (srt/server_args.py).
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    dense, width = whole(config, "moe-dense-tp-size"), whole(config, "effective.tp-size")
    return {"width": str(width)} if dense is not None and width is not None and dense not in (1, width) else None
