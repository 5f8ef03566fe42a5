"""How a GPU's memory is divided, and whether vLLM starts in what is left."""

from __future__ import annotations

from servelint.memory.plan import (
    FITS,
    GIB,
    NEAR_GIB,
    OOM_RISK,
    REFUSED,
    TIGHT,
    Interval,
    MemoryPlan,
    Part,
    near,
)
from servelint.memory.vllm import budget, fitted, refusals
from servelint.memory.vllm.cache import Cache
from servelint.memory.vllm.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture


def divide(plan: MemoryPlan, settings: Settings, model: Architecture, weights: Part) -> None:
    """Parts, budget and what is left for the KV cache.

    Source: Worker.determine_available_memory in vllm/v1/worker/gpu_worker.py: the fraction of the whole memory, less the
    weights, the peak of the profiled run, what torch does not account for, and from 0.18.0 an estimate of the CUDA graphs
    where it is asked for. With --kv-cache-memory-bytes the KV cache is as large as that says, and the fraction does not count.
    """
    total = settings.gpu.gib or 0.0
    if settings.offload:
        kept = weights.gib - Interval.exact(settings.offload)
        origin = f"{weights.origin}; --cpu-offload-gb {settings.offload:g}"
        weights = Part(weights.name, kept.map(lambda gib: max(gib, 0.0)), origin)
    plan.weights_gib = weights.gib.mid
    plan.parts = [weights, *budget.parts(settings, model)]
    plan.budget_gib = settings.fraction * total
    if settings.kv_bytes is not None:
        kv = Interval.exact(settings.kv_bytes / GIB)
        origin = "--kv-cache-memory-bytes"
    else:
        kv = Interval.exact(plan.budget_gib)
        for part in plan.parts:
            kv = kv - part.gib
        kv = _narrowed(kv, [part.gib for part in plan.parts])
        kv = Interval(kv.low, kv.mid, kv.high + settings.fraction * settings.gpu.spread)
        origin = f"what is left of {settings.fraction:g} of {total:.2f} GiB"
    plan.kv_gib = kv
    plan.parts.append(Part("kv cache", kv.map(lambda gib: max(gib, 0.0)), origin))
    plan.parts += budget.outside(settings)


def _narrowed(whole: Interval, parts: list[Interval]) -> Interval:
    """The interval of a difference whose parts vary apart from one another: their spreads add as squares do."""
    below = sum((part.high - part.mid) ** 2 for part in parts) ** 0.5
    above = sum((part.mid - part.low) ** 2 for part in parts) ** 0.5
    return Interval(whole.mid - below, whole.mid, whole.mid + above)


def fill(plan: MemoryPlan, settings: Settings, cache: Cache) -> None:
    """What the KV cache holds."""
    if plan.kv_gib is None or settings.length is None:
        return
    available = int(plan.kv_gib.mid * GIB)
    plan.largest_context = cache.longest(available, max(settings.context or 0, settings.length)) if available > 0 else 0
    length = settings.length
    if settings.fitted:
        length = min(length, plan.largest_context)
        plan.max_model_len = length or settings.length
    blocks = settings.blocks if settings.blocks is not None else cache.number_of_blocks(available)
    if blocks and length:
        plan.kv_tokens = cache.tokens(blocks, length)
        plan.max_concurrency = cache.concurrency(blocks, length)


def judge(plan: MemoryPlan, settings: Settings, model: Architecture, cache: Cache) -> None:
    """The verdict, and the engine's own words where it refuses."""
    total, kv, length = settings.gpu.gib, plan.kv_gib, settings.length
    if total is None or kv is None or length is None or plan.missing:
        return
    free = _free(settings, total)
    asked = settings.fraction * total
    need = 1.0 / GIB if settings.fitted else cache.need(length) / GIB
    if cache.rules.null_block:
        need += cache.bytes_of_block / GIB
    if settings.blocks is not None and settings.rules.since("0.20.1"):
        # the number that is given stands for the memory (get_kv_cache_configs)
        kv = Interval.exact(settings.blocks * cache.bytes_of_block / GIB)
    band = 0.0 if kv.known else near(total)
    least = max(need, 0.0)
    if plan.parts[0].gib.low > free.high:
        plan.verdict = REFUSED
        plan.refusal = refusals.OUT_OF_MEMORY
        plan.notes.append(f"the weights alone are more than the {free.mid:.1f} GiB that are free: loading them ends it")
    elif settings.kv_bytes is None and asked > free.high:
        plan.verdict = REFUSED
        plan.refusal = refusals.not_free(free.mid, total, settings.fraction)
    elif kv.high < least and least - kv.mid >= band:
        plan.verdict = REFUSED
        plan.refusal = _refusal(settings, cache, kv)
    elif settings.kv_bytes is None and _leaves_nothing(plan, settings, total):
        plan.verdict = OOM_RISK
        plan.notes.append(
            f"--gpu-memory-utilization {settings.fraction:g} leaves {total - asked:.2f} GiB, less than CUDA's context and CUDA "
            "graphs take outside it: vLLM says at once that too little is free, or dies when it captures them"
        )
    elif kv.low < least or kv.mid - least < band or (settings.kv_bytes is None and asked > free.low):
        plan.verdict = TIGHT
    else:
        plan.verdict = _after(plan, settings, model, cache, total)


