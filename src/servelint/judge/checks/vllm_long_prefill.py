"""A prompt that counts as long is not longer than the context.

Source: SchedulerConfig.verify_max_model_len in vllm-0.33.0 vllm/config/scheduler.py:355, from 0.27.0 on. Encoder-decoder models
set the threshold to 0, so that only models that are known are judged.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole
from servelint.judge.checks.vllm_unchunked_batch import longest


def check(config: Config) -> dict[str, str] | None:
    threshold, length = whole(config, "long-prefill-token-threshold"), longest(config)
    if config.family is None or config.family.architecture == "WhisperForConditionalGeneration":
        return None
    return {"context": str(length)} if threshold is not None and length is not None and threshold > length else None
