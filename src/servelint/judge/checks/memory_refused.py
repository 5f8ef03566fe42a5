"""A launch whose weights certainly do not fit into what the engine lets itself use, and what would fit.

The arithmetic is servelint.memory's, which names the engine's files release by release.
"""

from __future__ import annotations

from servelint.engines import ENGINES
from servelint.engines.config import Config
from servelint.judge.checks import planned
from servelint.judge.checks.values import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.memory.plan import MemoryPlan

_LARGER = ("0.85", "0.90", "0.92", "0.95")
_SMALLER = ("0.97", "0.95", "0.92", "0.90")
_SHORTEST = 2048


def check(config: Config) -> dict[str, str] | None:
    found = planned.plan(config)
    if found is None or found.verdict != "refused" or found.kv_gib is None:
        return None
    reason = _reason(found)
    if reason is None:
        return None
    return {"where": planned.where(found), "reason": reason, "remedy": remedy(config, found)}


def _not_free(found: MemoryPlan) -> bool:
    return (found.refusal or "").startswith("Free memory on device")


def _reason(found: MemoryPlan) -> str | None:
    """Why it certainly does not start; None if it may, at the most that may be left."""
    kv, weights, budget = found.kv_gib, found.weights_gib, found.budget_gib
    if kv is None or weights is None or budget is None:
        return None
    if _not_free(found):
        total = planned.gib(found.gpu_gib or 0.0)
        return f"it asks for {planned.gib(budget)} GiB, more than an empty GPU of {total} GiB has free"
    if not ENGINES[found.engine].needs_one_request and kv.mid >= 0:
        return "no room is left for the states of one running request"
    beside = found.part("activations")
    if kv.high + encoder_gib(found) < 0:
        taken = f"its weights take {planned.gib(weights)} GiB of a GPU, of which the engine uses {planned.gib(budget)}"
        if weights > budget or beside is None:
            return taken
        return f"{taken}, and {beside.name} {planned.gib(beside.gib.mid)} more"
    return None


def encoder_gib(found: MemoryPlan) -> float:
    """What the plan takes off the KV cache for the encoder of pictures, the least known of all."""
    part = found.part("activations")
    return part.gib.mid if part is not None and "encoder" in part.origin else 0.0


def remedy(config: Config, found: MemoryPlan) -> str:
    """The first change that certainly fits, and what it leaves; else the first that may fit."""
    perhaps = None
    for change in _changes(config, found):
        other = planned.changed(config, *change)
        if other is None or other.kv_gib is None or other.kv_gib.mid <= 0:
            continue
        words = " ".join(f"--{option} {value}" for option, value in change)
        leave = "leaves" if len(change) == 1 else "leave"
        size = planned.gib(other.kv_gib.mid)
        if other.verdict == "fits":
            return f"{words} {leave} {size} GiB for the KV cache"
        enough = not ENGINES[found.engine].needs_one_request or other.need_gib is None or other.kv_gib.mid >= other.need_gib
        if other.verdict == "tight" and enough and perhaps is None:
            perhaps = f"{words} may leave {size} GiB for the KV cache"
    without = planned.plain(config)
    if without is not None and without.verdict == "fits" and without.kv_gib is not None:
        return f"without speculative decoding {planned.gib(without.kv_gib.mid)} GiB are left for the KV cache"
    return perhaps or "take more or larger GPUs, or weights in fewer bits"


def _changes(config: Config, found: MemoryPlan) -> list[list[tuple[str, str]]]:
    """What may help, the least first."""
    engine = ENGINES[config.launch.engine]
    fraction = engine.memory_fraction_option
    tries: list[list[tuple[str, str]]] = []
    if engine.needs_one_request and not _not_free(found) and found.kv_gib is not None and found.kv_gib.mid > 0:
        tries += _shorter(config, found)
    given = config.operand(fraction).value
    for share in _SMALLER if _not_free(found) else _LARGER:
        if _not_free(found) or not isinstance(given, (int, float)) or float(share) > given:
            tries.append([(fraction, share)])
    tries += [[one] for one in engine.memory_reserves]
    tries.append([(engine.kv_dtype_option, engine.kv_dtype_fp8)])
    width = whole(config, engine.tensor_parallel_operand, 1) or 1
    tries += [[(engine.tensor_parallel_option, str(size))] for size in (2, 4, 8) if width < size <= found.gpu_count]
    if engine.memory_reserves and not _not_free(found):
        tries.append([(fraction, "0.95"), engine.memory_reserves[0]])
    return tries


def _shorter(config: Config, found: MemoryPlan) -> list[list[tuple[str, str]]]:
    from servelint.memory import variants

    longest = variants.largest_context([config], found) or 0
    return [[("max-model-len", str(longest // 1024 * 1024))]] if longest >= _SHORTEST else []
