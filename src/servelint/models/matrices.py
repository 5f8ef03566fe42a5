"""The matrices of a model with their shapes, as published checkpoints name and shape them.

Shapes are those of Transformers 5.23.0 models/*/modeling_*.py; multi-token prediction as in vllm-0.33.0
vllm/model_executor/models/deepseek_mtp.py, qwen3_5_mtp.py and nemotron_h_mtp.py. Vectors (norms, biases) are counted too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from servelint.models.architecture import Architecture, Attention, Indexer, LowRank, StateLayers

HEAD, MTP, VISION = -1, -2, -3
"""What stands for a layer's number in matrices outside of layers. Embeddings belong to layer 0."""

NGRAMS = "ple.ngram_embedding"
"""The name of the table of embeddings of n-grams."""
_ATTENTION = ("full", "mla", "sliding", "chunked", "compressed")


@dataclass(eq=False, slots=True)
class Matrix:
    """A matrix of weights, or several equal ones.

    Attributes:
        layer: the number of its layer. MTP and VISION belong to no pipeline stage.
        name: its name in the checkpoint, from `layers` on: "layers.3.self_attn.q_proj".
        group: "embedding", "lm_head", "attention", "linear attention", "dense mlp", "experts", "shared experts", "router",
            "norms", "vision", "mtp" or "draft".
        rows: outputs.
        columns: inputs, 1 for a vector.
        split: what tensor parallelism divides: "rows", "columns", "vocab", "kv" (rows, into no smaller parts than `units`), or
            "" for nothing.
        count: how many of it there are (experts).
        units: of "kv", the heads or groups that cannot be divided.
        plain: no quantization applies to it: vectors, embeddings, routers that are not linear layers.
        single: it is float32 whatever the model's dtype.
    """

    layer: int
    name: str
    group: str
    rows: int
    columns: int
    split: str = ""
    count: int = 1
    units: int = 1
    plain: bool = False
    single: bool = False

    @property
    def parameters(self) -> int:
        """The number of weights of all of them, undivided."""
        return self.rows * self.columns * self.count


def matrices(model: Architecture, layers: Iterable[int] | None = None) -> Iterator[Matrix]:
    """All matrices of a model. Its encoder of images is one, and those of multi-token prediction have the layer MTP.

    Args:
        model: the model.
        layers: the layers to include, all by default. Matrices outside of layers are always included.
    """
    draft = model.draft
    if draft is None or draft.vocab:
        yield Matrix(0, "embed_tokens", "embedding", model.vocab, model.hidden, "vocab", plain=True)
    if draft is not None:
        yield Matrix(0, "fc", "draft", model.hidden, draft.taps * model.hidden)
    if model.positions:
        yield Matrix(0, "embed_positions", "embedding", model.positions, model.hidden, plain=True)
    if model.per_layer:
        yield Matrix(0, "embed_tokens_per_layer", "embedding", model.vocab, model.per_layer * model.layers, "vocab", plain=True)
        yield Matrix(0, "per_layer_model_projection", "embedding", model.per_layer * model.layers, model.hidden)
    if model.ngrams is not None:
        yield Matrix(0, NGRAMS, "embedding", *model.ngrams, "vocab", plain=True)
        yield Matrix(0, "ple.kv_proj", "attention", (model.streams + 1) * model.hidden, model.hidden, plain=True)
    for index in range(model.layers) if layers is None else layers:
        yield from layer_matrices(model, index, index, f"layers.{index}.")
    yield Matrix(HEAD, "norm", "norms", model.hidden, 1, plain=True)
    head = model.vocab if draft is None else draft.vocab
    if head and not model.encoder:
        yield Matrix(HEAD, "lm_head", "lm_head", head, model.hidden, "vocab")
    if model.vision is not None and model.vision.params is not None:
        yield Matrix(VISION, "vision", "vision", model.vision.params, 1, "rows", plain=True)
    yield from _mtp(model)


