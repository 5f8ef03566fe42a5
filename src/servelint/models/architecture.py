"""The architecture of a model as memory planning needs it: layers by kind, caches, and how a checkpoint holds the weights.

A plain check reads none of this. A model is looked up by its name in architectures.json, which keeps what follows of each
config.json, or read from the config.json of a local folder. A name that is in neither is unknown: no model is taken for a
similar one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Mla:
    """Multi-head latent attention: keys and values of all heads in one vector per token. Lengths are elements."""

    kv_lora_rank: int
    rope_dim: int
    nope_dim: int
    value_dim: int
    q_lora_rank: int | None = None

    @property
    def cached(self) -> int:
        """Elements per token and layer, the same on every rank of tensor parallelism."""
        return self.kv_lora_rank + self.rope_dim


@dataclass(frozen=True, slots=True)
class Indexer:
    """The indexer that chooses the tokens of sparse attention. It has one key per token and layer, the same on every rank.

    Attributes:
        heads: heads of its queries.
        head_dim: elements of a key.
        topk: tokens that it chooses.
        layers: layers with an indexer of their own.
        pool: tokens that share a key. Keys of tokens whose pool is not full yet stand in a ring of their own.
        whole: its keys are in 16 bits (Qwen4Exp, MiniMax-M3), not in FP8 with scales.
    """

    heads: int
    head_dim: int
    topk: int
    layers: int
    pool: int = 1
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Attention:
    """Attention layers of one kind.

    Attributes:
        kind: "full", "sliding", "chunked", "mla", "compressed-4" or "compressed-128" (DeepSeek V4).
        layers: how many layers there are.
        heads: heads of queries.
        kv_heads: heads of keys and values, 1 for MLA and DeepSeek V4.
        head_dim: elements of a query or key.
        value_dim: elements of a value.
        cached: layers that keep keys and values of their own. The others use those of an earlier layer.
        window: tokens that a sliding or chunked layer looks back on.
        bias: the projections of queries, keys and values have a bias.
        out_bias: the output projection has a bias.
        gate: the projection of the queries also has an output gate as wide as the queries.
        qk_norm: queries and keys have a norm.
        sinks: each head has a learned sink.
        key_is_value: values are the keys (Gemma 4's full layers). Values have no weights, but both are cached.
        compress: tokens that share one cache entry (DeepSeek V4: 4 and 128), else 1.
        rotary: elements of a head that rotate with the position.
        stretch: how many times its rotary table is longer than the context (linear scaling).
        mla: the dimensions of latent attention.
    """

    kind: str
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    value_dim: int
    cached: int
    window: int | None = None
    bias: bool = False
    out_bias: bool = False
    gate: bool = False
    qk_norm: bool = False
    sinks: bool = False
    key_is_value: bool = False
    compress: int = 1
    rotary: int = 0
    stretch: int = 1
    mla: Mla | None = None


@dataclass(frozen=True, slots=True)
class StateLayers:
    """Layers of one kind that keep a state of fixed size per request.

    Attributes:
        kind: "gdn", "kda", "mamba1", "mamba2", "lightning" or "shortconv".
        layers: how many layers there are.
        key_heads: heads of keys; for Mamba-2 its groups, for Mamba-1 0.
        key_dim: elements of a key; for Mamba the size of its state.
        value_heads: heads of values; for Mamba-2 its heads, for Mamba-1 its inner size.
        value_dim: elements of a value; for Mamba-2 the size of a head, for Mamba-1 1.
        conv_kernel: columns of the convolution, 0 without one. Its state has one column less.
        ssm_dtype: the dtype of the state as the config has it ("float32").
        bias: the projections have a bias.
        full_gate: the output gate has full rank (Kimi K3).
    """

    kind: str
    layers: int
    key_heads: int
    key_dim: int
    value_heads: int
    value_dim: int
    conv_kernel: int
    ssm_dtype: str | None = None
    bias: bool = False
    full_gate: bool = False

    @property
    def conv_channels(self) -> int:
        """Channels that the convolution runs over, 0 without one."""
        if not self.conv_kernel:
            return 0
        return 2 * self.key_heads * self.key_dim + self.value_heads * self.value_dim

    @property
    def state_elements(self) -> int:
        """Elements of the recurrent state of one layer and request, before tensor parallelism divides it."""
        return 0 if self.kind == "shortconv" else self.value_heads * self.value_dim * self.key_dim


@dataclass(frozen=True, slots=True)
class Experts:
    """The experts of a mixture.

    Attributes:
        count: routed experts of a layer.
        per_token: experts that a token is sent to.
        intermediate: the inner size of one routed expert.
        layers: layers with experts.
        shared: the inner size of all shared experts together, 0 without one.
        shared_gate: the shared experts have a gate.
        latent: the width that routed experts work in, where it is not the hidden size.
        gated: the experts have a gate projection.
        bias: the experts have biases.
        correction: the router has a correction bias.
    """

    count: int
    per_token: int
    intermediate: int
    layers: int
    shared: int = 0
    shared_gate: bool = False
    latent: int | None = None
    gated: bool = True
    bias: bool = False
    correction: bool = False


@dataclass(frozen=True, slots=True)
class LowRank:
    """DeepSeek V4's projections of low rank.

    Attributes:
        q_lora_rank: the rank of the queries.
        o_groups: groups of the output.
        o_lora_rank: the rank of the output.
        streams: residual streams.
    """

    q_lora_rank: int
    o_groups: int
    o_lora_rank: int
    streams: int


@dataclass(frozen=True, slots=True)
class Vision:
    """The encoder of images.

    Attributes:
        layers: its layers.
        hidden: its hidden size.
        intermediate: its inner size.
        params: all its parameters, the projection to the language model included, None if that is not known.
        merge: patches that one token merges, along each side.
        kind: its model type.
    """

    layers: int
    hidden: int
    intermediate: int
    params: int | None = None
    merge: int = 1
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """What makes a model a draft of another one.

    Attributes:
        kind: "eagle3" or "dflash".
        taps: hidden states of the target that its first layer takes.
        vocab: tokens that it can propose, 0 without a head of its own.
    """

    kind: str
    taps: int
    vocab: int


@dataclass(frozen=True, slots=True)
class Format:
    """How a checkpoint stores some of its matrices.

    Attributes:
        scheme: "none", "fp8-block", "fp8", "int8", "int4", "nvfp4", "mxfp4", "mxfp8", "bnb4", "bnb8" or "gguf".
        bits: bits of a weight.
        group: weights that share a scale, 0 for a channel or all.
        zeros: it stores zero points.
        targets: the names of these matrices, with * for anything, or "re:" and a regular expression. Empty for all linear
            layers.
    """

    scheme: str = "none"
    bits: float = 16
    group: int = 0
    zeros: bool = False
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quantization:
    """How a checkpoint holds its weights.

    Attributes:
        method: as config.json has it (fp8, awq, gptq, compressed-tensors, modelopt, mxfp4, bitsandbytes, gguf), or "none".
        formats: the formats, that of most weights last. The first that names a matrix applies to it.
        ignored: matrices that are not quantized: names, with * for anything, or "re:" and a regular expression.
        kv_cache: the dtype of the KV cache where the checkpoint has scales for one ("fp8"). Engines take it for `auto`.
        gguf: the file type of a GGUF ("Q4_K_M").
    """

    method: str = "none"
    formats: tuple[Format, ...] = (Format(),)
    ignored: tuple[str, ...] = ()
    kv_cache: str | None = None
    gguf: str | None = None

    @property
    def scheme(self) -> str:
        """The scheme of most weights."""
        return self.formats[-1].scheme


@dataclass(frozen=True, slots=True)
class Architecture:
    """A model as memory planning sees it. Lengths are elements, sizes of files are bytes.

    Attributes:
        name: the name of the model.
        architecture: the class name that config.json has.
        model_type: its model type.
        layers: how many layers it has.
        hidden: its hidden size.
        vocab: the size of its vocabulary.
        mixers: a word per layer: "full", "sliding", "chunked", "mla", "compressed-4", "gdn", ..., or "none" for a layer with
            only a feed-forward part. Two with "+" run side by side (Falcon-H1).
        feeds: a word per layer: "dense", "moe", "dense+moe" or "none".
        attention: its attention layers by kind.
        states: its layers with state by kind.
        heads: heads of queries.
        widths: the inner size of each layer's dense feed-forward part, 0 without one.
        gated: the dense feed-forward part has a gate.
        mlp_bias: the dense feed-forward part has biases.
        experts: the experts.
        indexer: the indexer of sparse attention.
        low_rank: DeepSeek V4's projections.
        draft: what makes it a draft of another model.
        tied: the embedding is also the head.
        context: max_position_embeddings.
        per_layer: the width of a token's own embedding for each layer (Gemma 3n, small Gemma 4), 0 without one.
        positions: learned embeddings of positions, 0 without them.
        encoder: it writes nothing, like BERT.
        mrope: its positions have three axes, for pictures.
        norms: norms of a layer, each as wide as the model.
        vision: the encoder of images.
        mtp_layers: layers of multi-token prediction in the checkpoint.
        streams: residual streams, several with hyper-connections. DeepSeek V4's are in `low_rank`.
        stream_rank: the rank of what mixes the streams (Qwen4Exp), 0 where it has full rank.
        ngrams: rows and columns of a table of embeddings of n-grams (Qwen4Exp), None without one.
        dtype: the dtype of the weights.
        quantization: how the checkpoint holds its weights.
        checkpoint: bytes of the published files, where they were measured for this very checkpoint.
        sources: where the facts come from.
    """

    name: str
    architecture: str
    model_type: str
    layers: int
    hidden: int
    vocab: int
    mixers: tuple[str, ...]
    feeds: tuple[str, ...]
    attention: tuple[Attention, ...] = ()
    states: tuple[StateLayers, ...] = ()
    heads: int = 0
    widths: tuple[int, ...] = ()
    gated: bool = True
    mlp_bias: bool = False
    experts: Experts | None = None
    indexer: Indexer | None = None
    low_rank: LowRank | None = None
    draft: Draft | None = None
    tied: bool = False
    context: int | None = None
    per_layer: int = 0
    positions: int = 0
    encoder: bool = False
    mrope: bool = False
    norms: int = 2
    vision: Vision | None = None
    mtp_layers: int = 0
    streams: int = 1
    stream_rank: int = 0
    ngrams: tuple[int, int] | None = None
    dtype: str = "bfloat16"
    quantization: Quantization = field(default_factory=Quantization)
    checkpoint: int | None = None
    sources: tuple[str, ...] = ()

    @property
    def dense(self) -> int:
        """The inner size of the widest dense feed-forward part."""
        return max(self.widths, default=0)


def find(
    name: str,
    opened: Callable[[str], str | None] | None = None,
    parts: Callable[[str, int, int], bytes | None] | None = None,
) -> Architecture | None:
    """The architecture of a model by the files of a folder, or by the name of its repository, None if it is unknown.

    `opened` and `parts` read a text, and bytes for the headers of long files (open_in and parts_in of servelint.models.folder).
    """
    from servelint.models import catalog, checkpoint, pruned

    found = checkpoint.read(name, opened, parts) if opened is not None else None
    return found or catalog.lookup(name) or pruned.lookup(name)
