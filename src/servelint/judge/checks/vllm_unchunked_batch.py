"""Without chunked prefill a step must have room for the longest prompt.

Source: SchedulerConfig.verify_max_model_len in vllm-0.33.0 vllm/config/scheduler.py:325, from 0.11.1 on. Without
--max-model-len the longest prompt is the model's context, unless something else sets that.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole

_OWN_CONTEXT = ("hf-overrides", "hf-config-path", "config-format", "rope-scaling", "rope-theta", "speculative-config", "runner")


def check(config: Config) -> dict[str, str] | None:
    tokens, length = whole(config, "max-num-batched-tokens"), longest(config)
    return {"length": str(length)} if tokens is not None and length is not None and tokens < length else None


def longest(config: Config) -> int | None:
    """The tokens of the longest prompt: --max-model-len, or the context of a model that is known."""
    if config.operand("max-model-len").present is not False:
        length = whole(config, "max-model-len")
        return length if length is not None and length > 0 else None
    return whole(config, "model.context") if all(config.operand(one).present is False for one in _OWN_CONTEXT) else None
