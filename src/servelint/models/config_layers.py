"""The kind of each layer of a model, and the dimensions of each kind, from its config.json."""

from __future__ import annotations

from collections import Counter

from servelint.models.architecture import Attention, Mla, StateLayers
from servelint.models.config_values import flag, integer, listed, number, table, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_WORDS = {
    "full_attention": "full", "attention": "full", "full": "full", "sliding_attention": "sliding",
    "chunked_attention": "chunked", "indexed_attention": "full", "mamba": "mamba2", "mamba2": "mamba2", "conv": "shortconv",
    "hybrid": "full+mamba2", "moe": "none", "mlp": "none", "minimax_m3_sparse": "full", "deepseek_sparse_attention": "full",
}  # fmt: skip
"""Words of `layer_types` and `layers_block_type` -> kinds of layers. linear_attention depends on the model."""
_QWEN = ("qwen3_next", "qwen3_5", "qwen3_5_moe", "qwen3_5_text", "qwen3_5_moe_text", "qwen4_exp", "qwen4_exp_text")
_GLM_NEXT = ("glm5_next", "glm5_next_text")
_MINIMAX = ("minimax", "minimax_m1", "minimax_text_01")
_LINEAR = {
    **dict.fromkeys(_QWEN, "gdn"), **dict.fromkeys(_MINIMAX, "lightning"),
    **dict.fromkeys(_GLM_NEXT, "kda"),
    "kimi_linear": "kda", "bailing_hybrid": "kda", "granitemoehybrid": "mamba2",
}  # fmt: skip
V4 = ("deepseek_v4", "deepseek_ref")
_NEMOTRON = {"M": "mamba2", "*": "full", "-": "none", "E": "none"}
_PATTERN = {"gemma2": 2, "gemma3": 6, "gemma3_text": 6, "gemma3n": 5, "gemma3n_text": 5, "cohere2": 4, "exaone4": 4, "olmo3": 4}
"""Model type -> every how many layers one looks at everything, where the config does not say it."""


_WINDOW_OFF = (
    "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "qwen2_vl", "qwen2_5_vl", "qwen2_vl_text", "qwen2_5_vl_text", "mimo",
)  # fmt: skip
"""Model types whose window counts only with use_sliding_window, and then says layer_types."""


_BIASES = (
    ("qkv-if", "attention_bias", False), ("both-if", "attention_bias", True), ("fused-bias", "add_qkv_bias", False),
    ("fused-bias", "use_qkv_bias", False), ("qkv-key", "qkv_bias", False), ("qkv-use", "use_qkv_bias", False),
    ("bias", "bias", False), ("use-bias", "use_bias", True), ("use-bias-all", "use_bias", True),
)  # fmt: skip
"""Word of traits.json, the key that says whether there is a bias, and whether the output has it too."""


def mixers_of(kind: str, config: Mapping[str, Any], layers: int) -> tuple[str, ...] | None:
    """A word for each layer, None where the config of a model type cannot be read so."""
    full = "mla" if number(config, "kv_lora_rank") else "full"
    given = listed(config, "layer_types", "layers_block_type")
    if kind in V4:
        return _compressed(config, layers)
    if kind == "nemotron_h" and word(config, "hybrid_override_pattern"):
        pattern = str(config["hybrid_override_pattern"])
        return tuple(_NEMOTRON[one] for one in pattern) if set(pattern) <= set(_NEMOTRON) and len(pattern) == layers else None
    if kind == "falcon_h1":
        return ("full+mamba2",) * layers
    if given and all(isinstance(one, str) for one in given):
        names = {**_WORDS, "linear_attention": _LINEAR.get(kind, "?"), "attention": full, "full_attention": full}
        names["deepseek_sparse_attention"] = names["indexed_attention"] = full
        found = tuple(names.get(one, "?") for one in given[:layers])
        return found if len(found) == layers and "?" not in found else None
    return _by_rule(kind, config, layers, full)


