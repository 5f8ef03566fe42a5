"""What a reader of a plan should know beside its numbers."""

from __future__ import annotations

from servelint.memory.plan import MemoryPlan
from servelint.memory.vllm.cache import STATE, Cache
from servelint.memory.vllm.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture


def add_notes(plan: MemoryPlan, settings: Settings, model: Architecture, cache: Cache, known_draft: bool) -> None:
    """Notes on padding, on drafts, on what the printed size means, and on ranks that hold the same."""
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
        plan.notes.append("nothing is known of the EAGLE head: it is taken for one layer like the model's")
    needed, there = settings.tensor * settings.pipeline * settings.prefill, settings.config.operand("gpu.count").value
    if isinstance(there, int) and there < needed:
        plan.notes.append(
            f"it takes {needed} GPUs, and {there} {'is' if there == 1 else 'are'} there: the rest are on other nodes"
        )
    heads = max((layer.kv_heads for layer in model.attention if layer.mla is None), default=0)
    if heads and settings.tensor > heads:
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


def _drafted(plan: MemoryPlan, settings: Settings, model: Architecture, cache: Cache) -> None:
    """What MTP costs a hybrid model: its attention layers join the model's own, and every group grows to their number."""
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
        f"a request keeps {need} blocks for each group of layers with state, {settings.drafts} of them for drafted tokens"
    )
