"""The architecture that a config.json describes.

Keys mean what the model's own code makes of them: Transformers 5.23.0 models/*/configuration_*.py, vllm-0.33.0
vllm/transformers_utils/configs/*.py. A model type that is not in traits.json is not described, because its keys may mean
anything.
"""

from __future__ import annotations

from functools import lru_cache

from servelint.core.data import load_data
from servelint.models.architecture import Architecture, Draft, Experts, Indexer, LowRank, Vision
from servelint.models.config_layers import V4, attention_of, heads_of, mixers_of, states_of
from servelint.models.config_values import flag, inner, integer, listed, number, table, word
from servelint.models.quantization import quantization_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_LAYERS_AT_MOST = 2000
_MTP_AT_MOST = 64
_PER_TOKEN = (
    "num_experts_per_tok", "num_experts_per_token", "experts_per_token", "top_k_experts", "moe_topk", "moe_k", "moe_top_k",
)  # fmt: skip
_SHARED = (
    "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "share_expert_dim", "shared_intermediate_size",
)  # fmt: skip
_OWN_WIDTH = ("mixtral", "gpt_oss", "minimax", "minimax_m1", "minimax_text_01", "minimax_m2", "phimoe", "llama4", "llama4_text")
"""Model types whose intermediate_size is that of an expert."""


@lru_cache(maxsize=1)
def _traits() -> dict[str, frozenset[str]]:
    """Model type -> the words of traits.json."""
    return {kind: frozenset(words.split()) for kind, words in load_data("models/traits.json")["types"].items()}


@lru_cache(maxsize=1)
def _classes() -> dict[str, str]:
    found: dict[str, str] = load_data("models/traits.json")["classes"]
    return found


def class_of(data: Mapping[str, Any]) -> str | None:
    """The class that loads a config.json without architectures, None if its model type has several."""
    return _classes().get(str(data.get("model_type")))


def described(name: str, data: Mapping[str, Any], sources: tuple[str, ...] = ()) -> Architecture | None:
    """The architecture that a config.json describes.

    Args:
        name: the name of the model.
        data: the config.json.
        sources: where it comes from.

    Returns:
        None if the model type is unknown, or the config lacks what its type needs.
    """
    config = inner(data)
    outer = str(data.get("model_type") or "")
    kind = str(config.get("model_type") or outer)
    if kind not in _traits():
        kind = outer
    traits = _traits().get(kind)
    layers = number(config, "num_hidden_layers", "n_layer", "num_layers", "n_layers")
    layers = layers or len(listed(config, "layers_block_type"))
    hidden, vocab = number(config, "hidden_size", "n_embd", "d_model"), number(config, "vocab_size", "padded_vocab_size")
    quantization = quantization_of(data, config)
    if traits is None or not 0 < layers <= _LAYERS_AT_MOST or not hidden or not vocab or quantization is None:
        return None
    mixers = mixers_of(kind, config, layers)
    if mixers is None:
        return None
    attention, states = attention_of(kind, config, mixers, traits), states_of(config, mixers)
    feeds = _feeds(kind, config, layers)
    mixtures = sum("moe" in feed for feed in feeds)
    experts = _experts(kind, config, mixtures)
    if attention is None or states is None or len(feeds) != layers or (experts is None) != (mixtures == 0):
        return None
    architectures = listed(data, "architectures")
    tied = flag(config, "tie_word_embeddings", flag(data, "tie_word_embeddings", "tied" in traits))
    return Architecture(
        name=name,
        architecture=str(architectures[0]) if architectures else "",
        model_type=kind,
        layers=layers,
        hidden=hidden,
        vocab=vocab,
        mixers=mixers,
        feeds=feeds,
        attention=attention,
        states=states,
        heads=heads_of(config),
        widths=_widths(kind, config, feeds, hidden),
        gated="plain" not in traits,
        mlp_bias="mlp-bias" in traits
        or flag(config, "mlp_bias")
        or ("use-bias-all" in traits and flag(config, "use_bias", True)),
        experts=experts,
        indexer=_indexer(kind, config, layers, mixers),
        low_rank=_low_rank(config) if kind in V4 else None,
        draft=_draft(config, vocab),
        tied=tied,
        context=integer(config, "max_position_embeddings", "n_positions", "seq_length", "max_seq_len", "model_max_length"),
        per_layer=number(config, "hidden_size_per_layer_input") if kind.startswith(("gemma3n", "gemma4")) else 0,
        positions=number(config, "max_position_embeddings", "n_positions") if "positions" in traits else 0,
        encoder="encoder" in traits,
        mrope="mrope" in traits,
        norms=next((int(one[6:]) for one in traits if one.startswith("norms=")), 2),
        vision=vision_of(data, hidden),
        mtp_layers=_mtp(kind, config, data),
        streams=1 if kind in V4 else number(config, "hc_mult", "hc_count") or 1,
        stream_rank=number(config, "hc_lowrank"),
        ngrams=_ngrams(config),
        dtype=word(config, "dtype", "torch_dtype") or word(data, "dtype", "torch_dtype") or "bfloat16",
        quantization=quantization,
        sources=sources,
    )