def _by_rule(kind: str, config: Mapping[str, Any], layers: int, full: str) -> tuple[str, ...] | None:
    """A word for each layer of a model whose config does not list its layers."""
    every = integer(config, "sliding_window_pattern", "_sliding_window_pattern")
    window = integer(config, "sliding_window")
    if kind in _QWEN:
        every = number(config, "full_attention_interval") or 4
        return tuple("full" if (index + 1) % every == 0 else "gdn" for index in range(layers))
    if kind in _GLM_NEXT:
        return tuple("mla" if index % 4 == 3 else "kda" for index in range(layers))
    if kind == "kimi_linear":
        linear = set(listed(table(config, "linear_attn_config"), "kda_layers"))
        return tuple("kda" if index + 1 in linear else "mla" for index in range(layers)) if linear else None
    if kind == "bailing_hybrid":
        every = number(config, "layer_group_size") or 6
        last = layers // every * every
        return tuple("mla" if (index + 1) % every == 0 or index >= last else "kda" for index in range(layers))
    if kind in _MINIMAX:
        kinds = listed(config, "attn_type_list", "decoder_attention_types")
        return tuple("full" if one else "lightning" for one in kinds) if len(kinds) == layers else None
    if kind == "jamba":
        every, offset = number(config, "attn_layer_period") or 8, integer(config, "attn_layer_offset")
        return tuple("full" if index % every == (4 if offset is None else offset) else "mamba1" for index in range(layers))
    if kind == "bamba":
        attention = listed(config, "attn_layer_indices")
        return tuple("full" if index in attention else "mamba2" for index in range(layers))
    if kind in ("lfm2", "lfm2_moe"):
        attention = listed(config, "full_attn_idxs")
        return tuple("full" if index in attention else "shortconv" for index in range(layers)) if attention else None
    if kind in ("mimo_v2_flash", "mimo_v2"):
        pattern = listed(config, "hybrid_layer_pattern")
        return tuple("sliding" if one else "full" for one in pattern) if len(pattern) == layers else None
    if kind == "nemotron-nas":
        found = tuple("none" if flag(table(one, "attention"), "no_op") else "full" for one in listed(config, "block_configs"))
        return found if len(found) == layers else None
    if kind in ("llama4", "llama4_text"):
        rope = listed(config, "no_rope_layers")  # 1 where a layer has rotary positions, and with them chunks
        rope = rope if len(rope) == layers else [(index + 1) % 4 for index in range(layers)]
        chunked = integer(config, "attention_chunk_size") is not None
        return tuple("chunked" if one and chunked else "full" for one in rope)
    if kind == "gpt_oss":
        return tuple("full" if index % 2 else "sliding" for index in range(layers))
    if kind in _PATTERN and window:
        every = every or _PATTERN[kind]
        return tuple("full" if (index + 1) % every == 0 else "sliding" for index in range(layers))
    if kind in _WINDOW_OFF:
        return ("full",) * layers
    context = integer(config, "max_position_embeddings")
    if window and kind in ("mistral", "phi3", "phimoe", "starcoder2", "mixtral") and (context is None or window < context):
        return ("sliding",) * layers
    return (full,) * layers


def _compressed(config: Mapping[str, Any], layers: int) -> tuple[str, ...] | None:
    """DeepSeek V4: 0 is a window alone, 4 and 128 say how many tokens share an entry of the cache."""
    ratios = listed(config, "compress_ratios")[:layers]
    if len(ratios) != layers or not all(isinstance(one, int) for one in ratios):
        return None
    return tuple(f"compressed-{one}" if one else "sliding" for one in ratios)


def attention_of(
    kind: str, config: Mapping[str, Any], mixers: tuple[str, ...], traits: frozenset[str]
) -> tuple[Attention, ...] | None:
    """The attention layers by kind, in the order of their first layer, None where the config lacks a dimension.

    `traits` are the words of the model type in traits.json.
    """
    words, own = Counter[str](), Counter[str]()
    sharing = number(config, "num_kv_shared_layers")
    for index, mixer in enumerate(mixers):
        for one in mixer.split("+"):
            if one in ("full", "sliding", "chunked", "mla") or one.startswith("compressed-"):
                words[one] += 1
                own[one] += index < len(mixers) - sharing
    given = listed(config, "num_attention_heads_per_layer")
    found = []
    for one, layers in words.items():
        heads = {count for mixer, count in zip(mixers, given, strict=False) if mixer == one}
        if len(heads) > 1 or not all(isinstance(count, int) for count in heads):
            return None
        found.append(_attention(kind, config, one, layers, own[one], traits, next(iter(heads), 0)))
    kept = tuple([one for one in found if one is not None])
    return kept if len(kept) == len(found) else None


