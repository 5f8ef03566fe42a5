"""Checks of a memory plan: launches that certainly do not fit on the named GPU, or that waste its memory, and what helps.

The arithmetic is servelint.memory's, which names the engine's files release by release. Nothing of it is imported before a GPU
is named.
"""

from __future__ import annotations

import re
from weakref import WeakKeyDictionary

from servelint.core.launch import Launch
from servelint.engines import ENGINES
from servelint.engines.config import Config, configs
from servelint.judge.checks import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.memory.plan import MemoryPlan

_known: WeakKeyDictionary[Config, MemoryPlan] = WeakKeyDictionary()
"""Plans by config: several rules use the same one."""
_joint: WeakKeyDictionary[Config, MemoryPlan] = WeakKeyDictionary()
"""Plans over several releases, by the config of the newest."""


# -- plans


def plan(config: Config) -> MemoryPlan | None:
    """The memory plan of a launch; None if no GPU is named, or if something that the plan needs is unknown."""
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


def planned_as_one(launch: Launch) -> Config | None:
    """A launch without a pinned release under the newest release that may start it, whose plan is that over all of them.

    None without arithmetic for its engine, and where no GPU of known memory is named.
    """
    if not ENGINES[launch.engine].plans_memory or configs(launch, [])[0].operand("gpu.memory-gib").value is None:
        return None
    from servelint.judge.releases import able_releases

    found = able_releases(launch)
    _joint[found[-1]] = joint(found)
    return found[-1]


def joint(several: list[Config]) -> MemoryPlan:
    """Plan a launch, given under each release that it may run on, oldest first.

    Words that are not resolved may be options that change the plan. So a plan with such words refuses nothing for certain.
    """
    from servelint.memory import plan_over
    from servelint.memory.plan import OOM_RISK, REFUSED, TIGHT

    found = plan_over(several)
    arguments = several[-1].reading.arguments
    if found.verdict in (REFUSED, OOM_RISK) and (not arguments.complete or arguments.possible):
        found.notes.append("not all words of the command are resolved: options among them may change this plan")
        found.verdict, found.refusal = TIGHT, None
    return found


def _verdict(config: Config, *verdicts: str) -> MemoryPlan | None:
    """The plan that decides about a launch, if it has one of some verdicts."""
    found = _joint.get(config) or plan(config)
    return found if found is not None and not found.missing and found.verdict in verdicts else None


def changed(config: Config, *settings: tuple[str, str]) -> MemoryPlan | None:
    """The plan with options set to values; None if the release lacks one of them, or if the plan is unknown."""
    from servelint.memory import variants

    for option, value in settings:
        if not _has(config, option):
            return None
        config = variants.changed(config, option, value)
    return plan(config)


def plain(config: Config) -> MemoryPlan | None:
    """The plan without speculative decoding; None if there is none."""
    from servelint.memory import variants

    other = variants.without_speculation(config)
    return plan(other) if other is not None else None


def _has(config: Config, option: str) -> bool:
    catalog = config.catalog
    if catalog is None:
        return False
    index = config.index if config.index is not None else catalog.nearest(config.release)
    return catalog.table(index).find("--" + option) is not None


def _times(new: float, old: float) -> str:
    """A ratio as messages print it: "2.1x"."""
    return f"{new / old:.1f}x"


def _gib(size: float) -> str:
    return f"{size:.1f}"


def _where(found: MemoryPlan) -> str:
    """The GPUs as messages print them: "4 x h100-80gb"."""
    name = found.gpu or "GPU"
    return name if found.gpu_count == 1 else f"{found.gpu_count} x {name}"


# -- launches that do not start

_LARGER = ("0.85", "0.90", "0.92", "0.95")
_SMALLER = ("0.97", "0.95", "0.92", "0.90")
_SHORTEST = 2048
_MEASURED = "the blocks of states with which CUDA graphs are measured do not fit beside the weights"
_SEQUENCES = (512, 384, 256, 192, 128, 96, 64, 48, 32, 16, 8, 4, 2, 1)