def _draft(config: Mapping[str, Any], vocab: int) -> Draft | None:
    """Source: vllm-0.33.0 vllm/model_executor/models/llama_eagle3.py, qwen3_dflash.py and registry.py."""
    name = " ".join(str(one) for one in listed(config, "architectures"))
    if "Eagle3" in name:
        taps = listed(table(config, "eagle_config"), "eagle_aux_hidden_state_layer_ids")
        return Draft("eagle3", len(taps) or 3, number(config, "draft_vocab_size") or vocab)
    if "DFlash" in name or name == "MuseGlimmerAssistantModel":
        return Draft("dflash", len(listed(table(config, "dflash_config"), "target_layer_ids")) or 5, 0)
    return None


def _mtp(kind: str, config: Mapping[str, Any], data: Mapping[str, Any]) -> int:
    if kind == "minimax_m2" and not flag(config, "use_mtp"):
        return 0
    keys = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers", "num_mtp_modules")
    count = max(number(config, *keys), number(data, *keys))
    return count if count <= _MTP_AT_MOST else 0


def _indexer(kind: str, config: Mapping[str, Any], layers: int, mixers: tuple[str, ...]) -> Indexer | None:
    """The indexer. `indexer_types` or `index_topk_pattern` (F, S) say which layers have one of their own."""
    sparse = table(config, "sparse_attention_config")
    if flag(sparse, "use_sparse_attention"):
        own = sum(bool(one) for one in listed(sparse, "sparse_attention_freq")[:layers])
        heads, size = number(sparse, "sparse_num_index_heads"), number(sparse, "sparse_index_dim")
        return Indexer(heads, size, number(sparse, "sparse_topk_blocks"), own, whole=True)
    ratio = number(config, "indexer_compress_ratio")
    if ratio and number(config, "indexer_n_heads"):
        heads, size = number(config, "indexer_n_heads"), number(config, "indexer_head_dim")
        own = sum(mixer == "full" for mixer in mixers)
        return Indexer(heads, size, number(config, "indexer_budget"), own, pool=ratio, whole=True)
    size = number(config, "index_head_dim")
    if not size or not number(config, "index_n_heads"):
        return None
    own = mixers.count("compressed-4") if kind in V4 else mixers.count("mla") if "kda" in mixers else layers
    kinds, pattern = listed(config, "indexer_types"), word(config, "index_topk_pattern")
    if len(kinds) >= layers:
        own = sum(one == "full" and mixer != "kda" for one, mixer in zip(kinds, mixers, strict=False))
    elif pattern and len(pattern) == layers:
        own = pattern.count("F")
    pool = number(config, "index_kpool") or 1
    return Indexer(number(config, "index_n_heads"), size, number(config, "index_topk"), own, pool=pool)


