"""Long partial prefills are some of all partial prefills.

Source: SchedulerConfig in vllm-0.11.0 vllm/config/scheduler.py:282; the same in 0.8.5.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    long, several = whole(config, "max-long-partial-prefills"), whole(config, "max-num-partial-prefills", 1)
    return {"several": str(several)} if long is not None and several is not None and long > several else None
