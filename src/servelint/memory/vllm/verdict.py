"""How vLLM divides a GPU's memory, whether it starts in what is left, its own messages, and notes for a reader.

Messages: _check_enough_kv_cache_memory in vllm/v1/core/kv_cache_utils.py (from 0.33.0 kv_cache_planning.py; to 0.13.0
check_enough_kv_cache_memory), request_memory in vllm/v1/worker/utils.py (to 0.12.0 in vllm/v1/worker/gpu_worker.py).
"""

from __future__ import annotations

import math

from servelint.memory.plan import FITS, GIB, NEAR_GIB, OOM_RISK, REFUSED, TIGHT, Interval, MemoryPlan, Part, near
from servelint.memory.vllm import fitted
from servelint.memory.vllm.cache import STATE, KvCache
from servelint.memory.vllm.footprint import COMPILING, parts_inside, parts_outside
from servelint.memory.vllm.settings import ReleaseRules, VllmSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture

_DOCS = " See https://docs.vllm.ai/en/latest/configuration/conserving_memory/ for more details."
OUT_OF_MEMORY = "torch.OutOfMemoryError: CUDA out of memory."
"""The start of PyTorch's message where the weights do not fit. vLLM's own checks come after loading."""


def divide(plan: MemoryPlan, settings: VllmSettings, model: Architecture, weights: Part) -> None:
    """Fill in the parts of the plan, the budget, and the GiB left for the KV cache.

    Source: Worker.determine_available_memory in vllm/v1/worker/gpu_worker.py: the fraction of the whole memory, less the
    weights, the peak of the profiled run, memory outside PyTorch, and from 0.18.0 an estimate of the CUDA graphs where
    it is requested. With --kv-cache-memory-bytes the KV cache has that size and the fraction does not count.
    """
    total = settings.gpu.gib or 0.0
    if settings.offload:
        kept = weights.gib - Interval.exact(settings.offload)
        origin = f"{weights.origin}; --cpu-offload-gb {settings.offload:g}"
        weights = Part(weights.name, kept.map(lambda gib: max(gib, 0.0)), origin)
    plan.weights_gib = weights.gib.mid
    plan.parts = [weights, *parts_inside(settings, model)]
    plan.budget_gib = settings.fraction * total
    if settings.kv_bytes is not None:
        kv = Interval.exact(settings.kv_bytes / GIB)
        origin = "--kv-cache-memory-bytes"
    else:
        kv = Interval.exact(plan.budget_gib).less(part.gib for part in plan.parts)
        kv = Interval(kv.low, kv.mid, kv.high + settings.fraction * settings.gpu.spread)
        origin = f"what is left of {settings.fraction:g} of {total:.2f} GiB"
    plan.kv_gib = kv
    plan.parts.append(Part("kv cache", kv.map(lambda gib: max(gib, 0.0)), origin))
    profiled = next(part.gib for part in plan.parts if part.name == "activations")
    plan.parts += parts_outside(settings, model, profiled, weights.gib.mid)


def fill(plan: MemoryPlan, settings: VllmSettings, cache: KvCache) -> None:
    """Fill in what the KV cache holds: tokens, requests, and the longest context."""
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


