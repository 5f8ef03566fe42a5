"""Bytes of a token in SGLang's KV cache on one GPU, its format and pages, as the release counts them to size the pool."""

from __future__ import annotations

from dataclasses import dataclass

from servelint.memory.plan import Release
from servelint.memory.sglang.settings import BLOCKS, SglangSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.hardware import Gpu
    from servelint.models.architecture import Architecture, Attention, Mla

FP8, FP4, MXFP8, PLAIN = "fp8", "fp4", "mxfp8", "plain"
_FORMATS = {
    "fp8_e5m2": FP8, "fp8_e4m3": FP8, "fp4_e2m1": FP4, "nvfp4": FP4, "fp4_mx_block16": FP4, "mxfp8": MXFP8,
    "bf16": PLAIN, "bfloat16": PLAIN,
}  # fmt: skip
_INDEX_BLOCK = 128
"""Elements of an indexer's key that share one scale of 4 bytes: quant_block_size in srt/mem_cache/memory_pool.py."""

_SPLIT = {
    "Llama4ForConditionalGeneration": "0.5.8", "GptOssForCausalLM": "0.5.8", "MiMoV2FlashForCausalLM": "0.5.7",
    "MiMoV2ForCausalLM": "0.5.11", "Step3p5ForCausalLM": "0.5.9", "Step3p7ForConditionalGeneration": "0.5.13",
    "Gemma4ForCausalLM": "0.5.11", "Gemma4ForConditionalGeneration": "0.5.11",
    "Gemma4UnifiedForConditionalGeneration": "0.5.13",
    "DiffusionGemmaForBlockDiffusion": "0.5.21", "LagunaForCausalLM": "0.5.12", "MellumForCausalLM": "0.5.16",
    "MuseGlimmerForCausalLM": "0.5.18", "MuseGlimmerForConditionalGeneration": "0.5.18",
    "InklingForConditionalGeneration": "0.5.16",
}  # fmt: skip
"""Architectures whose sliding layers have a pool of their own, and since when: is_hybrid_swa_model in
srt/configs/model_config.py (0.5.8 line 1025, 0.5.23 line 2650)."""
_NEVER_SPLIT = ("Gemma2", "Gemma3", "Olmo2", "Exaone4", "Llama4")
"""Parts of architectures' names whose sliding layers had no pool of their own before 0.5.8."""
_SMALL_WINDOW_SHARE = ("DeepseekV4ForCausalLM", "InklingForConditionalGeneration")
_LATENT_PAGES = {"flashmla": 64, "cutlass_mla": 128, "trtllm_mla": 64, "cutedsl_mla": 64}


def cache_format(kv_cache_dtype: str) -> str | None:
    """The format of a value of --kv-cache-dtype, None for `auto` and for a value that is not known."""
    return _FORMATS.get(kv_cache_dtype)


@dataclass(frozen=True, slots=True)
class Ranks:
    """How the KV cache is divided among GPUs.

    Attributes:
        attention: GPUs that share the heads of attention: tensor parallel size over replicas of attention.
        decode_context: GPUs among these that share the tokens of a request.
        pipeline: stages of layers.
    """

    attention: int = 1
    decode_context: int = 1
    pipeline: int = 1


@dataclass(frozen=True, slots=True)
class Cells:
    """Bytes of one token on one GPU, all layers of a kind together.

    Attributes:
        full: bytes in layers that look at everything.
        sliding: bytes in layers that look at a window.
        layers: how many layers look at everything. The layers of a draft are priced by theirs.
        sliding_layers: how many layers look at a window.
        indexer: the bytes of `full` that the indexers of sparse attention keep.
    """

    full: int
    sliding: int
    layers: int
    sliding_layers: int
    indexer: int = 0

    @property
    def every(self) -> int:
        """Bytes in all layers."""
        return self.full + self.sliding


def cells(
    release: Release, model: Architecture, form: str, ranks: Ranks, *, scaled_rows: bool = False, short_keys: bool = False
) -> Cells:
    """Bytes of one token in the format FP8, FP4, MXFP8 or PLAIN.

    Layers that use the keys of others are counted, because no release leaves them out. With `scaled_rows` sparse attention
    keeps its fp8 rows with scales (calculate_mla_kv_cache_dim), with `short_keys` MiniMax-M3's indexer keeps keys in fp8.

    Source: profile_max_num_token in srt/model_executor/model_runner.py (0.4.0 line 445, 0.5.3.post1 line 1260, 0.5.5.post3 line
    1280), get_cell_size_per_token in model_runner_kv_cache_mixin.py (0.5.7 line 49, 0.5.9 line 47), DefaultPoolConfigurator and
    HybridSWAPoolConfigurator in pool_configurator.py (0.5.11 lines 74 and 184, 0.5.23 lines 219 and 656).
    """
    full = sliding = layers = sliding_layers = 0
    for kind in model.attention:
        here = _per_stage(kind.layers, ranks.pipeline)
        token = _token(release, model, kind, form, ranks, here, scaled_rows=scaled_rows)
        if kind.window is not None and kind.kind in ("sliding", "chunked"):
            sliding, sliding_layers = sliding + token, sliding_layers + here
        else:
            full, layers = full + token, layers + here
    index = _index(release, model, ranks)
    keys = _block_keys(model, ranks, short=short_keys)  # a draft's layers are priced with their share of these
    return Cells(full + index + keys, sliding, layers, sliding_layers, index)


