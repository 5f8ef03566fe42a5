"""DFLASH drafts one block: where both are given, the block size and the number of draft tokens must be the same.

Source: sglang-0.5.23 srt/arg_groups/speculative_hook.py:360, sglang-0.5.11 srt/server_args.py.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    block = whole(config, "speculative-dflash-block-size")
    tokens = whole(config, "speculative-num-draft-tokens")
    if block is None or tokens is None or block == tokens:
        return None
    return {"block": str(block)}