def refused(config: Config) -> dict[str, str] | None:
    """Weights that certainly do not fit into the engine's share of the GPU, and what would fit."""
    found = _verdict(config, "refused")
    if found is None or _is_too_long(found) or _is_too_many(found):
        return None
    remedy = found.remedy or (_fewer(config, found) if _MEASURED in found.notes else _remedy(config, found))
    return {"where": _where(found), "reason": (found.reason or _reason(found)) + _planned_as(found), "remedy": remedy}


_SHARDS = {
    "tgi": ("num-shard",),
    "lmdeploy": ("tp",),
    "trtllm": ("tensor-parallel-size", "pipeline-parallel-size"),
    "vllm": ("tensor-parallel-size", "pipeline-parallel-size"),
}
"""engine -> the options that divide the weights over GPUs: those of each layer, then the layers"""
_LARGEST_SHARE = 0.92
"""The default of --gpu-memory-utilization in vLLM is 0.9 in earlier releases, and 0.92 in later ones."""


def weights_refused(config: Config) -> dict[str, str] | None:
    """Weights that are larger than their GPUs, for an engine whose memory is not planned, or not for this model."""
    from servelint.models import folder
    from servelint.models.weights import weigh

    engine, total = config.launch.engine, config.operand("gpu.memory-gib").value
    arguments = config.reading.arguments
    model = folder.model_of(config.launch, config.text(ENGINES[engine].model_option or "model"))
    if model is None or not isinstance(total, (int, float)) or not arguments.complete or arguments.possible:
        return None
    if plan(config) is not None:
        return None
    names = _SHARDS[engine]
    if any(config.operand(name).present is not False and whole(config, name) is None for name in names):
        return None
    parts = [whole(config, name) for name in names]
    if parts[0] is None and engine == "tgi":
        parts = [whole(config, "gpu.count")]  # all that the launcher sees
        if parts[0] is None:
            return None
    sizes = [size or 1 for size in parts]
    weighed = weigh(model, tensor=sizes[0], pipeline=sizes[-1] if len(sizes) > 1 else 1, vision=False)
    if weighed is None or weighed.low <= total * _share(config):
        return None
    return {"weights": _gib(weighed.low), "memory": _gib(total)}


def _share(config: Config) -> float:
    """The largest part of a GPU's memory that holds weights: all of it where the engine does not limit itself."""
    given = config.operand("gpu-memory-utilization")
    if config.launch.engine != "vllm" or given.present is None:
        return 1.0
    if given.present is False:
        return _LARGEST_SHARE
    return given.value if isinstance(given.value, float) else 1.0


def too_long(config: Config) -> dict[str, str] | None:
    """A KV cache that certainly holds less than one request of the longest length: vLLM does not start.

    Source: _check_enough_kv_cache_memory in vllm-0.33.0 vllm/v1/core/kv_cache_planning.py; see servelint.memory.vllm.refusals.
    """
    found = _verdict(config, "refused")
    if found is None or found.kv_gib is None or found.need_gib is None or not _is_too_long(found):
        return None
    return {
        "where": _where(found),
        "length": str(found.max_model_len),
        "need": _gib(found.need_gib),
        "left": _gib(found.kv_gib.mid) + _planned_as(found),
        "remedy": _remedy(config, found),
    }


def _is_too_long(found: MemoryPlan) -> bool:
    """Whether a plan refuses because one request of the longest length needs more than the KV cache that is left."""
    kv, need = found.kv_gib, found.need_gib
    if kv is None or need is None or _not_free(found) or not ENGINES[found.engine].needs_one_request:
        return False
    return kv.mid > 0 and kv.high < need