def _per_stage(layers: int, stages: int) -> int:
    """Layers on the pipeline stage that has most of them: get_pp_indices in srt/distributed/utils.py."""
    return -(-layers // stages)


def _token(
    release: Release, model: Architecture, kind: Attention, form: str, ranks: Ranks, layers: int, *, scaled_rows: bool
) -> int:
    """Bytes of one token in equal layers.

    FP4 keeps two elements in a byte and a scale of one byte for 16 elements. From 0.5.16 heads add a workspace of one layer
    that all share, unless attention reads FP4 itself (0.5.16 srt/model_executor/pool_configurator.py line 163, 0.5.23
    compute_cell_size in srt/layers/quantization/fp4_kv_cache_quant_method.py).
    """
    element = 1 if form != PLAIN else 4 if model.dtype == "float32" else 2
    if kind.mla is not None:
        wide = kind.mla.cached
        if scaled_rows and form == FP8 and release.since("0.5.17"):
            wide = _scaled_row(kind.mla)
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

    They are counted from 0.5.3.post1 (srt/model_executor/model_runner.py line 1276); from 0.5.18 not for layers that reuse the
    choice of the layer before them (_should_elide_dsa_index_k in srt/mem_cache/kv_cache_configurator.py).
    """
    indexer = model.indexer
    latent = next((kind for kind in model.attention if kind.mla is not None), None)
    if indexer is None or latent is None or not release.since("0.5.3.post1"):
        return 0
    layers = indexer.layers if release.since("0.5.18") else latent.layers
    row = indexer.head_dim + indexer.head_dim // _INDEX_BLOCK * 4
    return row * _per_stage(layers, ranks.pipeline) * ranks.decode_context


def _block_keys(model: Architecture, ranks: Ranks, *, short: bool) -> int:
    """Bytes of one token in MiniMax-M3's indexer, the same on every rank: one key for each sparse layer, no values.

    Source: is_minimax_sparse in srt/model_executor/pool_configurator.py (0.5.15 on, 0.5.23 line 410). Each sparse layer of the
    published config.json has sparse_disable_index_value.
    """
    if model.indexer is None or not _block_sparse(model):
        return 0
    return model.indexer.head_dim * (1 if short else 2) * _per_stage(model.indexer.layers, ranks.pipeline)


def _block_sparse(model: Architecture) -> bool:
    return model.model_type.startswith("minimax_m3")


def short_keys(release: Release, settings: SglangSettings, model: Architecture, gpu: Gpu | None, backend: str | None) -> bool:
    """Whether MiniMax-M3's indexer keeps its keys in fp8, with the given attention backend or without one.

    Source: get_minimax_sparse_index_dtype in srt/mem_cache/memory_pool.py (0.5.23 line 5831), m3_fp8_attn_gemm_enabled in
    srt/server_args.py (line 592), there since 0.5.21.
    """
    if not _block_sparse(model) or not release.since("0.5.21") or gpu is None:
        return False
    if gpu.vendor != "nvidia":
        return str(gpu.facts.get("architecture")) == "gfx950"
    capability = gpu.capability or 0.0
    if capability < 10:
        form = cache_form(release, settings, model, gpu)
        return capability == 9.0 and release.since("0.5.23") and form == FP8 and settings.kv_dtype != "fp8_e5m2"
    return capability < 12 and settings.kv_dtype == "fp8_e4m3" and backend in (None, "trtllm_mha")


def sparse(model: Architecture) -> bool:
    """Whether the model has DeepSeek's sparse attention: latent vectors and an indexer."""
    return model.indexer is not None and latent(model)


def latent(model: Architecture) -> bool:
    """Whether the model caches latent vectors (MLA)."""
    return any(kind.mla is not None for kind in model.attention)


def compressed(model: Architecture) -> bool:
    """Whether the model is a DeepSeek V4, whose pools are in servelint.memory.sglang.deepseek_v4."""
    return model.low_rank is not None


def cache_form(release: Release, settings: SglangSettings, model: Architecture, gpu: Gpu | None) -> str | None:
    """The format of the KV cache, None if it depends on a GPU that is not known.

    Source: init_memory_pool in srt/model_executor/model_runner.py (0.5.3rc2 line 1393: a checkpoint with scales of an fp8
    cache), _set_default_nsa_kv_cache_dtype in srt/server_args.py (0.5.9 line 1129, there since 0.5.6),
    _dsa_kv_cache_dtype_default in srt/arg_groups/overrides.py (0.5.23 line 491).
    """
    if settings.kv_dtype != "auto":
        return cache_format(settings.kv_dtype)
    if compressed(model):
        return FP8
    if sparse(model) and release.since("0.5.6"):
        if gpu is not None and gpu.vendor != "nvidia":
            return PLAIN
        if gpu is None or gpu.capability is None:
            return None
        return FP8 if gpu.capability >= 10 else PLAIN
    scales = model.quantization.kv_cache
    return FP8 if scales == "fp8" and release.since("0.5.3rc2") else PLAIN


def scaled_rows(config_backends: tuple[str | None, str | None], model: Architecture, gpu: Gpu | None) -> bool:
    """Whether fp8 rows of sparse attention carry scales, by the given backends of prefill and of decode.

    They do not for TensorRT-LLM's kernels, which are the default on Blackwell except for GLM on SM12x
    (_dsa_split_backend_resolution in srt/arg_groups/overrides.py, 0.5.23 line 605), nor for AMD's.
    """
    if gpu is not None and gpu.vendor != "nvidia":
        return False
    if "trtllm" in config_backends:
        return False
    capability = (gpu.capability if gpu is not None else None) or 0.0
    glm = model.architecture == "GlmMoeDsaForCausalLM" and capability >= 12
    return config_backends != (None, None) or capability < 10 or glm


def uncounted_scales(release: Release, model: Architecture, form: str, scaled: bool, gpu: Gpu | None, pipeline: int) -> int:
    """Bytes of a token that fp8 rows of sparse attention take and the release does not count when it sizes the pool.

    From 0.5.4 to 0.5.16 a row is counted with 576 bytes and allocated with 656 (DeepSeek V3.2). Before 0.5.9 that holds for
    every backend (NSATokenToKVPool in srt/mem_cache/memory_pool.py; get_cell_size_per_token), on AMD before 0.5.11.
    """
    if form != FP8 or not sparse(model) or not release.since("0.5.4") or release.since("0.5.17"):
        return 0
    amd = gpu is not None and gpu.vendor != "nvidia"
    if release.since("0.5.11" if amd else "0.5.9") and not scaled:
        return 0
    kinds = [kind for kind in model.attention if kind.mla is not None]
    return sum((_scaled_row(kind.mla) - kind.mla.cached) * _per_stage(kind.layers, pipeline) for kind in kinds if kind.mla)


def _scaled_row(mla: Mla) -> int:
    """Bytes of a row of latent elements in eight bits with their scales, and of rotary ones in sixteen."""
    return mla.kv_lora_rank + mla.kv_lora_rank // _INDEX_BLOCK * 4 + mla.rope_dim * 2


def page_size(release: Release, settings: SglangSettings, model: Architecture, backend: str | None) -> int:
    """Tokens of a page, for a model whose cache is not compressed.

    Source: srt/server_args.py (0.4.4 line 217), _page_size_default and _mla_backend_page_constraints in
    srt/arg_groups/overrides.py (0.5.23 lines 1142 and 1336), srt/arg_groups/model_overrides/{deepseek_v2,deepseek_v4}.py.
    """
    if sparse(model) and release.since("0.5.3.post1"):
        return 64
    if latent(model) and backend in _LATENT_PAGES:
        return _LATENT_PAGES[backend]
    return settings.page or 1


def window_share(release: Release, settings: SglangSettings, model: Architecture) -> float | None:
    """--swa-full-tokens-ratio where sliding layers have a pool of their own, None where all layers share one."""
    if not settings.window_pool or not release.since("0.4.9.post3") or not any(kind.window for kind in model.attention):
        return None
    name = model.architecture
    if release.since("0.5.8"):
        since = _SPLIT.get(name)
        if since is None or not release.since(since):
            return None
    elif any(part in name for part in _NEVER_SPLIT):
        return None
    if settings.window_share is not None:
        return settings.window_share
    return 0.1 if name in _SMALL_WINDOW_SHARE else 0.8


def draft_cells(
    release: Release, settings: SglangSettings, model: Architecture, draft: Architecture | None, target: Cells, form: str
) -> tuple[int, int] | None:
    """Bytes of a token in the draft's own KV cache, in full and in sliding layers, None if they are not known.

    A draft of EAGLE's kind is priced as layers of the target, a whole checkpoint by its layers of multi-token prediction.

    Source: DefaultPoolConfigurator in srt/model_executor/pool_configurator.py (0.5.14 line 128, 0.5.18 line 158),
    dflash_utils.py in srt/speculative (0.5.16 line 58, 0.5.18 line 121).
    """
    speculation = settings.speculation
    if speculation is None or not speculation.loads_draft or speculation.algorithm == "FROZEN_KV_MTP":
        return 0, 0
    ranks = Ranks(settings.tp // settings.replicas)
    if speculation.algorithm in BLOCKS or speculation.algorithm == "STANDALONE":
        if draft is None:
            return None
        own = cells(release, draft, form, ranks)
        if speculation.algorithm in BLOCKS and release.since("0.5.18"):
            return own.every, 0
        layers = own.layers + own.sliding_layers
    else:
        itself = draft or model
        layers = itself.mtp_layers or (sum(kind.layers for kind in draft.attention) if draft is not None else 1)
    if target.layers == 0:
        return (target.sliding // max(1, target.sliding_layers) * layers), 0
    every = target.full - target.indexer
    size = every * layers // target.layers
    if target.indexer:
        size += target.indexer * layers // target.layers
    return size, 0