def _attention(
    kind: str, config: Mapping[str, Any], mixer: str, layers: int, cached: int, traits: frozenset[str], heads: int = 0
) -> Attention | None:
    hidden, heads = number(config, "hidden_size", "n_embd", "d_model"), heads or heads_of(config)
    kv_heads = kv_heads_of(kind, config) or heads
    if not hidden or not heads:
        return None
    head = integer(config, "head_dim", "attention_head_dim", "kv_channels") or hidden // heads
    value = integer(config, "v_head_dim") or head
    same = False
    if kind.startswith("gemma4") and mixer == "full":
        head = value = integer(config, "global_head_dim") or head
        if flag(config, "attention_k_eq_v"):
            kv_heads, same = integer(config, "num_global_key_value_heads") or kv_heads, True
    if kind in ("mimo_v2_flash", "mimo_v2") and mixer == "sliding":
        heads = number(config, "swa_num_attention_heads") or heads
        kv_heads = number(config, "swa_num_key_value_heads") or kv_heads
        head, value = number(config, "swa_head_dim") or head, number(config, "swa_v_head_dim") or value
    if kind in ("step3p5", "step3p7") and mixer == "sliding":
        other = table(config, "attention_other_setting")
        heads = integer(config, "num_sliding_attention_heads") or number(other, "num_attention_heads") or heads
        kv_heads = number(other, "num_attention_groups") or kv_heads
    mla = None
    if mixer == "mla":
        keys = ("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim")
        rank, rope, plain, width = (number(config, key) for key in keys)
        mla = Mla(rank, rope, plain, width, integer(config, "q_lora_rank") or None)
        if not mla.kv_lora_rank or not mla.value_dim:
            return None
        kv_heads, head, value = 1, mla.nope_dim + mla.rope_dim, mla.value_dim
    elif kind in V4:
        kv_heads = 1
    windows = ("attention_chunk_size",) if mixer == "chunked" else ("sliding_window", "sliding_window_size")
    windowed = mixer in ("sliding", "chunked") or mixer.startswith("compressed")
    bias, out = _biases(config, traits)
    gated = ("attn_output_gate", "mla_use_output_gate")
    return Attention(
        kind=mixer,
        layers=layers,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head,
        value_dim=value,
        cached=0 if "encoder" in traits else cached,
        window=integer(config, *windows) if windowed else None,
        bias=bias,
        out_bias=out,
        gate=any(flag(config, key) for key in gated) or "gate" in traits,
        qk_norm="qk-norm" in traits or "qk-norm-wide" in traits or ("use-qk-norm" in traits and flag(config, "use_qk_norm")),
        sinks="sinks" in traits or flag(config, "add_swa_attention_sink_bias"),
        key_is_value=same,
        compress=int(mixer.partition("-")[2]) if mixer.startswith("compressed-") else 1,
        rotary=_rotary(config, head, mixer) if mla is None else mla.rope_dim,
        stretch=_stretch(kind, config, mixer),
        mla=mla,
    )


def _biases(config: Mapping[str, Any], traits: frozenset[str]) -> tuple[bool, bool]:
    """Whether the projections of queries, keys and values have a bias, and whether that of the output has one."""
    bias, out = "qkv-bias" in traits, "out-bias" in traits or flag(config, "attention_out_bias")
    for trait, key, both in _BIASES:
        if trait in traits and flag(config, key, trait == "use-bias-all"):
            bias, out = True, out or both
    return bias, out


def _rotary(config: Mapping[str, Any], head: int, mixer: str) -> int:
    """Elements of a head that rotate with the position. A "proportional" table (Gemma 4) includes those that do not."""
    given = integer(config, "rotary_dim", "qk_rope_head_dim")
    if given:
        return min(given, head)
    rope = _rope(config, mixer)
    part = rope.get("partial_rotary_factor", config.get("partial_rotary_factor", 1.0))
    if not isinstance(part, (int, float)) or not 0 < part < 1 or rope.get("rope_type") == "proportional":
        return head
    return int(head * part)


def _rope(config: Mapping[str, Any], mixer: str) -> Mapping[str, Any]:
    """The rotary parameters of layers of a kind."""
    rope = table(config, "rope_parameters")
    return table(rope, {"full": "full_attention", "sliding": "sliding_attention"}.get(mixer, "")) or rope


