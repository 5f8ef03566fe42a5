"""The weights that SGLang loads onto the fullest GPU: the model's, and a draft's, which brings its own embedding and head."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from servelint.memory.plan import GIB, Interval
from servelint.memory.sglang import v4
from servelint.memory.sglang.settings import BLOCKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.hardware import Gpu
    from servelint.memory.sglang.release import Release
    from servelint.memory.sglang.settings import Settings
    from servelint.models.architecture import Architecture
    from servelint.models.weights import Weights

_ATTENTION = ("attention", "linear attention", "absorbed")
BESIDE_GIB = Interval(0.0, 0.1, 0.4)
"""FITTED. What loading takes beside the weights (workspaces, what the allocator cannot join): 0.03 GiB of Qwen3-32B on H100,
0.08 of Qwen3-0.6B on MI355X, 0.1 of Gemma-4-26B-A4B on RTX 5090 and of V4-Pro on H200."""
BESIDE_SHARED_GIB = Interval(0.0, 0.35, 0.7)
"""FITTED. The same of memory that GPU and host share, where what the host keeps of files counts too: 0.34 to 0.4 GiB of a
Qwen2.5-1.5B on GB10."""

EAGLE_HEAD = Interval(0.3, 1.0, 3.0)
"""FITTED. What a draft head of EAGLE's kind weighs that is not known by name, in GiB: 0.7 of Llama-3.1-8B's to 2.6 of a
70B's."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """target, draft: GiB on one GPU; draft None where it is not known, nothing where there is none
    shared: GiB of the draft that are given back once it takes the target's embedding and head
    origin, draft_origin: where these are from, for a reader"""

    target: Interval
    draft: Interval | None
    shared: float
    origin: str
    draft_origin: str


def load(
    release: Release, settings: Settings, model: Architecture, draft: Architecture | None, gpu: Gpu | None = None
) -> Loaded | None:
    """What loads; None if the checkpoint's format, or that of --quantization, is not known.

    The draft: EAGLEDraftWorker in srt/speculative/eagle_worker_v2.py loads a model of its own and takes the target's embedding
    and head after the pools are sized (0.5.23 line 258).
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
        return Loaded(target, Interval.exact(0.0), 0.0, origin, "")
    ends = (weights.embedding + weights.head) / GIB
    if speculation.draft is None or (draft is None and _same(speculation.draft, model)):
        if not weights.mtp:
            return Loaded(target, None, 0.0, origin, "")
        own = Interval.around(weights.mtp / GIB + ends, 0.05, 0.1)
        if model.low_rank is not None:
            own = own + v4.draft_gib(release, settings, model, gpu, weights, _experts(model, weights))
        text = "multi-token prediction, with an embedding and a head of its own"
        return Loaded(target, own, ends, origin, text)
    if draft is None:
        if speculation.algorithm in BLOCKS or speculation.algorithm == "STANDALONE":
            return Loaded(target, None, 0.0, origin, "")
        return Loaded(
            target, EAGLE_HEAD + Interval(0.0, ends / 2, ends), 0.0, origin, f"{speculation.draft}, which is not known"
        )
    ranks = settings.tp
    loaded = _weigh(settings, draft, ranks, quantization=None)
    if loaded is None:
        return Loaded(target, None, 0.0, origin, "")
    return Loaded(target, Interval(loaded.low, loaded.gib, loaded.high), 0.0, origin, speculation.draft)


def _same(name: str, model: Architecture) -> bool:
    return name.rstrip("/").lower() == model.name.lower()


def _weigh(settings: Settings, model: Architecture, tensor: int, quantization: str | None = "") -> Weights | None:
    return _weighed(
        model,
        tensor,
        min(settings.pp, model.layers),
        settings.ep,
        settings.quantization if quantization == "" else quantization,
        settings.encoder,
    )


@lru_cache(maxsize=64)
def _weighed(
    model: Architecture, tensor: int, pipeline: int, expert: int, quantization: str | None, vision: bool
) -> Weights | None:
    """A table of what-ifs weighs a model once."""
    from servelint.models import weights

    return weights.weigh(
        model, engine="sglang", tensor=tensor, pipeline=pipeline, expert=expert, quantization=quantization, vision=vision
    )


def _interval(release: Release, settings: Settings, model: Architecture, weights: Weights, gpu: Gpu | None) -> Interval:
    """The target's weights. With data-parallel attention each replica has whole heads and a whole embedding
    (srt/layers/dp_attention.py, VocabParallelEmbedding with enable_tp of srt/models)."""
    size = weights.bytes + _rotary(release, weights)
    if settings.replicas > 1:
        narrow = _weigh(settings, model, max(1, settings.tp // settings.replicas))
        whole = _weigh(settings, model, 1)
        if narrow is not None and whole is not None:
            size += sum(_part(narrow, name) - _part(weights, name) for name in _ATTENTION)
            size += _part(whole, "embedding") - _part(weights, "embedding")
    gib = size / GIB
    found = Interval(gib * weights.low / weights.gib, gib, gib * weights.high / weights.gib)
    found = found + (BESIDE_SHARED_GIB if gpu is not None and gpu.facts.get("unified") else BESIDE_GIB)
    if model.low_rank is not None:
        found = found + v4.target_gib(release, settings, model, gpu, _experts(model, weights))
    return found


def _experts(model: Architecture, weights: Weights) -> float:
    """GiB of experts in MXFP4, whose scales DeepSeek V4's backends lay out anew."""
    four = any(one.scheme == "mxfp4" for one in model.quantization.formats)
    return _part(weights, "experts") / GIB if four else 0.0


def _part(weights: Weights, name: str) -> int:
    return next((part.bytes for part in weights.parts if part.name == name), 0)


def _rotary(release: Release, weights: Weights) -> int:
    """The tables of rotary embedding are fp32 on NVIDIA's GPUs: as much again as in the model's dtype
    (srt/layers/rotary_embedding.py)."""
    return _part(weights, "rotary table") if release.since("0.4.3") else 0