def judge_without_cache(plan: MemoryPlan, settings: Settings) -> None:
    """The verdict of a model that keeps no KV cache: nothing is compared before it starts, and nothing profiled; there is room
    for a batch or not (EngineCore._initialize_kv_caches in vllm/v1/engine/core.py)."""
    total, plan.kv_gib = settings.gpu.gib, None
    plan.parts = [part for part in plan.parts if part.name != "kv cache"]
    if total is None or plan.missing:
        return
    free = _free(settings, total)
    taken = Interval.exact(0.0)
    for part in plan.parts:
        taken = taken + part.gib if part.inside else taken
    plan.notes.append("it keeps no KV cache, so that its share of the GPU does not count")
    if plan.parts[0].gib.low > free.high:
        plan.verdict, plan.refusal = REFUSED, refusals.OUT_OF_MEMORY
    else:
        plan.verdict = FITS if taken.high + NEAR_GIB < free.low else TIGHT


def _free(settings: Settings, total: float) -> Interval:
    """GiB that are free when the engine starts, on a GPU that nobody else uses (request_memory in vllm/v1/worker/utils.py)."""
    whole = Interval(total, total, total + settings.gpu.spread)
    return whole - (fitted.TAKEN_UNIFIED if settings.gpu.unified else fitted.CONTEXT)


def _refusal(settings: Settings, cache: Cache, kv: Interval) -> str:
    if kv.mid <= 0 or settings.length is None:
        return refusals.no_memory(settings.rules)
    available = int(kv.mid * GIB)
    longest = cache.longest(available, settings.length)
    return refusals.too_long(settings.rules, settings.length, cache.need(settings.length), available, longest)


def _captures_fp4(settings: Settings, model: Architecture, total: float) -> bool:
    """Whether a start may die in graph capture whatever its fraction leaves."""
    given = settings.config.operand("quantization").value
    fp4 = model.quantization.scheme == "nvfp4" or given in ("modelopt_fp4", "nvfp4")
    wide = settings.graphs and settings.captured > fitted.FP4_CAPTURED
    return fp4 and wide and total < fitted.FP4_GPU_GIB and (settings.gpu.capability or 0.0) >= 12.0


def _leaves_nothing(plan: MemoryPlan, settings: Settings, total: float) -> bool:
    """Whether the fraction leaves less than what is certainly taken outside it. What the profiled run held is free again when
    graphs are captured, but the sampler needs it once more right after them (Worker.compile_or_warm_up_model in
    vllm/v1/worker/gpu_worker.py), and so does the first full batch."""
    outside = [part.gib.low for part in plan.parts if not part.inside]
    left = (1 - settings.fraction) * (total + settings.gpu.spread)
    return not settings.gpu.unified and len(outside) > 1 and sum(outside) > left


def _after(plan: MemoryPlan, settings: Settings, model: Architecture, cache: Cache, total: float) -> str:
    """What becomes of a start that passes vLLM's own check: CUDA graphs and warm-up take of what lies outside its fraction."""
    if plan.max_concurrency is not None and plan.max_concurrency < 1:
        plan.notes.append(f"it starts, and yet its KV cache holds less than one request of {plan.max_model_len:,} tokens")
    if (
        settings.blocks is not None
        and plan.kv_gib is not None
        and cache.bytes_of_block * settings.blocks > plan.kv_gib.high * GIB
    ):
        plan.notes.append("--num-gpu-blocks-override takes more memory than there is")
        return OOM_RISK
    if settings.gpu.unified:
        return FITS
    inside = Interval.exact(0.0)
    for part in plan.parts:
        if part.inside and part.name != "cuda graphs":
            inside = inside + part.gib
    outside = [part.gib for part in plan.parts if not part.inside or part.name == "cuda graphs"]
    held = max(plan.budget_gib or 0.0, inside.mid) if settings.kv_bytes is None else inside.mid
    counted = next((part.gib.mid for part in plan.parts if part.inside and part.name == "cuda graphs"), 0.0)
    left = total - held + counted
    if sum(gib.low for gib in outside) > left:
        plan.notes.append("what vLLM takes outside its fraction (CUDA graphs, CUDA's context) is more than it leaves")
        return OOM_RISK
    if sum(gib.mid + fitted.DOUBT * (gib.high - gib.mid) for gib in outside) > left:
        plan.notes.append("what vLLM takes outside its fraction (CUDA graphs, CUDA's context) may be more than it leaves")
        return TIGHT
    if _captures_fp4(settings, model, total):
        plan.notes.append("NVFP4 on such a GPU has died in graph capture at any fraction; --enforce-eager started it")
        return TIGHT
    return FITS
