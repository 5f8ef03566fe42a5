"""What checks ask of a memory plan, where a GPU is named: nothing of servelint.memory is imported before that."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from servelint.engines import ENGINES
from servelint.engines.config import Config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.memory.plan import MemoryPlan

_known: WeakKeyDictionary[Config, MemoryPlan] = WeakKeyDictionary()
"""Several rules ask for the plan of one config."""


def plan(config: Config) -> MemoryPlan | None:
    """The plan of a launch on the GPU that is named; None if none is, or if something that it needs is not known."""
    if not ENGINES[config.launch.engine].plans_memory or config.operand("gpu.memory-gib").value is None:
        return None
    arguments = config.reading.arguments
    if not arguments.complete or arguments.possible:
        return None
    found = _known.get(config)
    if found is None:
        from servelint.memory import plan_of

        found = _known[config] = plan_of(config)
    return found if not found.missing and found.kv_gib is not None else None


def changed(config: Config, *settings: tuple[str, str]) -> MemoryPlan | None:
    """The plan with options set to values; None if the release does not have one, or if the plan is not known."""
    from servelint.memory import variants

    for option, value in settings:
        if not has(config, option):
            return None
        config = variants.changed(config, option, value)
    return plan(config)


def plain(config: Config) -> MemoryPlan | None:
    """The plan without speculative decoding; None if there is none."""
    from servelint.memory import variants

    other = variants.without_speculation(config)
    return plan(other) if other is not None else None


def has(config: Config, option: str) -> bool:
    """Whether the release has an option."""
    catalog = config.catalog
    if catalog is None:
        return False
    index = config.index if config.index is not None else catalog.nearest(config.release)
    return catalog.table(index).find("--" + option) is not None


def times(new: float, old: float) -> str:
    """How many times as much, as a reader says it: "2.1x"."""
    return f"{new / old:.1f}x"


def gib(size: float) -> str:
    return f"{size:.1f}"


def where(found: MemoryPlan) -> str:
    """The GPUs as a reader says them: "4 x h100-80gb"."""
    name = found.gpu or "GPU"
    return name if found.gpu_count == 1 else f"{found.gpu_count} x {name}"
