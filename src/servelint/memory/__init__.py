"""The memory plan of a launch: what each GPU holds, how much is left for the KV cache, and whether the engine starts.

Each engine has a room of its own here (`vllm/`, `sglang.py`) with a function `plan(config) -> MemoryPlan`; nothing is imported
before a plan is asked for.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.config import Config
    from servelint.memory.plan import MemoryPlan

PLANNED = ("vllm", "sglang")
"""Engines whose arithmetic is known."""


def plan_of(config: Config) -> MemoryPlan:
    """The plan of a launch under one release.

    config: its launch names the GPU (`launch.gpu`, or the container's product) and how many there are (`launch.gpu_count`);
    without them the plan has the weights and the KV cache's bytes for a token, and the verdict "unknown".
    Raises ValueError for an engine whose arithmetic is not known.
    """
    engine = config.launch.engine
    if engine not in PLANNED:
        raise ValueError(f"no memory plan for {engine!r}; use one of {', '.join(PLANNED)}")
    found: MemoryPlan = import_module("servelint.memory." + engine).plan(config)
    return found


def changes_of(engine: str) -> tuple[str, ...]:
    """Releases of an engine with which something changes that a plan follows from."""
    changes: tuple[str, ...] = import_module("servelint.memory." + engine).CHANGES
    return changes
