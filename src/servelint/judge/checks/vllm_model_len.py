"""A length above that of the checkpoint.

Source: _get_and_verify_max_len in vllm-0.33.0 vllm/config/model.py:2670; in every release since 0.8.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    length, context = whole(config, "max-model-len"), whole(config, "model.context")
    return {} if length is not None and context is not None and length > context else None
