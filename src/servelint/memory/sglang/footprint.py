"""What SGLang takes of a GPU beside its pools: driver and context, weights, LoRA adapters, graphs, activations and logits.

SGLang does not profile. What follows is physics where the source has a formula, and fitted where it has none. Each fitted
constant says FITTED and names its logs. Of these only DRIVER_GIB and CONTEXT_GIB decide the size of the pools.
"""

from __future__ import annotations

from dataclasses import dataclass

from servelint.memory import ngrams
from servelint.memory.plan import GIB, Interval, Release
from servelint.memory.sglang import deepseek_v4
from servelint.memory.sglang.settings import BLOCKS, Lora, SglangSettings
from servelint.models.weights import Weights, weigh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.hardware import Gpu
    from servelint.models.architecture import Architecture

_ATTENTION = ("attention", "linear attention", "absorbed")

BESIDE_GIB = Interval(0.0, 0.1, 0.4)
"""FITTED. What loading takes beside the weights (workspaces, allocator fragments): 0.03 GiB of Qwen3-32B on H100, 0.08 of
Qwen3-0.6B on MI355X, 0.1 of Gemma-4-26B-A4B on RTX 5090 and of V4-Pro on H200."""

BESIDE_SHARED_GIB = Interval(0.0, 0.35, 0.7)
"""FITTED. The same in memory that GPU and host share, where the host's file cache counts too: 0.34 to 0.4 GiB of a Qwen2.5-1.5B
on GB10."""

EAGLE_HEAD = Interval(0.3, 1.0, 3.0)
"""FITTED. GiB of a draft head of EAGLE's kind that is not known by name: 0.7 for Llama-3.1-8B to 2.6 for a 70B."""

_STACKED = {
    **dict.fromkeys(("q_proj", "k_proj", "v_proj"), "qkv_proj"),
    **dict.fromkeys(("gate_proj", "up_proj"), "gate_up_proj"),
}

_ALL = ("qkv_proj", "o_proj", "gate_up_proj", "down_proj")

_ELEMENT = 2

DRIVER_GIB = 0.5
"""What nvidia-smi counts and CUDA cannot give: 79.65 to 79.18 on an H100, 31.84 to 31.36 on an RTX 5090, 44.99 to 44.53 on an
L40S. AMD's driver reports what can be given."""

CONTEXT_GIB = Interval(0.5, 0.7, 0.9)
"""FITTED. The CUDA context, libraries and one process group, on `Load weight begin. avail mem` of single GPUs: H100 78.43 and
78.48, B200 177.57, MI355X 287.26."""

CONTEXT_SMALL_GIB = Interval(0.3, 0.4, 0.9)
"""FITTED. The same of Ampere, Ada and consumer GPUs: A100-80GB 78.81, L40S 44.02, RTX 5090 30.68, RTX 3090 23.11 and 23.16 with
4 (SGLang 0.5.3, darkmaniac7/LLM-Model-Router), and 0.3 and 0.4 on two RTX 5080s by their pools."""

LINKED_GIB = Interval(0.3, 1.1, 2.6)
"""FITTED. Communicators of several GPUs with NVLink or Infinity Fabric: H100 77.33 to 77.75 with 8 GPUs, H200 137.29 and 137.9
with 8 and 138.09 with 16, B200 175.34 with 4."""

PCIE_GIB = Interval(0.0, 0.1, 0.6)
"""FITTED. The same without: RTX 4090 22.93 with 2 GPUs and 23.08 with 4, RTX PRO 4500 30.83 with 4, L4 21.63 with 4."""

AMD_GIB = Interval(2.0, 3.6, 4.8)
"""FITTED. The same with 8 GPUs of AMD: MI300X 188.32 free, MI355X 283.62."""

SHARED_GIB = Interval(7.7, 9.8, 12.2)
"""FITTED. What the host's system and other processes use of memory that GPU and host share, on twelve starts of GB10 machines
of 121.69 GiB: 115.84, 114.02, 113.93, 112.26, 112.25, 112.24, 111.97, 111.47, 109.98, 109.83, 108.11 GiB free, and one of 16.66
beside another server, which no plan can know."""