def _mtp(model: Architecture) -> Iterator[Matrix]:
    """Multi-token prediction: a layer like the last one, and what joins the last hidden state and the next embedding."""
    source = next((index for index in range(model.layers - 1, -1, -1) if model.mixers[index].startswith(_ATTENTION)), None)
    if source is None:
        return
    deepseek = model.model_type.startswith(("deepseek", "glm", "kimi", "mimo", "step", "ernie", "exaone", "bailing"))
    for index in range(model.mtp_layers):
        prefix = f"layers.{model.layers + index}." if deepseek else f"mtp.layers.{index}."
        yield Matrix(MTP, prefix + ("eh_proj" if deepseek else "fc"), "mtp", model.hidden, 2 * model.hidden)
        several = (source, source + 1) if model.model_type == "nemotron_h" else (source,)
        for one in several:  # Nemotron-H has attention and experts in layers of their own
            mixer = "sliding" if model.low_rank is not None else None  # DeepSeek V4's own looks at a window alone
            for matrix in layer_matrices(model, one, MTP, prefix, mixer):
                matrix.group = "mtp"
                yield matrix
        yield Matrix(MTP, prefix + "norms", "mtp", 3 * model.hidden, 1, plain=True)


def shape_of(model: Architecture, index: int) -> Hashable:
    """A key that is equal for layers whose matrices have equal names and shapes: all that `layer_matrices` reads of a layer."""
    indexer = model.indexer is not None and not model.states and _has_indexer(model.indexer, model.layers, index)
    return model.mixers[index], model.feeds[index], model.widths[index] if model.widths else 0, indexer


def layer_matrices(model: Architecture, index: int, layer: int, prefix: str, mixer: str | None = None) -> Iterator[Matrix]:
    """The matrices of one layer.

    Args:
        model: the model.
        index: the layer.
        layer: the number that its matrices get.
        prefix: the beginning of their names.
        mixer: a kind of attention in place of the layer's own.
    """
    for word in (mixer or model.mixers[index]).split("+"):
        attention = next((one for one in model.attention if one.kind == word), None)
        if attention is None and mixer is not None:  # a kind that no layer of the model has: DeepSeek V4 Pro
            attention = replace(model.attention[0], kind=word, compress=1)
        state = next((one for one in model.states if one.kind == word), None)
        if attention is not None:
            yield from _attention(model, attention, layer, prefix + "self_attn.")
        elif state is not None:
            shaped, name = _STATES[word]
            yield from shaped(model, state, layer, prefix + name)
    yield from _feed(model, index, layer, prefix + "mlp.")
    yield Matrix(layer, prefix + "norms", "norms", model.norms * model.hidden, 1, plain=True)
    if model.streams > 1:
        yield from _streams(model, layer, prefix)


def _streams(model: Architecture, layer: int, prefix: str) -> Iterator[Matrix]:
    """What mixes the residual streams, before attention and before the feed-forward part, the same on every rank.

    Sources: hc_attn_fn in vllm-0.33.0 vllm/models/glm5next/common/model.py, vllm/models/qwen4_exp/nvidia/hyperconnection.py.
    """
    group, wide = "attention", model.streams * model.hidden
    if model.stream_rank:
        yield Matrix(layer, prefix + "hyper_connection.down", group, 2 * (model.stream_rank + model.streams), wide, plain=True)
        yield Matrix(layer, prefix + "hyper_connection.up", group, 2 * wide, model.stream_rank, plain=True)
    else:
        mixes = (2 + model.streams) * model.streams
        yield Matrix(layer, prefix + "hc", group, 2 * mixes, wide, plain=True, single=True)