def _ngrams(config: Mapping[str, Any]) -> tuple[int, int] | None:
    """The table of embeddings of n-grams: each order has heads, each a prime number of rows from a base on.

    The primes are close to the base, so that it stands for them (vllm-0.33.0 vllm/models/qwen4_exp/common/ple.py).
    """
    heads = (number(config, "ngram_size") - 1) * number(config, "heads_per_ngram")
    tables = len(listed(config, "ple_layer_ids"))
    if heads <= 0 or not tables:
        return None
    width = number(config, "ple_embed_dim") or number(config, "hidden_size")
    return tables * heads * number(config, "ngram_vocab_size_base"), width // heads


def _low_rank(config: Mapping[str, Any]) -> LowRank:
    rank = number(config, "q_lora_rank")
    return LowRank(rank, number(config, "o_groups"), number(config, "o_lora_rank"), number(config, "hc_mult") or 1)


def _feeds(kind: str, config: Mapping[str, Any], layers: int) -> tuple[str, ...]:
    """A word for each layer's feed-forward part."""
    count = _count(config)
    pattern = word(config, "hybrid_override_pattern")
    if kind == "nemotron_h":
        names = {"-": "dense", "E": "moe", "mlp": "dense", "moe": "moe"}
        return tuple(names.get(str(one), "none") for one in (pattern or listed(config, "layers_block_type")))
    if kind == "nemotron-nas":
        return tuple("none" if flag(table(one, "ffn"), "no_op") else "dense" for one in listed(config, "block_configs"))
    if count <= 1:
        return ("dense",) * layers
    if kind.startswith("gemma4") or flag(config, "residual_moe"):
        return ("dense+moe",) * layers
    return tuple("moe" if sparse else "dense" for sparse in _sparse(kind, config, layers))


def _sparse(kind: str, config: Mapping[str, Any], layers: int) -> list[bool]:
    named = listed(config, "mlp_layer_types")
    if len(named) >= layers:
        return [one not in ("dense", "mlp") for one in named[:layers]]
    freq = config.get("moe_layer_freq")
    if isinstance(freq, list) and len(freq) >= layers:
        return [bool(one) for one in freq[:layers]]
    if kind in ("step3p5", "step3p7") and word(config, "moe_layers_enum"):
        named = str(config["moe_layers_enum"]).split(",")
        return [str(index) in named for index in range(layers)]
    if kind == "jamba":
        every, offset = number(config, "expert_layer_period") or 2, integer(config, "expert_layer_offset")
        return [index % every == (1 if offset is None else offset) for index in range(layers)]
    if kind in ("llama4", "llama4_text"):
        named = listed(config, "moe_layers")
        step = number(config, "interleave_moe_layer_step") or 1
        return [index in named if named else (index + 1) % step == 0 for index in range(layers)]
    if kind in ("ernie4_5_moe", "ernie4_5_vl_moe"):
        start, end = config.get("moe_layer_start_index"), config.get("moe_layer_end_index")
        start = min(start) if isinstance(start, list) and start else start
        end = max(end) if isinstance(end, list) and end else end
        every = number(config, "moe_layer_interval") or 1
        first = start if isinstance(start, int) else 0
        last = end if isinstance(end, int) and end >= 0 else layers - 1
        return [first <= index <= last and (index + 1) % every == 0 for index in range(layers)]
    step, dense = number(config, "decoder_sparse_step") or 1, listed(config, "mlp_only_layers")
    first = number(config, "first_k_dense_replace", "num_dense_layers", "moe_layer_start_index")
    every = freq if isinstance(freq, int) and freq > 0 else 1
    return [index >= first and index not in dense and (index + 1) % step == 0 and index % every == 0 for index in range(layers)]


def _count(config: Mapping[str, Any]) -> int:
    count = config.get("moe_num_experts")
    if isinstance(count, list) and count and isinstance(count[0], int):
        return int(count[0])
    return number(config, "num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")