def judge(plan: MemoryPlan, settings: VllmSettings, model: Architecture, cache: KvCache) -> None:
    """Fill in the verdict, and the engine's own message where it refuses."""
    total, kv, length = settings.gpu.gib, plan.kv_gib, settings.length
    if total is None or kv is None or length is None or plan.missing:
        return
    free = _free(settings, total)
    budget = settings.fraction * total
    need = 1.0 / GIB if settings.fitted else cache.need(length) / GIB
    if cache.rules.null_block:
        need += cache.bytes_of_block / GIB
    if settings.blocks is not None and settings.rules.since("0.20.1"):
        # the number that is given stands for the memory (get_kv_cache_configs)
        kv = Interval.exact(settings.blocks * cache.bytes_of_block / GIB)
    band = 0.0 if kv.known else near(total, settings.gpu.unified)
    least = max(need, 0.0)
    lines = _fill_states(plan, settings, model, cache, kv)
    measured = _measuring_gib(settings, cache) + plan.parts[0].gib.low - free.high
    if plan.parts[0].gib.low > free.high:
        plan.verdict = REFUSED
        plan.refusal = OUT_OF_MEMORY
        plan.notes.append(f"the weights alone are more than the {free.mid:.1f} GiB that are free: loading them fails")
    elif settings.kv_bytes is None and budget > free.high and not settings.rules.context_inside:
        plan.verdict = REFUSED
        plan.refusal = _not_free(free.mid, total, settings.fraction)
    elif kv.high + _encoder_gib(plan) < least and least - kv.mid >= band:
        plan.verdict = REFUSED
        plan.refusal = _refusal(settings, cache, kv)
    elif lines and settings.full_graphs and kv.high < lines and lines - kv.mid >= band:
        plan.verdict = REFUSED
        plan.refusal = _too_many(settings, cache, kv)
    elif measured > max(band, NEAR_GIB):
        plan.verdict = REFUSED
        plan.refusal = OUT_OF_MEMORY
        plan.notes.append("the blocks of states with which CUDA graphs are measured do not fit beside the weights")
    elif settings.kv_bytes is None and _leaves_nothing(plan, settings, total):
        plan.verdict = OOM_RISK
        plan.notes.append(
            f"--gpu-memory-utilization {settings.fraction:g} leaves {total - budget:.2f} GiB, less than CUDA's context and "
            "CUDA graphs take outside it: vLLM reports at start that too little is free, or dies when it captures them"
        )
    elif kv.low < max(least, lines) or kv.mid - max(least, lines) < band or (settings.kv_bytes is None and budget > free.low):
        plan.verdict = TIGHT
    elif measured > -NEAR_GIB:
        plan.verdict = TIGHT
        plan.notes.append("the blocks of states with which CUDA graphs are measured may not fit beside the weights")
    else:
        plan.verdict = _beside_fraction(plan, settings, model, cache, total)


def _fill_states(plan: MemoryPlan, settings: VllmSettings, model: Architecture, cache: KvCache, kv: Interval) -> float:
    """Fill in how many sequences the layers with state serve, and return the GiB of the KV cache that all sequences need.

    A block of every layer is the state of one sequence. The GiB are 0 where the release does not compare them.
    """
    rules = settings.rules
    if not any(one.kind == STATE for one in cache.kinds) or settings.full_graphs is False:
        return 0.0
    if rules.sequences == "captured":
        needed = settings.largest_batch if any(state.kind in ("gdn", "kda") for state in model.states) else 0
    else:
        needed = settings.sequences if rules.sequences else 0
    if not needed:
        return 0.0
    plan.sequences = needed
    if settings.blocks is not None:
        plan.state_pool = Interval.exact(settings.blocks)
    else:
        plan.state_pool = kv.map(lambda gib: float(cache.number_of_blocks(gib * GIB)))
    if settings.full_graphs is None and plan.state_pool.low < needed:
        plan.notes.append(
            f"{needed} sequences need as many blocks of states where decoding is captured in full CUDA graphs, and about "
            f"{plan.state_pool.mid:.0f} are there: whether it is captured so is unknown to servelint"
        )
    return needed * cache.bytes_of_block / GIB


def _measuring_gib(settings: VllmSettings, cache: KvCache) -> float:
    """GiB of the KV cache with which the size of CUDA graphs is measured, whatever the fraction; minus infinity for none.

    It has a block for each token of the largest batch that is captured, from 0.26.0 for each of its sequences
    (GPUModelRunner._init_minimal_kv_cache_for_profiling in vllm/v1/worker/gpu_model_runner.py). With states a block is large.
    """
    states = any(one.kind == STATE for one in cache.kinds)
    if not states or not settings.graphs_counted or settings.perhaps_eager or settings.gpu.vendor != "nvidia":
        return -math.inf
    blocks = min(settings.sequences, settings.captured) if settings.rules.since("0.26.0") else settings.captured
    return blocks * cache.bytes_of_block / GIB