def _attention(model: Architecture, kind: Attention, layer: int, prefix: str) -> Iterator[Matrix]:
    hidden, heads = model.hidden, kind.heads
    group = "attention"
    if kind.mla is not None:
        mla = kind.mla
        head = mla.nope_dim + mla.rope_dim
        if mla.q_lora_rank:
            yield Matrix(layer, prefix + "q_a_proj", group, mla.q_lora_rank, hidden)
            yield Matrix(layer, prefix + "q_b_proj", group, heads * head, mla.q_lora_rank, "rows")
            yield Matrix(layer, prefix + "q_a_layernorm", "norms", mla.q_lora_rank, 1, plain=True)
        else:
            yield Matrix(layer, prefix + "q_proj", group, heads * head, hidden, "rows")
        yield Matrix(layer, prefix + "kv_a_proj_with_mqa", group, mla.cached, hidden)
        yield Matrix(layer, prefix + "kv_a_layernorm", "norms", mla.kv_lora_rank, 1, plain=True)
        yield Matrix(layer, prefix + "kv_b_proj", group, heads * (mla.nope_dim + mla.value_dim), mla.kv_lora_rank, "rows")
        yield Matrix(layer, prefix + "o_proj", group, hidden, heads * mla.value_dim, "columns")
        if kind.gate:
            yield Matrix(layer, prefix + "g_proj", group, heads * mla.value_dim, hidden, "rows")
    elif model.low_rank is not None:
        yield from _compressed(model, model.low_rank, kind, layer, prefix)
    else:
        columns = 2 * hidden if model.draft is not None and model.draft.kind == "eagle3" else hidden
        wide, narrow, values = heads * kind.head_dim, kind.kv_heads * kind.head_dim, kind.kv_heads * kind.value_dim
        yield Matrix(layer, prefix + "q_proj", group, wide * (2 if kind.gate else 1), columns, "rows")
        yield Matrix(layer, prefix + "k_proj", group, narrow, columns, "kv", units=kind.kv_heads)
        if not kind.key_is_value:
            yield Matrix(layer, prefix + "v_proj", group, values, columns, "kv", units=kind.kv_heads)
        yield Matrix(layer, prefix + "o_proj", group, hidden, heads * kind.value_dim, "columns")
        if kind.bias:
            yield Matrix(layer, prefix + "bias", group, wide + narrow + values, 1, "rows", plain=True)
        if kind.out_bias:
            yield Matrix(layer, prefix + "o_proj.bias", group, hidden, 1, plain=True)
        if kind.qk_norm:
            wide_norm = model.model_type in ("minimax_m2", "olmo2", "olmo3", "olmoe")
            yield Matrix(layer, prefix + "qk_norm", "norms", wide + narrow if wide_norm else 2 * kind.head_dim, 1, plain=True)
    if kind.sinks:
        yield Matrix(layer, prefix + "sinks", group, heads, 1, "rows", plain=True)
    one = model.indexer
    if one is not None and model.low_rank is None and (model.states or _has_indexer(one, model.layers, layer)):
        queries = kind.mla.q_lora_rank if kind.mla is not None and kind.mla.q_lora_rank else hidden
        yield Matrix(layer, prefix + "indexer.wq_b", group, one.heads * one.head_dim, queries)
        yield Matrix(layer, prefix + "indexer.wk", group, one.head_dim, hidden)
        if one.pool > 1 and kind.mla is not None:  # the gate by which the keys of a pool are weighed
            yield Matrix(layer, prefix + "indexer.gate", group, one.head_dim, hidden, plain=True)
        if kind.mla is not None:
            yield Matrix(layer, prefix + "indexer.weights_proj", group, one.heads, hidden, plain=True)
        yield Matrix(layer, prefix + "indexer.k_norm", "norms", 2 * one.head_dim, 1, plain=True)


def _has_indexer(indexer: Indexer, layers: int, layer: int) -> bool:
    """Whether a layer has an indexer. Only their number matters, so where some layers share one they are spread evenly."""
    own = indexer.layers
    return layer < 0 or own == layers or (layer + 1) * own // layers > layer * own // layers


def _compressed(model: Architecture, rank: LowRank, kind: Attention, layer: int, prefix: str) -> Iterator[Matrix]:
    """DeepSeek V4's attention: Transformers 5.23.0 models/deepseek_v4/modeling_deepseek_v4.py.

    What mixes its streams is float32 in both engines (sglang-0.5.14 srt/models/deepseek_v4.py hc_attn_fn, vllm-0.33.0
    vllm/models/deepseek_v4).
    """
    group, hidden, head = "attention", model.hidden, kind.head_dim
    yield Matrix(layer, prefix + "q_a_proj", group, rank.q_lora_rank, hidden)
    yield Matrix(layer, prefix + "q_b_proj", group, kind.heads * head, rank.q_lora_rank, "rows")
    yield Matrix(layer, prefix + "kv_proj", group, head, hidden)
    yield Matrix(
        layer, prefix + "o_a_proj", group, rank.o_groups * rank.o_lora_rank, kind.heads * head // rank.o_groups, "rows"
    )
    yield Matrix(layer, prefix + "o_b_proj", group, hidden, rank.o_groups * rank.o_lora_rank, "columns")
    yield Matrix(layer, prefix + "qk_norm", "norms", rank.q_lora_rank + head, 1, plain=True)
    mixes = (2 + rank.streams) * rank.streams
    yield Matrix(layer, prefix + "hc", group, 2 * mixes, rank.streams * hidden, plain=True, single=True)
    if kind.compress > 1:
        wide = 2 * head if kind.compress == 4 else head
        yield Matrix(layer, prefix + "compressor", group, 2 * wide, hidden, plain=True)
        yield Matrix(layer, prefix + "compressor.position_bias", group, kind.compress * wide, 1, plain=True, single=True)
    if kind.compress == 4 and model.indexer is not None:
        one = model.indexer
        yield Matrix(layer, prefix + "indexer.compressor", group, 4 * one.head_dim, hidden, plain=True)
        yield Matrix(layer, prefix + "indexer.wq_b", group, one.heads * one.head_dim, rank.q_lora_rank)
        yield Matrix(layer, prefix + "indexer.weights_proj", group, one.heads, hidden, plain=True)


