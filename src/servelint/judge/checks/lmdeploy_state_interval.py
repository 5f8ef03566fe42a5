"""The interval at which the PyTorch engine keeps decoding states is a multiple of its block size, 64 by default.

Source: PytorchEngineConfig.__post_init__ in lmdeploy-0.14.0 lmdeploy/messages.py:508.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    interval, block = whole(config, "prefix-cache-decode-state-interval"), whole(config, "cache-block-seq-len", 64)
    if interval is None or block is None or interval <= 0 or block <= 0 or interval % block == 0:
        return None
    return {"block": str(block)}
