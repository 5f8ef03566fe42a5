"""What a token takes of SGLang's KV cache on one GPU, in bytes, as the release counts it when it sizes the pool."""

from __future__ import annotations

from dataclasses import dataclass

from servelint.memory.sglang.release import Release

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture, Attention

FP8, FP4, MXFP8, PLAIN = "fp8", "fp4", "mxfp8", "plain"
_FORMATS = {
    "fp8_e5m2": FP8, "fp8_e4m3": FP8, "fp4_e2m1": FP4, "nvfp4": FP4, "fp4_mx_block16": FP4, "mxfp8": MXFP8,
    "bf16": PLAIN, "bfloat16": PLAIN,
}  # fmt: skip
_INDEX_BLOCK = 128
"""Elements of an indexer's key that share one scale of 4 bytes: quant_block_size in srt/mem_cache/memory_pool.py."""


def cache_format(kv_cache_dtype: str) -> str | None:
    """The format that a value of --kv-cache-dtype stands for; None for `auto`, and for one that is not known."""
    return _FORMATS.get(kv_cache_dtype)


@dataclass(frozen=True, slots=True)
class Ranks:
    """attention: GPUs that share the attention's heads (tensor parallel size over replicas of attention);
    decode_context: of these, that share a request's tokens;  pipeline: stages"""

    attention: int = 1
    decode_context: int = 1
    pipeline: int = 1


@dataclass(frozen=True, slots=True)
class Cells:
    """Bytes of one token, all layers of a kind together, on one GPU.

    full:    of layers that look at everything;  sliding: of those that look at a window
    layers:  how many of the first kind there are: the layers of a draft are priced by theirs
    indexer: of `full`, what the indexers of sparse attention keep
    """

    full: int
    sliding: int
    layers: int
    sliding_layers: int
    indexer: int = 0

    @property
    def every(self) -> int:
        return self.full + self.sliding


def cells(release: Release, model: Architecture, form: str, ranks: Ranks, *, scaled_rows: bool = False) -> Cells:
    """Source: profile_max_num_token in srt/model_executor/model_runner.py (0.4.0 line 445, 0.5.3.post1 line 1260, 0.5.5.post3
    line 1280), get_cell_size_per_token in model_runner_kv_cache_mixin.py (0.5.7 line 49, 0.5.9 line 47),
    DefaultPoolConfigurator and HybridSWAPoolConfigurator in pool_configurator.py (0.5.11 lines 74 and 184, 0.5.23 lines 219 and
    656). Layers that use the keys of others are counted: none of these leaves them out.

    form: FP8, FP4, MXFP8 or PLAIN;  scaled_rows: sparse attention keeps its fp8 rows with scales (calculate_mla_kv_cache_dim)
    """
    full = sliding = layers = sliding_layers = 0
    for kind in model.attention:
        here = _share(kind.layers, ranks.pipeline)
        token = _token(release, model, kind, form, ranks, here, scaled_rows=scaled_rows)
        if kind.window is not None and kind.kind in ("sliding", "chunked"):
            sliding, sliding_layers = sliding + token, sliding_layers + here
        else:
            full, layers = full + token, layers + here
    index = _index(release, model, ranks)
    return Cells(full + index, sliding, layers, sliding_layers, index)


def _share(layers: int, stages: int) -> int:
    """Layers on the stage that has most of them: get_pp_indices in srt/distributed/utils.py."""
    return -(-layers // stages)


def _element(model: Architecture, form: str) -> int:
    return 1 if form != PLAIN else 4 if model.dtype == "float32" else 2


def _token(
    release: Release, model: Architecture, kind: Attention, form: str, ranks: Ranks, layers: int, *, scaled_rows: bool
) -> int:
    """Bytes of one token in layers that are alike.

    FP4 keeps two elements in a byte and a scale of one byte for 16 elements; from 0.5.16 heads add a workspace of one layer
    that all share (0.5.16 srt/model_executor/pool_configurator.py line 163, 0.5.23 compute_cell_size in
    srt/layers/quantization/fp4_kv_cache_quant_method.py: unless attention reads FP4 itself).
    """
    element = _element(model, form)
    if kind.mla is not None:
        wide = kind.mla.cached
        if scaled_rows and form == FP8 and release.since("0.5.17"):
            wide = kind.mla.kv_lora_rank + kind.mla.kv_lora_rank // _INDEX_BLOCK * 4 + kind.mla.rope_dim * 2
        size = wide * layers * element
        return size // 2 + kind.mla.cached // 16 * layers * element if form == FP4 else size
    heads = max(1, kind.kv_heads // max(1, ranks.attention // ranks.decode_context))
    size = heads * (kind.head_dim + kind.value_dim) * layers * element
    if form == FP4:
        scales = heads * kind.head_dim * layers * 2 * element // 16
        workspace = heads * kind.head_dim * 2 * element if release.since("0.5.16") else 0
        return size // 2 + scales + workspace
    return size + size // 32 if form == MXFP8 else size


def _index(release: Release, model: Architecture, ranks: Ranks) -> int:
    """Bytes of one token in the indexers of DeepSeek's sparse attention, the same on every rank.

    Counted from 0.5.3.post1 (srt/model_executor/model_runner.py line 1276); from 0.5.18 not for layers that take the choice of
    the layer before them (_should_elide_dsa_index_k in srt/mem_cache/kv_cache_configurator.py).
    """
    indexer = model.indexer
    latent = next((kind for kind in model.attention if kind.mla is not None), None)
    if indexer is None or latent is None or not release.since("0.5.3.post1"):
        return 0
    layers = indexer.layers if release.since("0.5.18") else latent.layers
    row = indexer.head_dim + indexer.head_dim // _INDEX_BLOCK * 4
    return row * _share(layers, ranks.pipeline) * ranks.decode_context