def judge_without_cache(plan: MemoryPlan, settings: VllmSettings) -> None:
    """Fill in the verdict of a model that keeps no KV cache.

    Nothing is compared before it starts and nothing is profiled. Either there is room for a batch or not
    (EngineCore._initialize_kv_caches in vllm/v1/engine/core.py).
    """
    total, plan.kv_gib = settings.gpu.gib, None
    plan.parts = [part for part in plan.parts if part.name != "kv cache"]
    if total is None or plan.missing:
        return
    free = _free(settings, total)
    taken = Interval.sum(part.gib for part in plan.parts if part.inside)
    plan.notes.append("it keeps no KV cache, so its share of the GPU does not matter")
    if plan.parts[0].gib.low > free.high:
        plan.verdict, plan.refusal = REFUSED, OUT_OF_MEMORY
    else:
        plan.verdict = FITS if taken.high + NEAR_GIB < free.low else TIGHT


def _encoder_gib(plan: MemoryPlan) -> float:
    """The least GiB that the profiled run of the encoder of pictures takes: a start without one has as much more."""
    part = plan.part("activations")
    return part.gib.low if part is not None and "encoder" in part.origin else 0.0


def _free(settings: VllmSettings, total: float) -> Interval:
    """GiB that are free when the engine starts alone on the GPU (request_memory in vllm/v1/worker/utils.py)."""
    whole = Interval(total, total, total + settings.gpu.spread)
    if not settings.gpu.unified:
        return whole - fitted.CONTEXT
    alone = settings.tensor * settings.pipeline * settings.data == 1
    return whole - (fitted.TAKEN_UNIFIED if alone else fitted.TAKEN_UNIFIED_NODES)


def _refusal(settings: VllmSettings, cache: KvCache, kv: Interval) -> str:
    if kv.mid <= 0 or settings.length is None:
        return _no_memory(settings.rules)
    available = int(kv.mid * GIB)
    if settings.rules.zeroth:
        return (
            f"The model's max seq len ({settings.length}) is larger than the maximum number of tokens that can be stored in KV "
            f"cache ({cache.tokens(cache.number_of_blocks(available), settings.length)}). Try increasing "
            "`gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine."
        )
    longest = cache.longest(available, settings.length)
    return _too_long(settings.rules, settings.length, cache.need(settings.length), available, longest)


def _triton_fp4(settings: VllmSettings, model: Architecture) -> bool:
    """Whether Triton's kernels run experts in MXFP4 on Hopper: by default from 0.12.0, which brings them along.

    Source: has_triton_kernels in vllm/utils/import_utils.py; get_mxfp4_backend in
    vllm/model_executor/layers/quantization/mxfp4.py, after 0.18.0 layers/fused_moe/oracle/mxfp4.py.
    """
    config = settings.config
    others = ("env.VLLM_MXFP4_USE_MARLIN", "env.VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", "moe-backend")
    other = any(config.operand(name).value not in (None, "0", "auto", "triton") for name in others)
    mxfp4 = model.experts is not None and model.quantization.scheme == "mxfp4"
    return mxfp4 and not other and settings.rules.since("0.12.0") and settings.gpu.capability == 9.0


def _leaves_nothing(plan: MemoryPlan, settings: VllmSettings, total: float) -> bool:
    """Whether the fraction leaves less than what is certainly taken outside it.

    What the profiled run held is free again when graphs are captured, but the sampler needs it once more right after
    (Worker.compile_or_warm_up_model in vllm/v1/worker/gpu_worker.py), and so does the first full batch.
    """
    outside = [part.gib.low for part in plan.parts if not part.inside]
    left = (1 - settings.fraction) * (total + settings.gpu.spread)
    return not settings.gpu.unified and len(outside) > 1 and sum(outside) > left


