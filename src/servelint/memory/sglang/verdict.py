"""Whether SGLang starts: its own refusals, and what has to fit into the part of a GPU that the fraction leaves."""

from __future__ import annotations

import math

from servelint.memory.plan import FITS, OOM_RISK, REFUSED, TIGHT, UNKNOWN, Interval, MemoryPlan, Part
from servelint.memory.sglang import machine
from servelint.memory.sglang.settings import BLOCKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.memory.sglang.planned import Launch, Machine, Pools

BOUND_GIB = 0.3
"""A pool nearer to nothing than this is `tight`, whatever the interval says: what allocators round up differs by as much."""


def judge(found: MemoryPlan, plan: Launch, on: Machine, rest: Interval, pools: Pools) -> None:
    """The verdict, with the engine's words where it refuses.

    rest: GiB that the fraction leaves after the weights; pools: what that holds at its most likely
    """
    if found.missing:
        found.verdict = UNKNOWN
        return
    if rest.high < -BOUND_GIB:
        found.verdict = REFUSED
        found.refusal = refusal(plan, on, rest)
        return
    if rest.mid > 0 and _no_request(pools):
        found.verdict = REFUSED if rest.mid > BOUND_GIB and _surely(plan, rest) else TIGHT
        found.refusal = no_request(plan, pools)
        return
    if rest.low < BOUND_GIB:
        found.verdict = TIGHT
        if rest.mid <= 0:
            found.refusal = refusal(plan, on, rest)
        return
    found.verdict = _after(found, plan, on, pools)


def _no_request(pools: Pools) -> bool:
    if pools.states is not None and (pools.states.slots <= 0 or pools.states.requests <= 0):
        return True
    return pools.pool is not None and pools.pool.tokens <= 0


def _surely(plan: Launch, rest: Interval) -> bool:
    """Whether the most that may be left holds no request either."""
    from servelint.memory.sglang.planned import pools_of

    return _no_request(pools_of(plan, rest.high))


def refusal(plan: Launch, on: Machine, rest: Interval) -> str:
    """What the release says where the weights leave nothing.

    Source: init_memory_pool in srt/model_executor/model_runner.py (0.4.0 line 503, 0.5.3rc2 line 1477), MemoryPoolConfig in
    model_runner_kv_cache_mixin.py (0.5.10rc0 line 50), _profile_available_bytes (0.5.14 line 102, 0.5.23 line 3041).
    """
    fraction = on.defaults.fraction
    if plan.release.since("0.5.14"):
        taken = on.free.mid * fraction - rest.mid
        least = min(1.0, taken / on.free.mid)
        return (
            f"Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static={fraction:g}. Raise "
            f"--mem-fraction-static above {math.ceil(least * 1000) / 1000:.3f} (minimum viable = 1 - available/pre = "
            f"{least:.4f}). If using speculative decoding, draft weights are now counted."
        )
    text = "Not enough memory. Please try to increase --mem-fraction-static."
    if plan.release.since("0.5.10rc0"):
        return f"{text} Current value: mem_fraction_static={fraction:g}"
    if plan.release.since("0.5.3rc2"):
        return f"{text} Current value: self.server_args.mem_fraction_static={fraction:g}"
    return text


def no_request(plan: Launch, pools: Pools) -> str:
    """What the release says where no slot of states, or no request, is left.

    Source: handle_max_mamba_cache and _resolve_max_num_reqs in srt/model_executor/model_runner_kv_cache_mixin.py (0.5.13 lines
    82 and 876); before, srt/managers/tp_worker.py (0.5.7 line 322).
    """
    held = pools.states
    if held is None or (held.slots > 0 and held.requests > 0):
        return "Not enough memory. Please try to increase --mem-fraction-static."
    if not plan.release.since("0.5.13"):
        return "max_running_request is zero"
    if held.slots <= 0:
        return (
            f"Not enough GPU memory for hybrid (mamba/linear-attention) state cache. Computed max_mamba_cache_size={held.slots}"
        )
    return (
        "Hybrid (mamba/linear-attention) state cache is too small to serve any requests. "
        f"max_mamba_cache_size={held.slots}, mamba_ratio={held.a_request}, resulting max_num_reqs=0."
    )


def _after(found: MemoryPlan, plan: Launch, on: Machine, pools: Pools) -> str:
    """What becomes of a start that passes the check: requests' tables, graphs, activations and (before 0.5.14) the draft have
    to fit into what the fraction leaves."""
    left = on.free.scaled(1 - on.defaults.fraction)
    if pools.pool is not None and plan.settings.limit is not None:
        held = pools.kv_gib + pools.states_gib
        taken = (found.weights_gib or 0.0) + (plan.adapters.mid if plan.adapters is not None else 0.0)
        spare = on.free.mid * on.defaults.fraction - taken - held
        left = left + Interval.exact(max(0.0, spare))
    need = Interval.exact(0.0)
    for part in _outside(plan, on, pools):
        found.parts.append(part)
    for part in found.parts:
        if not part.inside:
            need = need + part.gib
    if left.high < need.low:
        found.notes.append(f"the fraction leaves {left.mid:.1f} GiB of a GPU, graphs and activations need about {need.mid:.1f}")
        return OOM_RISK
    block = plan.settings.speculation is not None and plan.settings.speculation.algorithm in BLOCKS
    if left.low < (need.mid + need.high) / 2 or (block and left.low < 2 * need.high):
        found.notes.append(
            f"the fraction leaves {left.mid:.1f} GiB, graphs and activations may need {need.mid:.1f} to {need.high:.1f}"
        )
        return TIGHT
    return FITS


def _outside(plan: Launch, on: Machine, pools: Pools) -> list[Part]:
    """What is taken after the pools."""
    settings, model, ranks = plan.settings, plan.model, plan.attention_ranks
    rows = max(1, pools.requests)
    table = (rows + 1) * ((plan.context or 4096) + 4) * 4 / 2**30
    chunk = on.defaults.chunk if on.defaults.chunk > 0 else settings.prefill
    replicas = settings.replicas
    parts = [Part("request table", Interval.exact(table), f"{rows} requests of {plan.context} tokens", inside=False)]
    batch = min(on.defaults.batch, rows)
    width = settings.speculation.tokens if settings.speculation is not None else 1
    if settings.node != "decode":
        graphs = plan.prefill_graphs
        origin = f"chunks of {chunk} tokens, " + (
            "captured" if graphs else "not captured" if graphs is False else "perhaps captured"
        )
        parts.append(Part("prefill", machine.prefill_gib(model, ranks, chunk // replicas, graphs), origin, inside=False))
    if settings.decode_graphs and settings.node != "prefill":
        origin = f"batches up to {batch} of {width} tokens"
        parts.append(Part("cuda graphs", machine.decode_gib(batch, width), origin, inside=False))
    parts.append(Part("sampler", machine.logits_gib(model, settings.tp, batch * width), "logits of a batch", inside=False))
    return parts
