"""Drafts that are made in one pass take slots of the step's tokens, in 0.20 to 0.27 more than there are.

Source: SchedulerConfig and VllmConfig in vllm-0.20.2 (max_num_scheduled_tokens = max_num_batched_tokens - max_num_seqs x
(num_speculative_tokens - 1)). By default a server has eight tokens a step for each request on every GPU (8192 and 1024, or 2048
and 256); with one of the two written the other is not known.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole

_DEFAULT_RATIO = 8


def check(config: Config) -> dict[str, str] | None:
    drafted = whole(config, "speculative-config.num_speculative_tokens")
    if drafted is None:
        return None
    written = [config.operand(name).present for name in ("max-num-batched-tokens", "max-num-seqs")]
    if written == [False, False]:
        return {} if drafted - 1 >= _DEFAULT_RATIO else None
    tokens, requests = whole(config, "max-num-batched-tokens"), whole(config, "max-num-seqs")
    if tokens is None or requests is None or tokens - requests * (drafted - 1) > 0:
        return None
    return {}
