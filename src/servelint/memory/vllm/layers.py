"""The KV cache entries of a model's layers in vLLM: kinds, pages and blocks, release by release."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, lcm

from servelint.memory.vllm.cache import (
    CHUNKED,
    FULL,
    SLIDING,
    STATE,
    Batching,
    KvCache,
    Layers,
    NoCache,
    StateOutgrown,
    Unsupported,
    cdiv,
    compressed_cache,
)
from servelint.memory.vllm.settings import VllmSettings
from servelint.models.weights import stages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture, Attention, StateLayers

_BYTES = {"auto": 2.0, "bfloat16": 2.0, "float16": 2.0, "half": 2.0, "float": 4.0, "float32": 4.0}
_TURBOQUANT = {
    "turboquant_k8v4": (8, 4), "turboquant_4bit_nc": (4, 4), "turboquant_k3v4_nc": (3, 4), "turboquant_3bit_nc": (3, 3),
}  # fmt: skip
"""Bits of keys and of values (TQ_PRESETS in vllm/model_executor/layers/quantization/turboquant/config.py, from 0.20.0)."""
_UNQUANTIZED_ENDS = 4
"""Layers that TurboQuant leaves in the model's dtype, two at each end (get_boundary_skip_layers)."""
_SPARSE_ENTRY = 656
"""Bytes of a token in fp8_ds_mla: 512 of fp8, 16 of scales, 128 of bfloat16
(vllm/v1/attention/backends/mla/flashmla_sparse.py)."""
_CHUNK, _CHUNK_NEMOTRON = 256, 128
"""Tokens of a chunk of Mamba-2's kernel: the default of Transformers' configs, and Nemotron's own."""
_GDN_CHECKPOINTS = 64
"""Blocks are a multiple of so many tokens for FlashInfer's states (FLASHINFER_GDN_CHECKPOINT_ALIGNMENT, 0.33.0)."""
_STATE_DTYPES = ("Qwen3_5", "Qwen3_6", "Qwen3_8", "Qwen4")
"""Architectures whose config gives the dtype of the recurrent state (vllm/model_executor/models/config.py,
Qwen3_5ForConditionalGenerationConfig)."""
_PLANNED_WITHOUT_DRAFTS = ("FalconH1", "GraniteMoeHybrid", "Zamba2", "Bamba")
"""Architectures whose get_mamba_state_shape_from_config leaves the drafts out before 0.32.0, while the layers of the model
(MambaMixer2.get_state_shape) count them."""
_CONNECTORS_ASKED = "0.22.0"
_ALL_MODE = ("mamba1", "mamba2")
"""Layers whose models have SupportsMambaPrefixCaching, so that prefix caching keeps a state for every block."""


def kv_dtype(settings: VllmSettings, model: Architecture) -> str:
    """The dtype of the KV cache. "auto" takes the checkpoint's where the release asks for it, otherwise the model's."""
    given = settings.kv_dtype
    if given != "auto":
        return given
    named = model.quantization.kv_cache
    return named if named is not None and settings.rules.fp8_of_model else model.dtype


