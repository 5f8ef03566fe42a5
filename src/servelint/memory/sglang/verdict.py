"""Whether SGLang starts: its own refusals, and what has to fit into the part of a GPU that the fraction leaves."""

from __future__ import annotations

import math

from servelint.memory.plan import FITS, GIB, OOM_RISK, REFUSED, TIGHT, UNKNOWN, Interval, MemoryPlan, Part
from servelint.memory.sglang import footprint
from servelint.memory.sglang.pools import Inputs, OnGpu, Pools, pools_of
from servelint.memory.sglang.settings import BLOCKS

BOUND_GIB = 0.3
"""A pool with less GiB than this is `tight`, whatever the interval says: rounding in allocators makes as much difference."""


def judge(found: MemoryPlan, given: Inputs, on: OnGpu, rest: Interval, pools: Pools) -> None:
    """Fill in the verdict, and the engine's own message where it refuses.

    `rest` is the GiB that the fraction leaves after the weights, and `pools` what its most likely value holds.
    """
    if found.missing:
        found.verdict = UNKNOWN
        return
    if rest.high < -BOUND_GIB:
        found.verdict = REFUSED
        found.refusal = refusal(given, on, rest)
        return
    if rest.mid > 0 and _no_request(pools):
        surely = _no_request(pools_of(given, rest.high))  # not even in the largest plausible pool
        found.verdict = REFUSED if rest.mid > BOUND_GIB and surely else TIGHT
        found.refusal = no_request(given, pools)
        return
    if rest.low < BOUND_GIB:
        found.verdict = TIGHT
        if rest.mid <= 0:
            found.refusal = refusal(given, on, rest)
        return
    found.verdict = _beside_fraction(found, given, on, pools)


def _no_request(pools: Pools) -> bool:
    if pools.states is not None and (pools.states.slots <= 0 or pools.states.requests <= 0):
        return True
    return pools.pool is not None and pools.pool.tokens <= 0


def refusal(given: Inputs, on: OnGpu, rest: Interval) -> str:
    """The message of the release where the weights leave nothing.

    Source: init_memory_pool in srt/model_executor/model_runner.py (0.4.0 line 503, 0.5.3rc2 line 1477), MemoryPoolConfig in
    model_runner_kv_cache_mixin.py (0.5.10rc0 line 50), _profile_available_bytes (0.5.14 line 102, 0.5.23 line 3041).
    """
    fraction = on.defaults.fraction
    if given.release.since("0.5.14"):
        taken = on.free.mid * fraction - rest.mid
        least = min(1.0, taken / on.free.mid)
        return (
            f"Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static={fraction:g}. Raise "
            f"--mem-fraction-static above {math.ceil(least * 1000) / 1000:.3f} (minimum viable = 1 - available/pre = "
            f"{least:.4f}). If using speculative decoding, draft weights are now counted."
        )
    text = "Not enough memory. Please try to increase --mem-fraction-static."
    if given.release.since("0.5.10rc0"):
        return f"{text} Current value: mem_fraction_static={fraction:g}"
    if given.release.since("0.5.3rc2"):
        return f"{text} Current value: self.server_args.mem_fraction_static={fraction:g}"
    return text


def no_request(given: Inputs, pools: Pools) -> str:
    """The message of the release where no slot of states, or no request, is left.

    Source: handle_max_mamba_cache and _resolve_max_num_reqs in srt/model_executor/model_runner_kv_cache_mixin.py (0.5.13 lines
    82 and 876); before, srt/managers/tp_worker.py (0.5.7 line 322).
    """
    held = pools.states
    if held is None or (held.slots > 0 and held.requests > 0):
        return "Not enough memory. Please try to increase --mem-fraction-static."
    if not given.release.since("0.5.13"):
        return "max_running_request is zero"
    if held.slots <= 0:
        return (
            f"Not enough GPU memory for hybrid (mamba/linear-attention) state cache. Computed max_mamba_cache_size={held.slots}"
        )
    return (
        "Hybrid (mamba/linear-attention) state cache is too small to serve any requests. "
        f"max_mamba_cache_size={held.slots}, mamba_ratio={held.a_request}, resulting max_num_reqs=0."
    )


def _beside_fraction(found: MemoryPlan, given: Inputs, on: OnGpu, pools: Pools) -> str:
    """The verdict of a start that passes SGLang's own check.

    Tables of requests, graphs, activations and (before 0.5.14) the draft have to fit into what the fraction leaves.
    """
    left = on.free.scaled(1 - on.defaults.fraction)
    if pools.pool is not None and given.settings.limit is not None:
        held = pools.kv_gib + pools.states_gib
        taken = (found.weights_gib or 0.0) + (given.adapters.mid if given.adapters is not None else 0.0)
        spare = on.free.mid * on.defaults.fraction - taken - held
        left = left + Interval.exact(max(0.0, spare))
    found.parts += _outside(given, on, pools)
    need = Interval.sum(part.gib for part in found.parts if not part.inside)
    if left.high < need.low:
        found.notes.append(f"the fraction leaves {left.mid:.1f} GiB of a GPU, graphs and activations need about {need.mid:.1f}")
        return OOM_RISK
    block = given.settings.speculation is not None and given.settings.speculation.algorithm in BLOCKS
    if left.low < (need.mid + need.high) / 2 or (block and left.low < 2 * need.high):
        found.notes.append(
            f"the fraction leaves {left.mid:.1f} GiB, graphs and activations may need {need.mid:.1f} to {need.high:.1f}"
        )
        return TIGHT
    return FITS


def _outside(given: Inputs, on: OnGpu, pools: Pools) -> list[Part]:
    """What is taken after the pools."""
    settings, model, ranks = given.settings, given.model, given.attention_ranks
    rows = max(1, pools.requests)
    table = (rows + 1) * ((given.context or 4096) + 4) * 4 / GIB
    chunk = on.defaults.chunk if on.defaults.chunk > 0 else settings.prefill
    replicas = settings.replicas
    parts = [Part("request table", Interval.exact(table), f"{rows} requests of {given.context} tokens", inside=False)]
    batch = min(on.defaults.batch, rows)
    width = settings.speculation.tokens if settings.speculation is not None else 1
    if settings.node != "decode":
        graphs = given.prefill_graphs
        captured = {True: "captured", False: "not captured", None: "perhaps captured"}[graphs]
        origin = f"chunks of {chunk} tokens, {captured}"
        parts.append(Part("prefill", footprint.prefill_gib(model, ranks, chunk // replicas, graphs), origin, inside=False))
    if settings.decode_graphs and settings.node != "prefill":
        origin = f"batches up to {batch} of {width} tokens"
        parts.append(Part("cuda graphs", footprint.decode_gib(batch, width), origin, inside=False))
    parts.append(Part("sampler", footprint.logits_gib(model, settings.tp, batch * width), "logits of a batch", inside=False))
    return parts