def _beside_fraction(plan: MemoryPlan, settings: VllmSettings, model: Architecture, cache: KvCache, total: float) -> str:
    """The verdict of a start that passes vLLM's own check. CUDA graphs and warm-up use what lies outside the fraction."""
    if plan.max_concurrency is not None and plan.max_concurrency < 1:
        plan.notes.append(f"it starts, but its KV cache holds less than one request of {plan.max_model_len:,} tokens")
    most = plan.kv_gib.high * GIB if plan.kv_gib is not None else math.inf
    if settings.blocks is not None and cache.bytes_of_block * settings.blocks > most:
        plan.notes.append("--num-gpu-blocks-override takes more memory than the GPU has")
        return OOM_RISK
    if settings.gpu.unified:
        return FITS
    inside = Interval.sum(part.gib for part in plan.parts if part.inside and part.name != "cuda graphs")
    outside = [part.gib for part in plan.parts if not part.inside or part.name == "cuda graphs"]
    what = "what vLLM takes outside its fraction (CUDA graphs, CUDA's context)"
    if settings.graphs and _triton_fp4(settings, model):
        pieces, whole = fitted.GRAPHS_TRITON_FP4
        outside = [part.gib for part in plan.parts if not part.inside and part.name != "cuda graphs"]
        outside.append(pieces + whole.scaled(min(settings.sequences, settings.captured) / 1024))
        what = "what vLLM takes outside its fraction (CUDA graphs of Triton's kernels for MXFP4, CUDA's context)"
    if settings.graphs_counted and settings.tensor >= fitted.MANY_RANKS:
        outside.append(fitted.RANKS_LATER)
    held = max(plan.budget_gib or 0.0, inside.mid) if settings.kv_bytes is None else inside.mid
    counted = next((part.gib.mid for part in plan.parts if part.inside and part.name == "cuda graphs"), 0.0)
    left = total - held + counted
    if sum(gib.low for gib in outside) > left:
        plan.notes.append(f"{what} is more than it leaves")
        return OOM_RISK
    uncounted = settings.graphs and not settings.graphs_counted and settings.tensor >= fitted.MANY_RANKS
    doubt = 1.0 if settings.rules.context_inside or uncounted else fitted.DOUBT
    if sum(gib.mid + doubt * (gib.high - gib.mid) for gib in outside) > left:
        plan.notes.append(f"{what} may be more than it leaves")
        return TIGHT
    return FITS


def _too_many(settings: VllmSettings, cache: KvCache, kv: Interval) -> str:
    """The message where more sequences are to be captured than there are blocks of states."""
    if settings.rules.sequences == "captured":
        return "AssertionError: assert num_cache_lines >= batch"
    blocks = settings.blocks if settings.blocks is not None else cache.number_of_blocks(kv.mid * GIB)
    return (
        f"max_num_seqs ({settings.sequences}) exceeds available Mamba cache blocks ({blocks}). Each decode sequence requires "
        "one Mamba cache block, so CUDA graph capture cannot proceed. "
        f"Please lower max_num_seqs to at most {blocks} or increase gpu_memory_utilization."
    )


def _no_memory(rules: ReleaseRules) -> str:
    """The message where nothing is left for the KV cache."""
    text = "No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine"
    if rules.since("0.22.0"):
        text += " (this flag also controls CPU memory reservation on the CPU backend, despite its name)"
    return text + "." + (_DOCS if rules.since("0.13.0") else "")


def _too_long(rules: ReleaseRules, length: int, need: int, available: int, longest: int) -> str:
    """The message where a request of `length` tokens needs more bytes than are available. `longest` is what fits."""
    late = rules.since("0.22.0")
    hint = f"Based on the available memory, the estimated maximum model length is {longest}. " if longest else ""
    fraction = "`gpu_memory_utilization`" + (" (which also controls CPU memory on the CPU backend)" if late else "")
    return (
        f"To serve at least one request with the {'model' if late else 'models'}'s max seq len ({length}), "
        f"({need / GIB:.2f} GiB KV cache is needed, which is larger than the available KV cache memory "
        f"({available / GIB:.2f} GiB). {hint}Try increasing {fraction} or decreasing `max_model_len` "
        "when initializing the engine." + (_DOCS if rules.since("0.13.0") else "")
    )


def _not_free(free: float, total: float, fraction: float) -> str:
    """The message where less memory is free at the start than the fraction asks for. Sizes are GiB."""
    return (
        f"Free memory on device cuda:0 ({free:.2f}/{total:.2f} GiB) on startup is less than desired GPU memory utilization "
        f"({fraction}, {total * fraction:.2f} GiB). Decrease GPU memory utilization or reduce GPU memory used by "
        "other processes."
    )


