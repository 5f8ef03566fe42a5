"""Without chunked prefill a step must have room for the longest prompt.

Source: SchedulerConfig.verify_max_model_len in vllm-0.33.0 vllm/config/scheduler.py:325, from 0.11.1 on.
"""

from __future__ import annotations

from servelint.checks.values import whole
from servelint.engines.config import Config


def check(config: Config) -> dict[str, str] | None:
    tokens, length = whole(config, "max-num-batched-tokens"), whole(config, "max-model-len")
    return {} if tokens is not None and length is not None and tokens < length else None