_HOPPER_ON = ("h100", "h200", "h800", "h20", "b200", "b300", "gb200", "gb300", "gh200")
_LINKED = (*_HOPPER_ON, "a100", "a800", "v100")

PREFILL_GRAPHS = Interval(1.4, 2.1, 2.7)
"""FITTED. What capturing the prefill takes, in multiples of what its largest chunk holds at once (forward_bytes): 2.84 GiB of
Qwen3-32B with 8,192 tokens (1.7), 1.12 of Gemma-4-26B-A4B with 4,096 (2.3), 3.85 of a Qwen3.5-9B with 8,192 (2.6)."""

ACTIVATIONS = Interval(0.6, 1.0, 1.5)
"""What a chunk holds where it is not captured, in the same unit."""

A_BATCH_MIB = Interval(0.3, 1.5, 3.0)
"""MiB of a captured request of a batch. SGLang's own estimate is 2 MiB (srt/arg_groups/memory_hook.py). Logs have 0.04 and 0.13
GiB for batches up to 32, 0.13 up to 256, 0.73 up to 32 of a Nemotron-H."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The loaded weights.

    Attributes:
        target: GiB of the target model on one GPU.
        origin: where the size of the target comes from, for a reader.
        draft: GiB of the draft, None where it is not known, zero where there is none.
        draft_origin: where the size of the draft comes from, for a reader.
    """

    target: Interval
    origin: str
    draft: Interval | None = None
    draft_origin: str = ""


def load_weights(
    release: Release, settings: SglangSettings, model: Architecture, draft: Architecture | None, gpu: Gpu | None
) -> Loaded | None:
    """The weights on the fullest GPU, None if the format of the checkpoint or of --quantization is not known.

    EAGLEDraftWorker in srt/speculative/eagle_worker_v2.py loads a model with an embedding and a head of its own, and takes the
    target's after the pools are sized (0.5.23 line 258). `draft` is the draft model where there is a separate one that is
    known.
    """
    weights = _weigh(settings, model, settings.tp)
    if weights is None:
        return None
    target = _interval(release, settings, model, weights, gpu)
    if settings.offload:
        kept = target - Interval.exact(settings.offload)
        target = kept.map(lambda gib: max(0.0, gib))
    origin = weights.parts[0].source if weights.parts else "config.json"
    speculation = settings.speculation
    if speculation is None or not speculation.loads_draft:
        return Loaded(target, origin, Interval.exact(0.0))
    ends = (weights.embedding + weights.head) / GIB
    itself = draft is None and (speculation.draft or "").rstrip("/").lower() == model.name.lower()
    if speculation.draft is None or itself:
        if not weights.mtp:
            return Loaded(target, origin)
        own = Interval.around(weights.mtp / GIB + ends, 0.05, 0.1)
        if model.low_rank is not None:
            own = own + deepseek_v4.draft_extra_gib(release, settings, model, gpu, weights, _experts(model, weights))
        return Loaded(target, origin, own, "multi-token prediction, with an embedding and a head of its own")
    if draft is None:
        if speculation.algorithm in BLOCKS or speculation.algorithm == "STANDALONE":
            return Loaded(target, origin)
        head = EAGLE_HEAD + Interval(0.0, ends / 2, ends)
        return Loaded(target, origin, head, f"{speculation.draft}, which is not known")
    loaded = _weigh(settings, draft, settings.tp, quantization=None)
    if loaded is None:
        return Loaded(target, origin)
    if loaded.mtp and speculation.algorithm != "STANDALONE":
        # a whole checkpoint: srt/configs/model_config.py takes the class of its own draft, which loads nothing else
        own = Interval.around((loaded.mtp + loaded.embedding + loaded.head) / GIB, 0.05, 0.1)
        return Loaded(target, origin, own, f"multi-token prediction of {speculation.draft}")
    return Loaded(target, origin, Interval(loaded.low, loaded.gib, loaded.high), speculation.draft)


def _weigh(settings: SglangSettings, model: Architecture, tensor: int, quantization: str | None = "") -> Weights | None:
    return weigh(
        model,
        engine="sglang",
        tensor=tensor,
        pipeline=min(settings.pp, model.layers),
        expert=settings.ep,
        quantization=settings.quantization if quantization == "" else quantization,
        vision=settings.encoder,
    )


