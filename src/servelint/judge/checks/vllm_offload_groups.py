"""Groups of layers of which some are offloaded and fetched ahead.

Source: OffloadConfig.validate_offload_config in vllm-0.33.0 vllm/config/offload.py:98-113; the same in 0.17.0. The defaults are
a group of 0 layers (off), one layer of it, and one layer ahead.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    group, some = whole(config, "offload-group-size", 0), whole(config, "offload-num-in-group", 1)
    ahead = whole(config, "offload-prefetch-step", 1)
    if group is not None and some is not None and some > group:
        if group == 0:
            return {"reason": "--offload-backend prefetch has no groups of layers without --offload-group-size"}
        return {"reason": f"--offload-num-in-group {some} is above --offload-group-size {group}"}
    return {"reason": f"--offload-prefetch-step {ahead} is below 1"} if ahead is not None and ahead < 1 else None
