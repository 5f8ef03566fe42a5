"""Requests that are worked on at once are at most those of a step.

Source: SchedulerConfig.verify_max_model_len in vllm-0.33.0 vllm/config/scheduler.py:338; from 0.31.0 on.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    active, requests = whole(config, "max-num-active-seqs"), whole(config, "max-num-seqs")
    return {} if active is not None and requests is not None and active > requests else None
