"""SGLang's memory plan: weights and pools within --mem-fraction-static, graphs and activations in what it leaves.

SGLang measures what is free before and after loading, and gives to its pools what the fraction allows:

    pool = free after loading - free before loading x (1 - fraction)          (srt/model_executor/model_runner.py, 0.4.0 to
    0.5.23)

States of linear attention and the KV cache share it. Nothing is profiled: whether graphs and activations fit into the rest is
found when they are captured.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.config import Config
    from servelint.memory.plan import MemoryPlan


def plan(config: Config) -> MemoryPlan:
    """The plan of a launch under one release; see servelint.memory.plan."""
    from servelint.memory.sglang.planned import planned

    return planned(config)