def _may_name_a_cache(model: Architecture) -> bool:
    """Whether a checkpoint is ModelOpt's by its name alone, so that what it says of the KV cache is not known."""
    plain = model.quantization.method == "modelopt" and model.quantization.kv_cache is None
    return plain and any(source.endswith("by the name") for source in model.sources)


def add_notes(plan: MemoryPlan, settings: VllmSettings, model: Architecture, cache: KvCache, known_draft: bool) -> None:
    """Add notes on padding, on drafts, on what the printed size means, on ranks that hold the same, and on a second start."""
    if settings.kv_dtype == "auto" and settings.rules.fp8_of_model and _may_name_a_cache(model):
        plan.notes.append(
            f"the KV cache counts in {model.dtype}; if the checkpoint has scales for an FP8 cache, as ModelOpt's mostly have, "
            "auto selects that, and it holds twice as many tokens"
        )
    peak = plan.part("activations")
    if peak is not None and peak.origin.endswith(COMPILING):
        plan.notes.append(
            f"the first start compiles the model and counts that as activations: one that finds vLLM's compile cache has up to "
            f"{peak.gib.mid - peak.gib.low:.1f} GiB more for the KV cache"
        )
    if settings.method == "mtp" and settings.drafts and any(kind.kind == STATE for kind in cache.kinds):
        _drafted(plan, settings, model, cache)
    elif cache.padding:
        plan.notes.append(f"layers are grouped by {cache.size}; {cache.padding} pages of each block hold nothing")
    if len(cache.groups) > 1 and not settings.rules.printed and plan.kv_tokens is not None and plan.max_concurrency is not None:
        held = int(plan.max_concurrency * (plan.max_model_len or 0))
        plan.notes.append(
            f'"GPU KV cache size" divides the blocks among {len(cache.groups)} groups before 0.20.1: requests of '
            f"{plan.max_model_len:,} tokens find room for {held:,} tokens"
        )
    if settings.drafts and settings.method in ("eagle", "eagle3") and not known_draft:
        plan.notes.append("the EAGLE head is unknown: it counts as one layer of the model")
    needed, there = settings.tensor * settings.pipeline * settings.prefill, settings.config.operand("gpu.count").value
    if isinstance(there, int) and there < needed:
        plan.notes.append(
            f"it needs {needed} GPUs, and {there} {'is' if there == 1 else 'are'} there: the rest are on other nodes"
        )
    heads = max((layer.kv_heads for layer in model.attention if layer.mla is None), default=0)
    if heads and settings.tensor > heads and settings.tensor % heads == 0:
        copies = settings.tensor // heads
        plan.notes.append(f"{settings.tensor} ranks share {heads} key-value heads: each head is kept {copies} times")
    if any(layer.mla is not None for layer in model.attention) and settings.tensor > settings.decode:
        kept = "every rank of tensor parallelism keeps the whole latent cache"
        if settings.decode > 1:
            times = settings.tensor // settings.decode
            kept = f"the latent cache is divided among {settings.decode} ranks, and kept {times} times"
        plan.notes.append(f"{kept}; --decode-context-parallel-size divides it among as many as {settings.tensor}")
    if settings.data > 1:
        plan.notes.append(f"tokens and requests are those of one of {settings.data} replicas (--data-parallel-size)")


def _drafted(plan: MemoryPlan, settings: VllmSettings, model: Architecture, cache: KvCache) -> None:
    """Note what MTP costs a hybrid model: its attention layers join the model's, and every group grows to their number."""
    added = max(model.mtp_layers, 1)
    full = sum(layer.cached for layer in model.attention if layer.kind in ("full", "mla"))
    state = sum(one.layers for one in model.states)
    need = cache.blocks(next(kind for kind in cache.kinds if kind.kind == STATE), settings.length or 1)
    if cache.size > full:
        many = added > 1
        plan.notes.append(
            f"MTP's {added} attention layer{'s join' if many else ' joins'} the model's {full}: groups grow from {full} to "
            f"{cache.size} layers, those of the {state} layers with state too, so that every block takes "
            f"{100 * (cache.size / full - 1):.0f} % more ({cache.padding} pages of each block hold nothing)"
        )
    plan.notes.append(
        f"a request keeps {need} blocks for each group of layers with state, {settings.drafts} of them for draft tokens"
    )
