"""A draft that sees a window of its context must at least see the block that it drafts.

Source: _handle_dflash in sglang-0.5.23 srt/arg_groups/speculative_hook.py:430, since 0.5.12.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    window = whole(config, "speculative-draft-window-size")
    tokens = whole(config, "speculative-num-draft-tokens")
    block = tokens if tokens is not None else whole(config, "speculative-dflash-block-size")
    return {"block": str(block)} if window is not None and block is not None and window < block else None