def _first(config: Mapping[str, Any], *keys: str) -> int:
    """A number, or the first of a list of equal numbers."""
    for key in keys:
        value = config.get(key)
        if isinstance(value, list) and value and isinstance(value[0], int):
            return int(value[0])
        if integer(config, key) is not None:
            return number(config, key)
    return 0


def _experts(kind: str, config: Mapping[str, Any], layers: int) -> Experts | None:
    count = _count(config)
    if not layers or count <= 1:
        return None
    keys = ("moe_intermediate_size", "expert_ffn_hidden_size")
    width = _first(config, *keys) or (_first(config, "intermediate_size") if kind in _OWN_WIDTH else 0)
    width = width or _first(config, "intermediate_size")
    shared = _first(config, *_SHARED)
    several = _first(config, "n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert")
    if kind in ("llama4", "llama4_text"):
        shared = width
    elif not shared or kind in ("minimax_m3", "minimax_m3_text"):
        shared = several * (shared or width)
    return Experts(
        count=count,
        per_token=_first(config, *_PER_TOKEN),
        intermediate=width,
        layers=layers,
        shared=shared,
        shared_gate=kind in ("qwen2_moe", "qwen3_next", "qwen3_5_moe", "qwen3_5_moe_text", "qwen4_exp", "qwen4_exp_text"),
        latent=integer(config, "moe_latent_size", "routed_expert_hidden_size") or None,
        gated=kind != "nemotron_h",
        bias=kind == "gpt_oss",
        correction=word(config, "topk_method") == "noaux_tc"
        or flag(config, "use_routing_bias")
        or kind in ("glm4_moe", "nemotron_h"),
    )


