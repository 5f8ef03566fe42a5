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

CHANGES = (
    "0.4.0", "0.4.0.post1", "0.4.3", "0.4.3.post3", "0.4.4", "0.4.4.post1", "0.4.4.post4", "0.4.5", "0.4.5.post3",
    "0.4.6.post2", "0.4.7", "0.4.7.post1", "0.4.9.post3", "0.5.2", "0.5.3rc2", "0.5.3.post1", "0.5.3.post2", "0.5.4.post1",
    "0.5.5.post1", "0.5.6", "0.5.7", "0.5.8", "0.5.9", "0.5.10rc0", "0.5.11", "0.5.12", "0.5.13", "0.5.14", "0.5.15", "0.5.16",
    "0.5.17", "0.5.18", "0.5.19", "0.5.20", "0.5.21", "0.5.22", "0.5.23",
)  # fmt: skip
"""Releases with which something changes that a plan follows from."""


def plan(config: Config) -> MemoryPlan:
    """The plan of a launch under one release; see servelint.memory.plan."""
    from servelint.memory.sglang.planned import planned

    return planned(config)
