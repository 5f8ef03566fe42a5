"""A step must have room for a token of each running request.

Source: SchedulerConfig.verify_max_model_len in vllm-0.33.0 vllm/config/scheduler.py:334; in every release since 0.8.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    tokens, requests = whole(config, "max-num-batched-tokens"), whole(config, "max-num-seqs")
    return {} if tokens is not None and requests is not None and tokens < requests else None