def _widths(kind: str, config: Mapping[str, Any], feeds: tuple[str, ...], hidden: int) -> tuple[int, ...]:
    """The inner size of the dense feed-forward part of each layer."""
    given = config.get("intermediate_size")
    if isinstance(given, list) and len(given) >= len(feeds) and all(isinstance(one, int) for one in given):
        return tuple(int(width) if "dense" in feed else 0 for width, feed in zip(given, feeds, strict=False))
    if kind == "nemotron-nas":
        return tuple(_of_block(table(one, "ffn"), hidden) for one in listed(config, "block_configs"))
    width = number(config, "intermediate_size", "ffn_hidden_size", "ffn_dim", "n_inner")
    if kind in ("llama4", "llama4_text"):
        width = number(config, "intermediate_size_mlp") or width
    elif kind.startswith("minimax_m3"):
        width = number(config, "dense_intermediate_size") or width
    elif kind == "granitemoehybrid":
        width = number(config, "shared_intermediate_size") or width
    elif kind == "lfm2" and flag(config, "block_auto_adjust_ff_dim", True):
        width = int(2 * (number(config, "block_ff_dim", "intermediate_size")) / 3)
        factor = config.get("block_ffn_dim_multiplier", 1.0)
        multiple = number(config, "block_multiple_of") or 256
        width = int(factor * width) if isinstance(factor, (int, float)) and 0 < factor < 100 else width
        width = multiple * ((width + multiple - 1) // multiple)
    width = width or 4 * hidden
    wide = number(config, "num_kv_shared_layers") if flag(config, "use_double_wide_mlp") else 0
    return tuple(
        0 if "dense" not in feed else 2 * width if index >= len(feeds) - wide else width for index, feed in enumerate(feeds)
    )


def _of_block(feed: Mapping[str, Any], hidden: int) -> int:
    """The inner size of a block of nemotron-nas: two thirds of a multiple, rounded up to 256.

    Source: block_config.py in its repositories.
    """
    factor = feed.get("ffn_mult")
    if not isinstance(factor, (int, float)) or flag(feed, "no_op") or not 0 < factor < 1000:
        return number(feed, "intermediate_size")
    return -(-int(2 * factor * hidden / 3) // 256) * 256


def vision_of(data: Mapping[str, Any], hidden: int) -> Vision | None:
    """The encoder of images, None if the model has none. `hidden` is the hidden size of the language model."""
    given = next((data[key] for key in ("vision_config", "vision_tower_config") if isinstance(data.get(key), dict)), None)
    if given is None and isinstance(data.get("thinker_config"), dict):
        given = data["thinker_config"].get("vision_config")
    if not isinstance(given, dict) or not given or inner(data) is given:
        return None
    layers = number(given, "depth", "num_hidden_layers", "vt_num_hidden_layers", "layers")
    kind = word(given, "model_type") or ""
    size = number(given, "hidden_size", "embed_dim", "vt_hidden_size", "width")
    if kind.startswith("qwen2_vl") or (kind == "" and "embed_dim" in given):
        size = number(given, "embed_dim") or size
    ratio = given.get("mlp_ratio")
    ratio = float(ratio) if isinstance(ratio, (int, float)) and 0 < ratio < 100 else 4.0
    width = number(given, "intermediate_size", "vt_intermediate_size") or int(size * ratio)
    params = _params(kind, given, layers, size, width, hidden)
    return Vision(layers, size, width, params, integer(given, "spatial_merge_size", "merge_size") or 1, kind)


def _params(kind: str, given: Mapping[str, Any], layers: int, size: int, width: int, hidden: int) -> int | None:
    """Parameters with the projection to the language model, None for a kind whose shapes are not known.

    Source: Transformers 5.23.0 models/qwen3_vl/modeling_qwen3_vl.py, and those of qwen2_5_vl, qwen2_vl, gemma4, siglip, gemma3,
    pixtral and mistral3.
    """
    if not layers or not size:
        return None
    patch, channels = number(given, "patch_size"), number(given, "in_channels", "in_chans", "num_channels") or 3
    frames, merge = number(given, "temporal_patch_size") or 1, number(given, "spatial_merge_size") or 1
    merged = size * merge * merge
    pixels = channels * frames * patch * patch
    out = number(given, "out_hidden_size") or hidden
    if kind.startswith(("qwen3_vl", "qwen3_5", "qwen3_omni")):
        block = 4 * size * size + 4 * size + 2 * size * width + width + size + 4 * size
        merger = merged * merged + merged + merged * out + out
        deep = len(listed(given, "deepstack_visual_indexes"))
        position = number(given, "num_position_embeddings") * size
        return pixels * size + size + position + layers * block + merger + 2 * size + deep * (merger + 2 * merged)
    if kind.startswith("qwen2_5_vl"):
        block = 4 * size * size + 4 * size + 3 * size * width + 2 * width + size + 2 * size
        return pixels * size + layers * block + size + merged * merged + merged + merged * out + out
    if kind.startswith("qwen2_vl"):
        block = 4 * size * size + 4 * size + 2 * size * width + width + size + 4 * size
        target = number(given, "hidden_size") or hidden
        merger = merged * merged + merged + merged * target + target
        return (channels * 2 * patch * patch) * size + layers * block + 2 * size + merger
    if kind.startswith("gemma4_vision"):
        head = number(given, "head_dim") or size // (number(given, "num_attention_heads") or 1)
        heads, kv = number(given, "num_attention_heads"), number(given, "num_key_value_heads")
        block = size * head * (2 * heads + 2 * kv) + 3 * size * width + 4 * size + 2 * head
        return 3 * patch * patch * size + 2 * number(given, "position_embedding_size") * size + layers * block + size * hidden
    if kind == "siglip_vision_model":
        block = 4 * size * size + 4 * size + 2 * size * width + width + size + 4 * size
        side = (number(given, "image_size") // patch) if patch else 0
        return pixels * size + size + side * side * size + layers * block + 2 * size + size * hidden + size
    if kind == "pixtral":
        block = 4 * size * size + 3 * size * width + 2 * size
        return pixels * size + size + layers * block + size * hidden + hidden * hidden
    return None
