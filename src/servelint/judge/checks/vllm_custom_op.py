"""An operation in custom_ops is switched on or off.

Source: CompilationConfig.__post_init__ in vllm-0.33.0 vllm/config/compilation.py:1013; the same in 0.11.0.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.vllm_custom_ops import written


def check(config: Config) -> dict[str, str] | None:
    bare = [op for op in written(config) if op not in ("all", "none") and (len(op) < 2 or op[0] not in "+-")]
    return {"op": bare[0]} if bare else None
