"""A step has room for the drafted tokens of a request and one more.

Source: VllmConfig._set_max_num_scheduled_tokens in vllm-0.33.0 vllm/config/vllm.py:2371.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    tokens, drafted = whole(config, "max-num-batched-tokens"), whole(config, "effective.speculative-tokens")
    return {} if tokens is not None and drafted is not None and tokens <= drafted else None
