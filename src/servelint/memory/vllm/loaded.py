"""The weights that vLLM loads onto the fullest GPU, and what a draft adds."""

from __future__ import annotations

from functools import lru_cache

from servelint.memory.plan import Interval, Part
from servelint.memory.vllm import fitted
from servelint.memory.vllm.layers import is_head, reads_the_models_cache
from servelint.memory.vllm.settings import Settings
from servelint.models.weights import GIB, Weights, weigh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture

_SHARING = ("eagle", "eagle3", "dflash", "dspark")
"""Drafts that use the model's embedding and head (SpecDecodeBaseProposer.load_model in vllm/v1/spec_decode)."""


def weights_of(settings: Settings, model: Architecture, draft: Architecture | None) -> Part | None:
    """The weights of a GPU with those of MTP or of a draft; None if the quantization that is asked for is not known.

    Experts are divided among the ranks of tensor and of data parallelism together: whole ones with --enable-expert-parallel,
    parts of all without it (FusedMoEParallelConfig.make in vllm/model_executor/layers/fused_moe/config.py).
    """
    found = _weigh(settings, model, mtp=settings.method == "mtp" and settings.drafts > 0)
    if found is None:
        return None
    gib, origin = Interval(found.low, found.gib, found.high), found.parts[0].source if found.parts else "config.json"
    if reads_the_models_cache(settings, model) and draft is None:
        gib, origin = gib + fitted.ASSISTANT, origin + "; Gemma 4's assistant"
    elif draft is None and settings.drafts and is_head(settings, model):
        gib, origin = gib + _head(model, settings.tensor), origin + "; an EAGLE head, taken for one layer like the model's"
    if draft is not None:
        added = _weigh(settings, draft, mtp=False)
        if added is None:
            return None
        shared = (added.embedding + added.head) / GIB if settings.method in _SHARING else 0.0
        gib = gib + Interval(added.low - shared, added.gib - shared, added.high - shared)
        origin += f"; the draft: {draft.name}"
    if settings.gpu.unified:
        gib = Interval(min(gib.low, gib.mid * (1 - fitted.WEIGHTS_UNIFIED)), gib.mid, gib.high)
    return Part("weights", gib, origin)


def _head(model: Architecture, tensor: int) -> Interval:
    """A head of one layer in bfloat16: attention, a feed-forward part three times as wide as the model, what brings three
    hidden states together, and logits of a vocabulary of its own."""
    width = model.hidden
    parameters = (4 + 3 * fitted.HEAD_WIDTH + 3) * width * width + fitted.HEAD_VOCABULARY * width
    return Interval(0.4, 1.0, 2.5).scaled(2 * parameters / tensor / GIB)


def _weigh(settings: Settings, model: Architecture, mtp: bool) -> Weights | None:
    quantization = settings.config.operand("quantization").value
    dtype = settings.config.operand("dtype").value
    return _weighed(
        model,
        settings.tensor,
        settings.pipeline,
        settings.tensor * settings.data if settings.expert_parallel or settings.data > 1 else 1,
        quantization if isinstance(quantization, str) else None,
        dtype if isinstance(dtype, str) else None,
        mtp,
        not settings.text_only,
    )


@lru_cache(maxsize=64)
def _weighed(
    model: Architecture,
    tensor: int,
    pipeline: int,
    expert: int,
    quantization: str | None,
    dtype: str | None,
    mtp: bool,
    vision: bool,
) -> Weights | None:
    """Weighing every matrix of a large model takes longer than all the rest of a plan, and what-ifs ask for the same again."""
    return weigh(
        model,
        engine="vllm",
        tensor=tensor,
        pipeline=pipeline,
        expert=expert,
        quantization=quantization,
        dtype=dtype,
        mtp=mtp,
        vision=vision,
    )