def _gdn(model: Architecture, state: StateLayers, layer: int, prefix: str) -> Iterator[Matrix]:
    group, hidden = "linear attention", model.hidden
    values = state.value_heads * state.value_dim
    yield Matrix(layer, prefix + "in_proj_qkv", group, state.conv_channels, hidden, "rows")
    yield Matrix(layer, prefix + "in_proj_z", group, values, hidden, "rows")
    yield Matrix(layer, prefix + "in_proj_b", group, state.value_heads, hidden, "rows")
    yield Matrix(layer, prefix + "in_proj_a", group, state.value_heads, hidden, "rows")
    yield Matrix(layer, prefix + "conv1d", group, state.conv_channels, state.conv_kernel, "rows", plain=True)
    yield Matrix(layer, prefix + "out_proj", group, hidden, values, "columns")
    yield Matrix(layer, prefix + "A_log", group, 2 * state.value_heads + state.value_dim, 1, plain=True)


def _kda(model: Architecture, state: StateLayers, layer: int, prefix: str) -> Iterator[Matrix]:
    """Transformers 5.23.0 models/kimi_linear/modeling_kimi_linear.py: gates as narrow as a head, or (Kimi K3) of full rank."""
    group, hidden = "linear attention", model.hidden
    keys, values = state.key_heads * state.key_dim, state.value_heads * state.value_dim
    for name, rows in (("q_proj", keys), ("k_proj", keys), ("v_proj", values)):
        yield Matrix(layer, prefix + name, group, rows, hidden, "rows")
    yield Matrix(layer, prefix + "conv1d", group, state.conv_channels, state.conv_kernel, "rows", plain=True)
    yield Matrix(layer, prefix + "f_a_proj", group, state.value_dim, hidden)
    yield Matrix(layer, prefix + "f_b_proj", group, values, state.value_dim, "rows")
    if state.full_gate:
        yield Matrix(layer, prefix + "g_proj", group, values, hidden, "rows")
    else:
        yield Matrix(layer, prefix + "g_a_proj", group, state.value_dim, hidden)
        yield Matrix(layer, prefix + "g_b_proj", group, values, state.value_dim, "rows")
    yield Matrix(layer, prefix + "b_proj", group, state.value_heads, hidden, "rows")
    yield Matrix(layer, prefix + "A_log", group, state.value_heads + values + state.value_dim, 1, plain=True)
    yield Matrix(layer, prefix + "o_proj", group, hidden, values, "columns")


def _mamba2(model: Architecture, state: StateLayers, layer: int, prefix: str) -> Iterator[Matrix]:
    """Each rank has whole groups.

    Source: extra_groups_for_head_shards in vllm-0.33.0 vllm/model_executor/layers/mamba/mamba_mixer2.py.
    """
    group, hidden = "linear attention", model.hidden
    values, keys = state.value_heads * state.value_dim, state.key_heads * state.key_dim
    yield Matrix(layer, prefix + "in_proj", group, 2 * values + state.value_heads, hidden, "rows")
    yield Matrix(layer, prefix + "in_proj", group, 2 * keys, hidden, "kv", units=state.key_heads)
    yield Matrix(layer, prefix + "conv1d", group, values, state.conv_kernel + 1, "rows", plain=True)
    yield Matrix(layer, prefix + "conv1d", group, 2 * keys, state.conv_kernel + 1, "kv", units=state.key_heads, plain=True)
    yield Matrix(layer, prefix + "out_proj", group, hidden, values, "columns")
    yield Matrix(layer, prefix + "norm", "norms", values + 3 * state.value_heads, 1, "rows", plain=True)