def _stretch(kind: str, config: Mapping[str, Any], mixer: str) -> int:
    """The factor of linear scaling. Gemma 3's windows have a table of their own without it."""
    plain = kind.startswith("gemma3") and mixer == "sliding"
    rope = _rope(config, mixer) or ({} if plain else table(config, "rope_scaling"))
    factor = rope.get("factor", 1)
    linear = "linear" in (rope.get("rope_type"), rope.get("type"))
    return int(factor) if linear and isinstance(factor, (int, float)) and 1 <= factor <= 1024 else 1


def heads_of(config: Mapping[str, Any]) -> int:
    """Heads of queries."""
    return number(config, "num_attention_heads", "n_head", "n_heads")


def kv_heads_of(kind: str, config: Mapping[str, Any]) -> int | None:
    """Heads of keys and values, None if there are as many as of queries."""
    if kind == "chatglm":
        return integer(config, "multi_query_group_num") if flag(config, "multi_query_attention") else None
    if kind == "gpt_bigcode":
        return 1 if flag(config, "multi_query", True) else None
    if kind == "falcon" and not flag(config, "new_decoder_architecture"):
        return 1 if flag(config, "multi_query", True) else None
    if kind == "nemotron-nas":
        groups = {number(table(one, "attention"), "n_heads_in_group") for one in listed(config, "block_configs")} - {0}
        return heads_of(config) // groups.pop() if len(groups) == 1 else None
    return integer(config, "num_key_value_heads", "num_kv_heads", "n_head_kv", "num_attention_groups")


def states_of(config: Mapping[str, Any], mixers: tuple[str, ...]) -> tuple[StateLayers, ...] | None:
    """The layers with state by kind, None where the config lacks a dimension."""
    kinds = ("gdn", "kda", "mamba1", "mamba2", "lightning", "shortconv")
    words = Counter([one for mixer in mixers for one in mixer.split("+") if one in kinds])
    found = [_state(config, one, layers) for one, layers in words.items()]
    kept = tuple(state for state in found if state is not None)
    return kept if len(kept) == len(found) else None


def _state(config: Mapping[str, Any], kind: str, layers: int) -> StateLayers | None:
    hidden = number(config, "hidden_size")
    dtype = word(config, "mamba_ssm_dtype", "mamba_ssm_cache_dtype")
    heads: Sequence[int | None]
    kernel: int | None = 0
    bias = full = False
    if kind == "gdn":
        keys = ("linear_num_key_heads", "linear_key_head_dim", "linear_num_value_heads", "linear_value_head_dim")
        heads = [integer(config, key) for key in keys]
        kernel = integer(config, "linear_conv_kernel_dim")
    elif kind == "kda":
        given = table(config, "linear_attn_config")
        count = integer(given, "num_heads") or integer(config, "linear_num_heads", "num_attention_heads")
        size = integer(given, "head_dim") or integer(config, "linear_head_dim", "head_dim")
        heads, full = (count, size, count, size), flag(given, "use_full_rank_gate")
        kernel = integer(given, "short_conv_kernel_size") or integer(config, "linear_conv_kernel_dim", "short_conv_kernel_size")
    elif kind == "mamba2":
        count, size = integer(config, "mamba_num_heads", "mamba_n_heads"), integer(config, "mamba_head_dim", "mamba_d_head")
        if count and size is None:
            size = (number(config, "mamba_d_ssm") or number(config, "mamba_expand", "expand") * hidden) // count
        heads = (integer(config, "n_groups", "mamba_n_groups"), integer(config, "ssm_state_size", "mamba_d_state"), count, size)
        kernel = integer(config, "conv_kernel", "mamba_d_conv")
        bias = flag(config, "use_bias") or flag(config, "mamba_proj_bias")
    elif kind == "mamba1":
        heads = (0, integer(config, "mamba_d_state") or 16, (integer(config, "mamba_expand") or 2) * hidden, 1)
        kernel = integer(config, "mamba_d_conv") or 4
    elif kind == "lightning":
        count, size = heads_of(config), integer(config, "head_dim")
        heads = (count, size, count, size)
    else:
        heads, kernel, bias = (0, 0, 1, hidden), integer(config, "conv_L_cache"), flag(config, "conv_bias")
    if kernel is None or any(one is None for one in heads):
        return None
    key_heads, key_dim, value_heads, value_dim = (one or 0 for one in heads)
    return StateLayers(kind, layers, key_heads, key_dim, value_heads, value_dim, kernel, dtype, bias, full)
