"""Room for LoRA adapters, which SGLang takes before it sizes its pools.

Source: init_lora_manager before init_memory_pool in srt/model_executor/model_runner.py (0.4.6 line 210, 0.5.3 line 414, 0.5.10
line 595; 0.5.23 maybe_init_lora_manager, line 831); get_lora_A_shape and get_lora_B_shape in srt/lora/mem_pool.py (0.5.3,
0.5.23): matrices of rank x in and out x rank for each adapter of a batch, stacked projections with one A for each part.
"""

from __future__ import annotations

from servelint.memory.plan import GIB, Interval

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.memory.sglang.settings import Lora
    from servelint.models.architecture import Architecture

_STACKED = {
    "q_proj": "qkv_proj",
    "k_proj": "qkv_proj",
    "v_proj": "qkv_proj",
    "gate_proj": "gate_up_proj",
    "up_proj": "gate_up_proj",
}
_ALL = ("qkv_proj", "o_proj", "gate_up_proj", "down_proj")
_ELEMENT = 2


def adapters_gib(lora: Lora, model: Architecture, ranks: int) -> Interval | None:
    """GiB of the room for adapters on one GPU; None if it cannot be told: an unknown rank, experts, latent or linear attention.

    Where the modules are not given they are the adapters' own: from the attention's alone to all.
    """
    plain = all(kind.mla is None for kind in model.attention) and model.experts is None and not model.states
    if not lora.rank or not plain or not model.dense:
        return None
    sizes = _sizes(model, ranks)
    wide = lora.adapters * lora.rank * _ELEMENT / GIB
    ends = (model.vocab + 2 * model.hidden + model.vocab // ranks) * wide
    if not lora.modules:
        return Interval(sizes["qkv_proj"] * wide, sum(sizes.values()) * wide, sum(sizes.values()) * wide + ends)
    if "all" in lora.modules:
        return Interval(sum(sizes.values()) * wide, sum(sizes.values()) * wide, sum(sizes.values()) * wide + ends)
    names = {_STACKED.get(name, name) for name in lora.modules}
    inner = sum(sizes[name] for name in names if name in sizes) * wide
    return Interval(inner, inner, inner + (0.0 if names <= sizes.keys() else ends))


def _sizes(model: Architecture, ranks: int) -> dict[str, int]:
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