def too_many(config: Config) -> dict[str, str] | None:
    """More sequences than the layers with state have blocks for: vLLM refuses to capture CUDA graphs.

    Source: resolve_cudagraph_mode_and_sizes in vllm-0.33.0 vllm/config/compilation.py; see servelint.memory.vllm.verdict.
    """
    found = _verdict(config, "refused")
    if found is None or not _is_too_many(found) or found.state_pool is None:
        return None
    low, high = round(found.state_pool.low), round(found.state_pool.high)
    return {
        "where": _where(found),
        "sequences": str(found.sequences),
        "blocks": (f"about {low} to {high}" if low != high else str(low)) + _planned_as(found),
        "remedy": _fewer(config, found),
    }


def _is_too_many(found: MemoryPlan) -> bool:
    """Whether a plan refuses because more sequences are to be captured than there are blocks of states."""
    return (found.refusal or "").startswith(("max_num_seqs (", "AssertionError: assert num_cache_lines"))


def _fewer(config: Config, found: MemoryPlan) -> str:
    """The largest number of sequences that certainly fits; else what else may help."""
    return _enough(config, found) or _remedy(config, found)


def _enough(config: Config, found: MemoryPlan) -> str | None:
    """The largest number of sequences, as people write them, that certainly fits."""
    pool = min(found.state_pool.low, found.sequences or 0) if found.state_pool is not None else 0.0
    for count in _SEQUENCES:
        other = changed(config, ("max-num-seqs", str(count))) if count < pool else None
        if other is not None and other.verdict == "fits":
            return f"write --max-num-seqs {count}, which fits"
    return None


def _planned_as(found: MemoryPlan) -> str:
    """Which releases the figures of a plan hold for, where no release is pinned."""
    first, last = found.releases[0], found.releases[-1]
    return f" (planned for {first} to {last})" if first != last else ""


def _not_free(found: MemoryPlan) -> bool:
    return (found.refusal or "").startswith("Free memory on device")


def _reason(found: MemoryPlan) -> str:
    """Why a launch certainly does not start."""
    kv, weights, total = found.kv_gib, found.weights_gib or 0.0, found.gpu_gib or 0.0
    budget = found.budget_gib if found.budget_gib is not None and kv is not None else total
    if _not_free(found):
        return f"it asks for {_gib(budget)} GiB, more than an empty GPU of {_gib(total)} GiB has free"
    if _MEASURED in found.notes:
        return _MEASURED
    if not ENGINES[found.engine].needs_one_request and kv is not None and kv.mid >= 0:
        return "no room is left for the states of one running request"
    if kv is not None and kv.mid > 0 and weights < budget:
        return f"its KV cache holds less than one request of {found.max_model_len} tokens"
    taken = f"its weights take {_gib(weights)} GiB of a GPU, of which the engine uses {_gib(max(budget, 0.0))}"
    beside = found.part("activations")
    if weights > budget or beside is None:
        return taken
    return f"{taken}, and {beside.name} {_gib(beside.gib.mid)} more"


def _remedy(config: Config, found: MemoryPlan) -> str:
    """The first change that certainly fits, and what it leaves; else the first that may fit."""
    perhaps = None
    if found.state_pool is not None and found.sequences and found.state_pool.mid < found.sequences and not _is_too_long(found):
        fewer = _enough(config, found)
        if fewer is not None:
            return fewer
    for change in _changes(config, found):
        other = changed(config, *change)
        if other is None or other.kv_gib is None or other.kv_gib.mid <= 0:
            continue
        words = " ".join(f"--{option} {value}" for option, value in change)
        leave = "leaves" if len(change) == 1 else "leave"
        size = _gib(other.kv_gib.mid)
        if other.verdict == "fits":
            return f"{words} {leave} {size} GiB for the KV cache"
        enough = not ENGINES[found.engine].needs_one_request or other.need_gib is None or other.kv_gib.mid >= other.need_gib
        if other.verdict == "tight" and enough and perhaps is None:
            perhaps = f"{words} may leave {size} GiB for the KV cache"
    without = plain(config)
    if without is not None and without.verdict == "fits" and without.kv_gib is not None:
        return f"without speculative decoding {_gib(without.kv_gib.mid)} GiB are left for the KV cache"
    experts, _ = ENGINES[found.engine].memory_experts
    if perhaps is None and experts and config.operand(experts).present:
        return f"lower --{experts}, or use more or larger GPUs"
    return perhaps or "use more or larger GPUs, or weights in fewer bits"