def token_bytes(layer: Attention, dtype: str, tensor: int, sparse: bool = False) -> int:
    """Bytes of one token in one layer on one GPU of `tensor` that share its heads.

    Tensor parallelism copies heads of keys and values where there are fewer than ranks. Latent attention is the same on every
    rank. Where an indexer chooses the tokens (`sparse`), fp8 means fp8_ds_mla.

    Source: AttentionSpec.page_size_bytes and similar properties in vllm/v1/kv_cache_interface.py.
    """
    if layer.mla is not None:
        if dtype.startswith("fp8") and sparse:
            return _SPARSE_ENTRY
        return int(layer.mla.cached * _element(dtype))
    heads = max(1, layer.kv_heads // tensor)
    if dtype in _TURBOQUANT:
        keys, values = _TURBOQUANT[dtype]
        size = (layer.head_dim if keys == 8 else ceil(layer.head_dim * keys / 8) + 2) + ceil(layer.head_dim * values / 8) + 4
        return heads * (size + size % 2)
    if dtype == "nvfp4":
        return heads * sum(width // 2 + width // 16 for width in (layer.head_dim, layer.value_dim))
    scales = 8 * heads if dtype.endswith("per_token_head") else 0
    return int(heads * (layer.head_dim + layer.value_dim) * _element(dtype)) + scales


def _element(dtype: str) -> float:
    return 1.0 if dtype.startswith(("fp8", "int8")) else _BYTES.get(dtype, 2.0)


def known_dtype(dtype: str) -> bool:
    """Whether the size of an element in this KV cache dtype is known."""
    return dtype in _BYTES or dtype in _TURBOQUANT or dtype == "nvfp4" or dtype.startswith(("fp8", "int8"))


def state_bytes(state: StateLayers, model: Architecture, settings: VllmSettings, drafting: bool = True) -> int:
    """Bytes of the state of one layer and request on one GPU. Draft tokens lengthen the part of the convolution.

    `drafting` false leaves the draft tokens out.

    Source: MambaStateShapeCalculator and MambaStateDtypeCalculator in vllm/model_executor/layers/mamba/mamba_utils.py.
    """
    tensor, rules = settings.tensor, settings.rules
    conv_element = _element(_named(settings, "mamba-cache-dtype") or model.dtype)
    ssm_element = _element(_ssm_dtype(state, model, settings))
    widened = drafting and (state.kind == "gdn" or (state.kind == "mamba2" and rules.mamba2_drafts))
    drafts = settings.drafts if widened else 0
    rows = state.conv_kernel - 1 + drafts if state.conv_kernel else 0
    if state.kind == "kda":
        key, value = state.key_heads * state.key_dim, state.value_heads * state.value_dim
        conv = (2 * key + value) // tensor * rows * conv_element
        return int(conv + state.value_heads // tensor * state.value_dim * state.key_dim * 4)
    if state.kind == "mamba2":
        groups = state.key_heads if state.key_heads % tensor == 0 else tensor
        channels = state.value_heads * state.value_dim + 2 * groups * state.key_dim
        conv = channels // tensor * rows * conv_element
    else:
        conv = state.conv_channels // tensor * rows * conv_element
    if state.kind == "shortconv":
        return int(conv)
    return int(conv + state.state_elements // tensor * ssm_element)


def _ssm_dtype(state: StateLayers, model: Architecture, settings: VllmSettings) -> str:
    given = _named(settings, "mamba-ssm-cache-dtype")
    if given is not None:
        return given
    if model.architecture.startswith(_STATE_DTYPES) and state.ssm_dtype is not None:
        return state.ssm_dtype
    if model.architecture.startswith("NemotronH") and settings.rules.since("0.13.0"):
        return state.ssm_dtype or "float16"
    return _named(settings, "mamba-cache-dtype") or model.dtype


def _named(settings: VllmSettings, option: str) -> str | None:
    value = settings.config.operand(option).value
    return value if isinstance(value, str) and value != "auto" else None


def cache_of(settings: VllmSettings, model: Architecture, draft: Architecture | None = None) -> KvCache:
    """The KV cache of a launch. `draft` is the draft model where there is a separate one.

    Raises:
        NoCache: the model keeps no KV cache.
        Unsupported: the layout of a layer's cache is not known.
        ValueError: the release refuses the model.
    """
    dtype = kv_dtype(settings, model)
    if model.low_rank is not None:
        return compressed_cache(settings, model, dtype)
    kinds = _attention(settings, model, dtype)
    kinds += _drafting(settings, model, draft, dtype)
    states = _states(settings, model, kinds)
    order = {word: index for index, word in reversed(list(enumerate(model.mixers)))}
    kinds = _in_order(kinds + states, order)
    if not kinds:
        raise NoCache
    if model.states and model.indexer is not None:
        _add_keys(kinds, model)
    if _hybrid_manager_off(settings, kinds):
        kinds = [Layers(FULL, one.count, one.block, one.page, on_rank=one.on_rank) for one in kinds]
    return KvCache(settings.rules, kinds, Batching(settings.batched, settings.in_flight, settings.sharded))


def _add_keys(kinds: list[Layers], model: Architecture) -> None:
    """Add the keys of an indexer to the blocks of a model with states.

    Every block has room for the keys beside the page of its layer (_get_packed_kv_cache_layout), and the ring of a request's
    last tokens takes a block of a group of its own (CircularBufferSpec in vllm/v1/kv_cache_interface.py).
    """
    full = [one for one in kinds if one.kind == FULL]
    page = full[0].page + full[0].block * _indexer_bytes(model)
    for one in kinds:
        one.page = page
    count, rank = sum(one.count for one in full), sum(one.on_rank for one in full)
    if model.ngrams is not None:  # the convolution over n-grams has a group of its own
        kinds.append(replace(next(one for one in kinds if one.kind == STATE), count=count, on_rank=rank))
    if model.indexer is not None and model.indexer.pool > 1:
        kinds.append(Layers(STATE, count, model.indexer.pool, page, on_rank=rank, states=1))


def _in_order(kinds: list[Layers], order: dict[str, int]) -> list[Layers]:
    """Kinds in the order of the model's layers, because 0.14.0 to 0.18.1 look at the first group alone."""
    first = {FULL: ("full", "mla"), SLIDING: ("sliding",), CHUNKED: ("chunked",)}
    words = {word for word in order if word.split("+")[0] not in ("full", "mla", "sliding", "chunked", "none")}

    def place(one: Layers) -> int:
        return min((order[word] for word in first.get(one.kind, tuple(words)) if word in order), default=len(order))

    return sorted(kinds, key=place)


def _hybrid_manager_off(settings: VllmSettings, kinds: list[Layers]) -> bool:
    """Whether windows keep all tokens (unify_hybrid_kv_cache_specs).

    They do where it is requested, with chunked attention unless a variable allows it, with KV events to 0.19.1 and with a KV
    connector to 0.21.0. Later it depends on the connector (VllmConfig.__post_init__ in vllm/config/vllm.py).

    Raises:
        Unsupported: it is not known, or layers with state keep the release from starting.
    """
    local = any(one.kind in (SLIDING, CHUNKED) for one in kinds)
    states = any(one.kind == STATE for one in kinds)
    if len(kinds) == 1 or not (local or states):
        return False
    config, rules = settings.config, settings.rules
    requested = config.operand("disable-hybrid-kv-cache-manager")
    off = requested.value is True
    if any(one.kind == CHUNKED for one in kinds):
        off = off or config.operand("env.VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE").value != "1"
    if config.operand("kv-events-config").present is not False and not rules.since("0.20.0"):
        off = True
    if config.operand("kv-transfer-config").present is not False and requested.present is False:
        if rules.since(_CONNECTORS_ASKED):
            raise Unsupported("whether the KV connector lets windows and states have blocks of their own")
        off = True
    if off and states:
        raise Unsupported("a model with states does not start without the hybrid KV cache manager")
    return off


def default_block(settings: VllmSettings, model: Architecture) -> int:
    """Tokens in a block: as given, else 64 for latent attention where the GPU has a kernel for it, else 16.

    Source: vllm/platforms/cuda.py.
    """
    if settings.block is not None:
        return settings.block
    if any(layer.mla is not None for layer in model.attention):
        capability = settings.gpu.capability
        if model.indexer is not None:
            return 64
        if capability is not None and 10.0 <= capability < 11 and not settings.rules.since("0.12.0"):
            return 128
        return 64 if capability is not None and 9.0 <= capability < 12 else 16
    return 16


def _on_rank(settings: VllmSettings, model: Architecture, kind: str, count: int) -> int:
    """How many layers of a kind the pipeline stage has that has most of them."""
    if settings.pipeline == 1:
        return count
    if settings.pipeline > model.layers:
        raise Unsupported("a model with fewer layers than stages of its pipeline")
    total = sum(kind in word.split("+") for word in model.mixers) or 1
    most = max(sum(kind in model.mixers[at].split("+") for at in part) for part in stages(model.layers, settings.pipeline))
    return cdiv(count * most, total)


def _attention(settings: VllmSettings, model: Architecture, dtype: str) -> list[Layers]:
    block = default_block(settings, model)
    found: list[Layers] = []
    for layer in model.attention:
        if layer.kind not in ("full", "mla", "sliding", "chunked"):
            raise Unsupported(f"how vLLM lays out the cache of {layer.kind} attention is unknown to servelint")
        if not layer.cached:
            continue
        kind = {"sliding": SLIDING, "chunked": CHUNKED}.get(layer.kind, FULL)
        rank = _on_rank(settings, model, layer.kind, layer.cached)
        page = block * token_bytes(layer, dtype, settings.tensor, sparse=model.indexer is not None)
        if dtype in _TURBOQUANT and layer.mla is None and kind == FULL and layer.cached > _UNQUANTIZED_ENDS:
            plain = block * token_bytes(layer, model.dtype, settings.tensor)
            found.append(Layers(FULL, _UNQUANTIZED_ENDS, block, plain))
            found.append(Layers(FULL, layer.cached - _UNQUANTIZED_ENDS, block, page, on_rank=max(rank - _UNQUANTIZED_ENDS, 1)))
        else:
            heads = layer.kv_heads
            found.append(Layers(kind, layer.cached, block, page, on_rank=rank, window=layer.window or 0, heads=heads))
    if model.indexer is not None and not model.states:
        rank = _on_rank(settings, model, "mla", model.indexer.layers)
        found.append(Layers(FULL, model.indexer.layers, block, block * _indexer_bytes(model), on_rank=rank))
    return found


def _indexer_bytes(model: Architecture) -> int:
    """Bytes of a token's key in the indexer: fp8, and a float32 scale for every 128 elements. Tokens of a pool share a key.

    Sources: vllm/model_executor/models/deepseek_v2.py, in 0.33.0 vllm/models/glm5next/common/attention.py,
    vllm/models/qwen4_exp/common/qsa_cache.py (tokens_per_state) and vllm/models/minimax_m3/common/indexer.py.
    """
    if model.indexer is None:
        return 0
    size = model.indexer.head_dim
    return (2 * size if model.indexer.whole else size + size // 128 * 4) // model.indexer.pool


def reads_the_models_cache(settings: VllmSettings, model: Architecture) -> bool:
    """Whether the draft keeps no cache of its own, as Gemma 4's assistants (vllm/model_executor/models/gemma4_mtp.py)."""
    return model.model_type.startswith("gemma4") and settings.draft is not None and settings.draft.endswith("-assistant")


def is_head(settings: VllmSettings, model: Architecture) -> bool:
    """Whether the draft is an EAGLE head (vllm/model_executor/models/llama_eagle3.py).

    It has one layer, nearly always shaped like the model's own. It is taken for one of these where its config.json is not
    known.
    """
    return settings.method in ("eagle", "eagle3") and any(layer.kind == "full" for layer in model.attention)


def _drafting(settings: VllmSettings, model: Architecture, draft: Architecture | None, dtype: str) -> list[Layers]:
    """Layers of the draft. MTP has attention like the model's full layers, an EAGLE head one layer like a Llama's.

    The drafters of Laguna keep all tokens, though they look at a window (vllm/model_executor/models/laguna_dflash.py).
    """
    if not settings.drafts or settings.method in ("ngram", "ngram_gpu", "suffix", "medusa", "mlp_speculator"):
        return []
    block = default_block(settings, model)
    if reads_the_models_cache(settings, model):
        return []
    if settings.method == "mtp":
        count = max(model.mtp_layers, 1)
        full = next((layer for layer in model.attention if layer.kind in ("full", "mla")), None)
        if full is None:
            raise Unsupported("how the KV cache of the model's MTP layers looks is unknown to servelint")
        sparse = model.indexer is not None
        page = block * token_bytes(full, dtype, settings.tensor, sparse=sparse)
        found = [Layers(FULL, count, block, page, heads=full.kv_heads)]
        if sparse and not model.states:
            found.append(Layers(FULL, count, block, block * _indexer_bytes(model)))
        return found
    if draft is None and is_head(settings, model):
        layer = next(layer for layer in model.attention if layer.kind == "full")
        return [Layers(FULL, 1, block, block * token_bytes(layer, dtype, settings.tensor), heads=layer.kv_heads)]
    if draft is None:
        raise Unsupported("the layers of the draft model are unknown")
    found = []
    for layer in draft.attention:
        if layer.kind not in ("full", "mla", "sliding"):
            raise Unsupported(f"how vLLM lays out the cache of the draft's {layer.kind} attention is unknown to servelint")
        if layer.cached:
            slides = layer.kind == "sliding" and draft.architecture != "DFlashLagunaForCausalLM"
            page = block * token_bytes(layer, dtype, settings.tensor)
            window = layer.window or 0 if slides else 0
            kind = SLIDING if slides else FULL
            found.append(Layers(kind, layer.cached, block, page, window=window, heads=layer.kv_heads))
    return found


def _states(settings: VllmSettings, model: Architecture, kinds: list[Layers]) -> list[Layers]:
    """Layers with state. Blocks of attention are enlarged in place until a page holds a state.

    Source: _align_hybrid_block_size in vllm/platforms/interface.py (to 0.19.1 HybridAttentionMambaModelConfig in
    vllm/model_executor/models/config.py). A block of attention is the least multiple of 16 tokens whose page holds a state, and
    the page of the state is padded to it. With a state for every block (the mode "all") it is a multiple of the kernel's chunk
    too.

    Raises:
        StateOutgrown: the release refuses the drafts.
        Unsupported: there are more GPUs than heads of the state.
    """
    if not model.states:
        return []
    rules = settings.rules
    sizes = [state_bytes(state, model, settings) for state in model.states]
    state_page = max(sizes)
    if not state_page:
        raise Unsupported("a state that is divided among more GPUs than it has heads")
    planned = state_page
    if model.architecture.startswith(_PLANNED_WITHOUT_DRAFTS) and not rules.since("0.32.0"):
        planned = max(state_bytes(state, model, settings, drafting=False) for state in model.states)
    attention = [one for one in kinds if one.kind != STATE]
    kept = mode(settings, model)
    if not attention:
        return [
            Layers(STATE, state.layers, settings.length or 1, size, states=_state_blocks(settings, state, kept))
            for state, size in zip(model.states, sizes, strict=True)
        ]
    token = max(one.page // one.block for one in attention)
    latent = any(layer.mla is not None for layer in model.attention)
    step = 64 if latent and rules.since("0.11.1") else 16
    if settings.block is not None and rules.block_as_given:
        step = settings.block
    if latent and (rules.mla_128 or (model.indexer is not None and model.indexer.pool > 1)):
        step = max(step, 128)
    if kept == "align" and any(state.kind == "gdn" and _checkpoints(settings, state) for state in model.states):
        step = lcm(step, _GDN_CHECKPOINTS)
    if kept == "all":
        named = settings.config.operand("mamba-block-size").value
        chunk = _CHUNK_NEMOTRON if model.architecture.startswith("Nemotron") else _CHUNK
        step = lcm(named if isinstance(named, int) and named > 0 else chunk, step)
        block = step * cdiv(cdiv(planned, token), step)
    else:
        block = step * cdiv(planned, step * token)
    block = max(block, settings.block or 0)
    for one in attention:
        one.page = one.page // one.block * block
        one.block = block
    page = max(one.page for one in attention)
    if page < state_page:
        raise StateOutgrown(page, state_page)
    found = []
    for state in model.states:
        rank = _on_rank(settings, model, state.kind, state.layers)
        per_block = block if kept in ("all", "align") else settings.length or block
        found.append(Layers(STATE, state.layers, per_block, page, on_rank=rank, states=_state_blocks(settings, state, kept)))
    return found


def mode(settings: VllmSettings, model: Architecture) -> str:
    """The cache mode of layers with state (MambaModelConfig): "none" without prefix caching, "all" or "align"."""
    if not settings.cached:
        return "none"
    every = settings.rules.all_mode and all(state.kind in _ALL_MODE for state in model.states)
    if settings.rules.state != "mode":
        return "all" if every else "none"
    given = settings.config.operand("mamba-cache-mode").value
    requested = given if given in ("align", "all") else "align" if settings.rules.align else "all"
    return requested if every else "align"


def _checkpoints(settings: VllmSettings, state: StateLayers) -> int:
    """Blocks for a state that is taken within a prefill (num_prefill_checkpoint_blocks).

    Mamba-2 has one from 0.32.0 (vllm/model_executor/layers/mamba/mamba_mixer2.py), Gated DeltaNet from 0.33.0 where FlashInfer
    has a kernel for it (layers/mamba/gdn/qwen_gdn_linear_attn.py, with CUDA 13 on Blackwell).
    """
    if state.kind == "mamba2":
        return int(settings.rules.since("0.32.0"))
    capability = settings.gpu.capability or 0.0
    has_kernel = 9.0 <= capability < 13 and (capability < 10 or state.key_dim == 128)
    return int(state.kind == "gdn" and settings.rules.since("0.33.0") and has_kernel)


def _state_blocks(settings: VllmSettings, state: StateLayers, mode: str) -> int:
    """Blocks of a state that a request takes (MambaSpec.max_memory_usage_bytes), 0 where they depend on the length."""
    checkpoints = _checkpoints(settings, state)
    if mode == "all":
        return 0
    if settings.rules.state != "mode":
        return 1
    return (2 + checkpoints if mode == "align" else 1) + settings.drafts
