"""With an all-to-all backend SGLang makes the expert parallel size that of tensor parallelism.

Source: sglang-0.5.9 srt/server_args.py:2182-2219, sglang-0.5.23 srt/arg_groups/overrides.py.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    experts, size = whole(config, "effective.ep-size"), whole(config, "effective.tp-size")
    return {"size": str(size)} if experts is not None and size is not None and experts != size else None