def _changes(config: Config, found: MemoryPlan) -> list[list[tuple[str, str]]]:
    """Changes of options that may help, the smallest first."""
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
    most = found.gpu_count * width // found.ranks  # the other dimensions keep their ranks
    tries += [[(engine.tensor_parallel_option, str(size))] for size in (2, 4, 8) if width < size <= most]
    tries += _wider_replicas(config, found, width)
    experts, counts = engine.memory_experts
    tries += [[(experts, str(count))] for count in counts if count < (whole(config, experts) or 0)]
    if engine.memory_reserves and not _not_free(found):
        tries.append([(fraction, "0.95"), engine.memory_reserves[0]])
    return tries


def _wider_replicas(config: Config, found: MemoryPlan, width: int) -> list[list[tuple[str, str]]]:
    """Fewer replicas with more GPUs each, on the same GPUs."""
    engine = ENGINES[config.launch.engine]
    replicas = whole(config, engine.data_parallel_option) if engine.data_parallel_option else None
    if replicas is None or replicas * width != found.ranks or found.ranks > found.gpu_count:
        return []
    sizes = [size for size in (2, 4, 8) if width < size and found.ranks % size == 0]
    return [
        [(engine.tensor_parallel_option, str(size)), (engine.data_parallel_option, str(found.ranks // size))] for size in sizes
    ]


def _shorter(config: Config, found: MemoryPlan) -> list[list[tuple[str, str]]]:
    from servelint.memory import variants

    longest = variants.largest_context([config], found) or 0
    context = config.family.facts.get("context") if config.family is not None else None
    if isinstance(context, int):
        longest = min(longest, context)  # a longer one is refused for the model's sake
    return [[("max-model-len", str(longest // 1024 * 1024))]] if longest >= _SHORTEST else []


# -- launches that may not start

_LIKELY_GIB, _LIKELY_SHARE = 0.5, 0.02


def may_not_start(config: Config) -> dict[str, str] | None:
    """A start that is more likely refused than not, where the interval of the plan does not decide it."""
    found = plan(config)
    if found is None or found.verdict != "tight" or found.kv_gib is None:
        return None
    reason = _likely(found)
    return {"where": _where(found), "reason": reason, "remedy": _remedy(config, found)} if reason is not None else None


def _likely(found: MemoryPlan) -> str | None:
    """What is lacking by the middle of the interval, in words; None if nothing certain enough is."""
    kv, needed, pool = found.kv_gib, found.need_gib, found.state_pool
    if kv is None or needed is None or not ENGINES[found.engine].needs_one_request:
        return None
    between = f"{_gib(kv.mid)} GiB ({_gib(kv.low)} to {_gib(kv.high)}) are left for the KV cache"
    if needed - kv.mid >= _LIKELY_GIB and found.largest_context != found.max_model_len:
        return f"about {between}, and one request of {found.max_model_len} tokens needs {_gib(needed)}"
    certain = not any("is unknown to servelint" in note for note in found.notes)
    if pool is not None and found.sequences and certain and pool.mid < found.sequences * (1 - _LIKELY_SHARE):
        blocks = f"{pool.mid:.0f} blocks of states ({pool.low:.0f} to {pool.high:.0f})"
        return f"about {blocks} are left, and each of {found.sequences} sequences needs one"
    return None


# -- blocks of states


def block_above_batch(config: Config) -> dict[str, str] | None:
    """A block of states that is larger than a batch, which the release asserts against.

    Source: validate_block_size in vllm-0.26.0 vllm/config/vllm.py, __post_init__ there in 0.17.0.
    """
    found = _block_above_batch(config)
    known = config.operand("max-num-batched-tokens").present is True or config.operand("gpu.memory-gib").value is not None
    return found if known else None


def block_may_be_above_batch(config: Config) -> dict[str, str] | None:
    """The same where the GPU is not known, and with it the size of a batch: 2,048 tokens below 70 GiB."""
    known = config.operand("max-num-batched-tokens").present is not False or config.operand("gpu.memory-gib").value is not None
    return _block_above_batch(config) if not known else None


def _block_above_batch(config: Config) -> dict[str, str] | None:
    arguments = config.reading.arguments
    if not arguments.complete or arguments.possible:
        return None
    from servelint.memory.vllm import aligned_block

    found = aligned_block(config)
    if found is None or found[0] <= found[1]:
        return None
    return {"block": str(found[0]), "batched": str(found[1])}


def state_outgrown(config: Config) -> dict[str, str] | None:
    """A state with drafts that is larger than the page that the release plans for it without them."""
    arguments = config.reading.arguments
    if not arguments.complete or arguments.possible:
        return None
    from servelint.memory.vllm import outgrown_state

    found = outgrown_state(config)
    return {"page": f"{found[0]:,}", "state": f"{found[1]:,}"} if found is not None else None


# -- launches that may run out of memory

_SHARES_FOR_GRAPHS = ("0.95", "0.92", "0.90", "0.85")


def _with_less(config: Config, shares: tuple[str, ...]) -> str | None:
    """The first smaller memory fraction that fits, with the GiB that it leaves; None if none fits."""
    option = ENGINES[config.launch.engine].memory_fraction_option
    given = config.operand(option).value
    for share in shares:
        if isinstance(given, (int, float)) and float(share) >= given:
            continue
        other = changed(config, (option, share))
        if other is not None and other.verdict == "fits" and other.kv_gib is not None:
            return f"--{option} {share} leaves room, and {_gib(other.kv_gib.mid)} GiB for the KV cache"
    return None


def after_pools(config: Config) -> dict[str, str] | None:
    """Graphs and activations that certainly do not fit beside the memory pools, into what the memory fraction leaves."""
    found = _verdict(config, "oom-risk")
    if found is None:
        return None
    outside = [part for part in found.parts if not part.inside]
    largest = max(outside, key=lambda part: part.gib.mid, default=None)
    engine = ENGINES[config.launch.engine]
    lower = f"lower --{engine.memory_fraction_option}, or capture fewer and smaller batches"
    return {
        "where": _where(found),
        "need": _gib(sum(part.gib.mid for part in outside)),
        "largest": largest.name if largest is not None else "cuda graphs",
        "remedy": _with_less(config, engine.memory_fractions) or lower,
    }


def no_graphs(config: Config) -> dict[str, str] | None:
    """A fraction that leaves less of the GPU than CUDA's context and CUDA graphs certainly take outside of it.

    Source: Worker.determine_available_memory and compile_or_warm_up_model in vllm/v1/worker/gpu_worker.py, 0.10.0 to 0.33.0.
    """
    found = _verdict(config, "oom-risk")
    if found is None or found.gpu_gib is None or found.budget_gib is None:
        return None
    left, need = found.gpu_gib - found.budget_gib, sum(part.gib.low for part in found.parts if not part.inside)
    if left >= need:
        return None
    remedy = _with_less(config, _SHARES_FOR_GRAPHS) or "write 0.95 or less, or --enforce-eager"
    return {"where": _where(found), "left": f"{left:.2f}", "need": f"{need:.2f}", "remedy": remedy}


def kv_bytes(config: Config) -> dict[str, str] | None:
    """A KV cache of --kv-cache-memory-bytes beside which weights, activations and CUDA graphs certainly do not fit.

    Source: Worker.determine_available_memory in vllm-0.33.0 vllm/v1/worker/gpu_worker.py: the number is taken as it is.
    """
    option = "kv-cache-memory-bytes"
    found = _verdict(config, "oom-risk")
    if found is None or found.gpu_gib is None or found.kv_gib is None:
        return None
    if config.operand(option).value is None:
        return None
    remedy = f"delete --{option}: {config.shown or 'vLLM'} measures what is left"
    for size in range(int(min(found.kv_gib.mid, found.gpu_gib)), 0, -1):
        other = changed(config, (option, str(size * 2**30)))
        if other is not None and other.verdict == "fits":
            remedy = f"write --{option} {size * 2**30} ({size} GiB), which fits"
            break
    return {
        "where": _where(found),
        "size": _gib(found.kv_gib.mid),
        "others": _gib(sum(part.gib.mid for part in found.parts if part.name != "kv cache")),
        "gpu": _gib(found.gpu_gib),
        "remedy": remedy,
    }


def may_run_out(config: Config) -> dict[str, str] | None:
    """A start that passes vLLM's own check and certainly lacks memory later, where no other check of this module says why."""
    found = _verdict(config, "oom-risk")
    fraction = config.operand("gpu-memory-utilization").present is True
    if found is None or (fraction and no_graphs(config) is not None) or kv_bytes(config) is not None:
        return None
    outside = [part for part in found.parts if not part.inside or part.name == "cuda graphs"]
    need = sum(part.gib.low for part in outside)
    held = (found.gpu_gib or 0.0) - (found.budget_gib or 0.0)
    if config.operand("num-gpu-blocks-override").present is not False:
        return {
            "where": _where(found),
            "reason": "--num-gpu-blocks-override takes more memory than the GPU has",
            "remedy": "delete --num-gpu-blocks-override",
        }
    remedy = _with_less(config, _SHARES_FOR_GRAPHS) or "lower --gpu-memory-utilization, or add --enforce-eager"
    reason = f"CUDA graphs and CUDA's context need at least {need:.2f} GiB beside the fraction, which leaves {held:.2f}"
    return {"where": _where(found), "reason": reason, "remedy": remedy}


# -- launches that waste memory

_WORTH_GIB = 1.0
_WORTH_TIMES = 1.25
_FEWER_TOKENS = 8192
_FEWER_SEQUENCES = 64
_SHARE_WITH_DRAFTS = 0.6
_DRAFTS = ("draft weights", "draft kv cache")
_MORE = r" joins the model's .* takes (\d+) % more"
_WORTH_PADDING = 8


def batched_tokens(config: Config) -> dict[str, str] | None:
    """Activations of a large --max-num-batched-tokens that take a good part of the KV cache.

    Source: Worker.determine_available_memory in vllm-0.33.0 vllm/v1/worker/gpu_worker.py profiles one batch of as many tokens.
    """
    tokens = whole(config, "max-num-batched-tokens")
    if tokens is None or tokens <= _FEWER_TOKENS:
        return None
    return _reserved(config, plan(config), "max-num-batched-tokens", _FEWER_TOKENS)


def sequences(config: Config) -> dict[str, str] | None:
    """Memory reserved to sample for every sequence of --max-num-seqs at once: with a large vocabulary it eats the KV cache.

    Source: GPUModelRunner._dummy_sampler_run in vllm-0.33.0 vllm/v1/worker/gpu_model_runner.py; servelint.memory.vllm.budget.
    """
    found = plan(config)
    activations = found.part("activations") if found is not None else None
    if activations is None or not activations.origin.startswith("the sampler"):
        return None
    return _reserved(config, found, "max-num-seqs", _FEWER_SEQUENCES)


def _reserved(config: Config, found: MemoryPlan | None, option: str, fewer: int) -> dict[str, str] | None:
    """Memory reserved for activations, where a smaller number for an option certainly frees much of it for the KV cache."""
    if found is None or found.kv_gib is None or found.kv_gib.mid <= 0:
        return None
    activations, other = found.part("activations"), changed(config, (option, str(fewer)))
    smaller = other.part("activations") if other is not None else None
    if activations is None or other is None or smaller is None or other.kv_gib is None:
        return None
    freed = other.kv_gib.mid - found.kv_gib.mid
    if smaller.gib.high >= activations.gib.low or freed < _WORTH_GIB or other.kv_gib.mid < _WORTH_TIMES * found.kv_gib.mid:
        return None
    gain = _times(other.kv_gib.mid, found.kv_gib.mid)
    return {
        "where": _where(found),
        "reserve": _gib(activations.gib.mid),
        "left": _gib(found.kv_gib.mid),
        "remedy": f"--{option} {fewer} frees {_gib(freed)} GiB: {gain} the KV cache",
    }


def one_request(config: Config) -> dict[str, str] | None:
    """A KV cache that certainly holds less than one request of the context length: SGLang starts anyway.

    Source: sglang-0.5.23 srt/managers/tp_worker.py line 421 (0.4.6 line 120): max_req_len is at most max_total_num_tokens.
    """
    found = plan(config)
    if found is None or found.kv_gib is None or found.need_gib is None or not found.kv_tokens or found.max_model_len is None:
        return None
    if found.verdict not in ("fits", "oom-risk") or found.kv_gib.high >= found.need_gib:
        return None
    remedy = f"write --context-length {found.kv_tokens // 1024 * 1024}, or use more or larger GPUs"
    other = changed(config, ("kv-cache-dtype", "fp8_e4m3"))
    if other is not None and other.kv_tokens and other.kv_tokens >= 1.5 * found.kv_tokens:
        remedy += f"; --kv-cache-dtype fp8_e4m3 holds {other.kv_tokens} tokens"
    return {"where": _where(found), "tokens": str(found.kv_tokens), "remedy": remedy}


def drafts(config: Config) -> dict[str, str] | None:
    """Speculative decoding that leaves less than 60 % of the KV cache: the draft, its cache, the states of tokens to verify."""
    found = plan(config)
    if found is None or found.verdict not in ("fits", "tight", "oom-risk") or not found.kv_tokens:
        return None
    without = plain(config)
    if without is None or not without.kv_tokens or found.kv_tokens >= _SHARE_WITH_DRAFTS * without.kv_tokens:
        return None
    if found.kv_gib is None or without.kv_gib is None or found.kv_gib.high >= without.kv_gib.low:
        return None
    return {
        "where": _where(found),
        "tokens": str(found.kv_tokens),
        "plain": str(without.kv_tokens),
        "less": _times(without.kv_tokens, found.kv_tokens),
        "drafts": _gib(sum(part.gib.mid for part in found.parts if part.name in _DRAFTS)),
    }


def padding(config: Config) -> dict[str, str] | None:
    """Multi-token prediction on a hybrid model: its attention layer makes every group larger, with empty pages.

    Source: _get_kv_cache_groups_uniform_page_size in vllm-0.19.1 vllm/v1/core/kv_cache_utils.py; see servelint.memory.vllm.
    """
    found = plan(config)
    if found is None or found.verdict not in ("fits", "tight") or not found.max_concurrency:
        return None
    more = next((int(match[1]) for note in found.notes if (match := re.search(_MORE, note))), 0)
    without = plain(config) if more >= _WORTH_PADDING else None
    if without is None or not without.max_concurrency or without.max_concurrency <= found.max_concurrency:
        return None
    return {
        "where": _where(found),
        "more": str(more),
        "length": str(found.max_model_len),
        "requests": f"{found.max_concurrency:.1f}",
        "plain": f"{without.max_concurrency:.1f}",
        "gain": _times(without.max_concurrency, found.max_concurrency),
    }
