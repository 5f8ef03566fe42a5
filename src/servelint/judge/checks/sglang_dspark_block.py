"""DSPARK verifies a block and one more token: where both are given, the draft tokens must be the block size plus one.

Source: sglang-0.5.16 and sglang-0.5.23 srt/arg_groups/speculative_hook.py (0.5.23 line 824).
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    block = whole(config, "speculative-dspark-block-size")
    tokens = whole(config, "speculative-num-draft-tokens")
    if block is None or tokens is None or block < 1 or tokens == block + 1:
        return None
    return {"expected": str(block + 1)}
