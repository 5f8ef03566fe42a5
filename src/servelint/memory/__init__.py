"""The memory plan of a launch: what each GPU holds, how much is left for the KV cache, and whether the engine starts.

Each engine has a room of its own here (`vllm/`, `sglang.py`) with a function `plan(config) -> MemoryPlan`; nothing is imported
before a plan is asked for.
"""

from __future__ import annotations

from importlib import import_module

from servelint.engines.registry import ENGINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.engines.config import Config
    from servelint.memory.plan import MemoryPlan

PLANNED = tuple(engine.id for engine in ENGINES.values() if engine.plans_memory)
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
    found: MemoryPlan = _module(engine).plan(config)
    return found


def changes_of(engine: str) -> tuple[str, ...]:
    """Releases of an engine with which something changes that a plan follows from."""
    changes: tuple[str, ...] = _module(engine).CHANGES
    return changes


def computed_defaults(config: Config) -> dict[str, str | float | bool]:
    """Option -> default, for the options of `Engine.computed_defaults` that a launch does not give. There is at least one."""
    found: dict[str, str | float | bool] = _module(config.launch.engine).computed_defaults(config)
    return found


def _module(engine: str) -> Any:
    return import_module("servelint.memory." + ENGINES[engine].package)