def _interval(release: Release, settings: SglangSettings, model: Architecture, weights: Weights, gpu: Gpu | None) -> Interval:
    """GiB of the target's weights.

    With data-parallel attention each replica has whole heads and a whole embedding (srt/layers/dp_attention.py,
    VocabParallelEmbedding with enable_tp of srt/models).
    """
    size = weights.bytes + _rotary(release, weights)
    if settings.gpu_experts is not None and model.experts is not None and model.experts.count:
        elsewhere = max(0.0, 1 - settings.gpu_experts / model.experts.count)
        size -= round(_part(weights, "experts") * elsewhere)
    if settings.replicas > 1:
        narrow = _weigh(settings, model, max(1, settings.tp // settings.replicas))
        whole = _weigh(settings, model, 1)
        if narrow is not None and whole is not None:
            size += sum(_part(narrow, name) - _part(weights, name) for name in _ATTENTION)
            size += _part(whole, "embedding") - _part(weights, "embedding")
    gib = size / GIB
    found = Interval(gib * weights.low / weights.gib, gib, gib * weights.high / weights.gib)
    unified = gpu is not None and bool(gpu.facts.get("unified"))
    on_gpu = settings.ngrams == "gpu" or (settings.ngrams == "pinned" and unified) or (gpu is not None and gpu.vendor == "amd")
    found = found + ngrams.correction(model, settings.tp, on_gpu=on_gpu)
    found = found + (BESIDE_SHARED_GIB if unified else BESIDE_GIB)
    if model.low_rank is not None:
        found = found + deepseek_v4.target_extra_gib(release, settings, model, gpu, _experts(model, weights))
    return found


def _experts(model: Architecture, weights: Weights) -> float:
    """GiB of experts in MXFP4, whose scales DeepSeek V4's backends lay out again."""
    four = any(one.scheme == "mxfp4" for one in model.quantization.formats)
    return _part(weights, "experts") / GIB if four else 0.0


def _part(weights: Weights, name: str) -> int:
    return next((part.bytes for part in weights.parts if part.name == name), 0)


def _rotary(release: Release, weights: Weights) -> int:
    """Bytes that the tables of rotary embedding take in fp32 on top of the model's dtype (srt/layers/rotary_embedding.py)."""
    return _part(weights, "rotary table") if release.since("0.4.3") else 0


def adapters_gib(lora: Lora, model: Architecture, ranks: int) -> Interval | None:
    """GiB that SGLang reserves for LoRA adapters on one of `ranks` GPUs before it sizes its pools.

    Where the modules are not given they are the adapters' own: from those of attention alone to all.

    Source: init_lora_manager before init_memory_pool in srt/model_executor/model_runner.py (0.4.6 line 210, 0.5.3 line 414,
    0.5.10 line 595; 0.5.23 maybe_init_lora_manager, line 831); get_lora_A_shape and get_lora_B_shape in srt/lora/mem_pool.py
    (0.5.3, 0.5.23): matrices of rank x in and out x rank for each adapter of a batch, stacked projections with one A for each
    part.

    Returns:
        None for an unknown rank, experts, latent or linear attention.
    """
    plain = all(kind.mla is None for kind in model.attention) and model.experts is None and not model.states
    if not lora.rank or not plain or not model.dense:
        return None
    sizes = _adapter_elements(model, ranks)
    wide = lora.adapters * lora.rank * _ELEMENT / GIB
    ends = (model.vocab + 2 * model.hidden + model.vocab // ranks) * wide
    every = sum(sizes.values()) * wide
    if not lora.modules or "all" in lora.modules:
        return Interval(every if lora.modules else sizes["qkv_proj"] * wide, every, every + ends)
    names = {_STACKED.get(name, name) for name in lora.modules}
    inner = sum(sizes[name] for name in names if name in sizes) * wide
    return Interval(inner, inner, inner + (0.0 if names <= sizes.keys() else ends))


def _adapter_elements(model: Architecture, ranks: int) -> dict[str, int]:
    """Elements of one adapter of rank 1 in all layers, on one of the tensor-parallel ranks."""
    found = dict.fromkeys(_ALL, 0)
    hidden, inner = model.hidden, model.dense
    for kind in model.attention:
        queries, keys = kind.heads * kind.head_dim, max(kind.kv_heads, ranks) * kind.head_dim
        found["qkv_proj"] += kind.layers * (3 * hidden + (queries + 2 * keys) // ranks)
        found["o_proj"] += kind.layers * (queries // ranks + hidden)
        found["gate_up_proj"] += kind.layers * (2 * hidden + 2 * inner // ranks)
        found["down_proj"] += kind.layers * (inner // ranks + hidden)
    return found


def total_gib(gpu: Gpu) -> float | None:
    """GiB of one GPU as nvidia-smi (or AMD's tool) prints them, None if they are not known."""
    found = gpu.facts.get("memory-gib")
    return float(found) if isinstance(found, (int, float)) else None


def usable_gib(gpu: Gpu) -> float | None:
    """GiB of one GPU that CUDA can give, None if they are not known."""
    total = total_gib(gpu)
    if total is None or gpu.facts.get("unified") or gpu.vendor != "nvidia" or "slice" in gpu.facts:
        return total  # the size of a MIG slice is what CUDA can give
    known = gpu.facts.get("cuda-gib")
    return float(known) if isinstance(known, (int, float)) else total - DRIVER_GIB


def free_gib(gpu: Gpu, gpus: int) -> Interval | None:
    """Free GiB of one of several GPUs before weights are loaded: pre_model_load_memory, the least of all ranks."""
    usable = usable_gib(gpu)
    if usable is None:
        return None
    if gpu.facts.get("unified"):
        return Interval.exact(usable) - SHARED_GIB
    spread = gpu.facts.get("spread-gib")
    large = gpu.vendor == "amd" or _one_of(gpu, _HOPPER_ON)
    free = Interval(usable, usable, usable + (spread if isinstance(spread, (int, float)) else 0.0))
    free = free - (CONTEXT_GIB if large else CONTEXT_SMALL_GIB)
    if gpus < 2:
        return free
    if gpu.vendor == "amd":
        return free - AMD_GIB
    return free - (LINKED_GIB if _one_of(gpu, _LINKED) else PCIE_GIB)


def _one_of(gpu: Gpu, names: tuple[str, ...]) -> bool:
    name = str(gpu.facts.get("name", gpu.name))
    return any(name == one or name.startswith(one + "-") for one in names)


def forward_bytes(model: Architecture, ranks: int) -> int:
    """Bytes that one token of a prefill holds while a layer runs, in 16 bits, on one of `ranks` GPUs.

    They are six copies as wide as the model, and the gate, up and product of the feed-forward part of all experts that the
    token takes; of linear attention its projections.
    """
    wide = model.dense // ranks
    rows = 0
    if model.experts is not None:
        fed = model.experts.per_token * model.experts.intermediate + model.experts.shared
        wide = max(wide, fed // ranks)
        rows = 2 * model.experts.per_token * model.hidden
    for state in model.states:
        inner = state.value_heads * state.value_dim // ranks
        wide = max(wide, 2 * inner)
    return 12 * model.hidden + 6 * wide + rows


def prefill_gib(model: Architecture, ranks: int, tokens: int, captured: bool | None) -> Interval:
    """GiB that prefilling a chunk of `tokens` takes on one of `ranks` GPUs, captured, not captured, or None for either."""
    unit = tokens * forward_bytes(model, ranks) / GIB
    if captured is None:
        return Interval(ACTIVATIONS.low * unit, PREFILL_GRAPHS.mid * unit, PREFILL_GRAPHS.high * unit)
    return (PREFILL_GRAPHS if captured else ACTIVATIONS).scaled(unit)


def decode_gib(batch: int, width: int) -> Interval:
    """GiB that capturing decode takes, for a batch of requests of which a step verifies `width` tokens each."""
    return (A_BATCH_MIB.scaled(batch * max(1.0, width / 2) / 1024)) + Interval(0.0, 0.05, 0.4)


def logits_gib(model: Architecture, ranks: int, rows: int) -> Interval:
    """GiB of the logits of `rows` tokens in fp32 with the copies that sampling makes of them."""
    once = rows * model.vocab * 4 / GIB
    return Interval(once / ranks, 2 * once, 3 * once)