def _mamba1(model: Architecture, state: StateLayers, layer: int, prefix: str) -> Iterator[Matrix]:
    """Transformers 5.23.0 models/jamba/modeling_jamba.py: the rank of the time step is a sixteenth of the hidden size."""
    group, hidden, inner = "linear attention", model.hidden, state.value_heads
    rank = -(-hidden // 16)
    yield Matrix(layer, prefix + "in_proj", group, 2 * inner, hidden, "rows")
    yield Matrix(layer, prefix + "conv1d", group, inner, state.conv_kernel + 1, "rows", plain=True)
    yield Matrix(layer, prefix + "x_proj", group, rank + 2 * state.key_dim, inner, "columns")
    yield Matrix(layer, prefix + "dt_proj", group, inner, rank + 1, "rows")
    yield Matrix(layer, prefix + "A_log", group, inner, state.key_dim + 1, "rows", plain=True)
    yield Matrix(layer, prefix + "out_proj", group, hidden, inner, "columns")


def _lightning(model: Architecture, state: StateLayers, layer: int, prefix: str) -> Iterator[Matrix]:
    """Transformers 5.23.0 models/minimax/modeling_minimax.py."""
    group, hidden, wide = "linear attention", model.hidden, state.value_heads * state.value_dim
    yield Matrix(layer, prefix + "qkv_proj", group, 3 * wide, hidden, "rows")
    yield Matrix(layer, prefix + "output_gate", group, wide, hidden, "rows")
    yield Matrix(layer, prefix + "out_proj", group, hidden, wide, "columns")
    yield Matrix(layer, prefix + "norm", "norms", wide, 1, plain=True)


def _shortconv(model: Architecture, state: StateLayers, layer: int, prefix: str) -> Iterator[Matrix]:
    """Transformers 5.23.0 models/lfm2/modeling_lfm2.py."""
    group, hidden = "linear attention", model.hidden
    yield Matrix(layer, prefix + "in_proj", group, 3 * hidden, hidden, "rows")
    yield Matrix(layer, prefix + "conv", group, hidden, state.conv_kernel, "rows", plain=True)
    yield Matrix(layer, prefix + "out_proj", group, hidden, hidden, "columns")


_STATES = {
    "gdn": (_gdn, "linear_attn."), "kda": (_kda, "self_attn."), "mamba2": (_mamba2, "mixer."), "mamba1": (_mamba1, "mamba."),
    "lightning": (_lightning, "self_attn."), "shortconv": (_shortconv, "conv."),
}  # fmt: skip
"""Kind of layers with state -> what yields their matrices, and the beginning of the matrices' names."""


def _feed(model: Architecture, index: int, layer: int, prefix: str) -> Iterator[Matrix]:
    hidden, feed = model.hidden, model.feeds[index]
    if "dense" in feed and model.widths[index]:
        yield from _gated(layer, prefix, "dense mlp", model.widths[index], hidden, model.gated)
        if model.mlp_bias:
            yield Matrix(
                layer, prefix + "bias", "dense mlp", (2 if model.gated else 1) * model.widths[index] + hidden, 1, plain=True
            )
    if model.per_layer:
        yield Matrix(layer, prefix + "per_layer_input_gate", "dense mlp", model.per_layer, hidden)
        yield Matrix(layer, prefix + "per_layer_projection", "dense mlp", hidden, model.per_layer)
    experts = model.experts
    if "moe" not in feed or experts is None:
        return
    if feed == "dense+moe":
        prefix = prefix.removesuffix("mlp.")  # Gemma 4's experts stand beside its dense part
    yield Matrix(layer, prefix + "gate", "router", experts.count, hidden, plain=True)
    if experts.correction or experts.bias:
        yield Matrix(layer, prefix + "gate.bias", "router", experts.count, 1, plain=True)
    width = experts.latent or hidden
    inner = 2 * experts.intermediate if experts.gated else experts.intermediate
    yield Matrix(layer, prefix + "experts.gate_up_proj", "experts", inner, width, "rows", count=experts.count)
    yield Matrix(layer, prefix + "experts.down_proj", "experts", width, experts.intermediate, "columns", count=experts.count)
    if experts.bias:
        yield Matrix(layer, prefix + "experts.bias", "experts", inner + width, 1, count=experts.count, plain=True)
    if experts.latent:
        yield Matrix(layer, prefix + "fc1_latent_proj", "shared experts", experts.latent, hidden)
        yield Matrix(layer, prefix + "fc2_latent_proj", "shared experts", hidden, experts.latent)
    if experts.shared:
        yield from _gated(layer, prefix + "shared_experts.", "shared experts", experts.shared, hidden, experts.gated)
        if experts.shared_gate:
            yield Matrix(layer, prefix + "shared_expert_gate", "router", 1, hidden, plain=True)


def _gated(layer: int, prefix: str, group: str, width: int, hidden: int, gated: bool) -> Iterator[Matrix]:
    if gated:
        yield Matrix(layer, prefix + "gate_proj", group, width, hidden, "rows")
    yield Matrix(layer, prefix + "up_proj", group, width, hidden, "rows")
    yield Matrix(layer, prefix + "down_proj", group, hidden, width, "columns")
