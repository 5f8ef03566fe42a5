"""What a plan for memory needs to know of a model: its layers by kind, its caches, and how its checkpoint holds the weights.

Nothing here is read by a plain check. A model is looked up by its name in architectures.json, which keeps of each config.json
what follows, or read from the config.json in a folder that is here. A name that is in neither is unknown: none is taken for
another that is like it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Mla:
    """Multi-head latent attention: keys and values of all heads in one vector a token."""

    kv_lora_rank: int
    rope_dim: int
    nope_dim: int
    value_dim: int
    q_lora_rank: int | None = None

    @property
    def cached(self) -> int:
        """Elements a token and layer, the same on every rank of tensor parallelism."""
        return self.kv_lora_rank + self.rope_dim


@dataclass(frozen=True, slots=True)
class Indexer:
    """What chooses the tokens that sparse attention sees: a key of `head_dim` a token and layer, the same on every rank.

    layers: those that have an indexer of their own
    """

    heads: int
    head_dim: int
    topk: int
    layers: int


@dataclass(frozen=True, slots=True)
class Attention:
    """Attention layers that are alike.

    kind:       "full", "sliding", "chunked", "mla", "compressed-4", "compressed-128" (DeepSeek V4)
    layers:     how many there are; of these `cached` keep keys and values of their own, others use those of a layer before them
    kv_heads:   1 for MLA and DeepSeek V4
    head_dim:   of queries and keys; value_dim of values
    window:     tokens that a sliding (or chunked) layer looks back on
    key_is_value: values are the keys (Gemma 4's full layers): no weights for values, yet both are cached
    gate:       an output gate as wide as the queries is in the projection of the queries
    rotary:     elements of a head that turn with its position
    compress:   tokens that share one entry of the cache (DeepSeek V4: 4, 128), 1 where there is no such thing
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
    mla: Mla | None = None


@dataclass(frozen=True, slots=True)
class State:
    """Layers that keep a state of one size a request: GDN, KDA, Mamba, lightning attention, short convolutions.

    kind:    "gdn", "kda", "mamba1", "mamba2", "lightning", "shortconv"
    key_heads, key_dim:     of Mamba-2 its groups and the size of its state; of Mamba-1 0 and the size of its state
    value_heads, value_dim: of Mamba-2 its heads and their size; of Mamba-1 its inner size and 1
    conv_kernel:            0 if there is no convolution; the state of a convolution has one column less
    ssm_dtype:              as the config has it ("float32"), None if it says nothing
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
        """Channels that the convolution runs over; 0 if there is none."""
        if not self.conv_kernel:
            return 0
        return 2 * self.key_heads * self.key_dim + self.value_heads * self.value_dim

    @property
    def state_elements(self) -> int:
        """Elements of the recurrent state of one layer and request, before tensor parallelism divides it."""
        return 0 if self.kind == "shortconv" else self.value_heads * self.value_dim * self.key_dim


@dataclass(frozen=True, slots=True)
class Experts:
    """intermediate: of one routed expert; shared: the width of all shared experts together, 0 if there is none;
    latent: the width that routed experts work in, where it is not the hidden size; layers: how many have experts."""

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
    """What DeepSeek V4 has for plain projections: the rank of queries, groups and rank of the output, residual streams."""

    q_lora_rank: int
    o_groups: int
    o_lora_rank: int
    streams: int


@dataclass(frozen=True, slots=True)
class Vision:
    """The encoder of images. params: all of it with what projects to the language model, None if that is not known."""

    layers: int
    hidden: int
    intermediate: int
    params: int | None = None
    merge: int = 1
    patch: int | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """What makes a model a draft of another one.

    kind:  "eagle3", "dflash"
    taps:  hidden states of the target that its first layer takes
    vocab: tokens that it can propose; 0 if it has no head of its own
    """

    kind: str
    taps: int
    vocab: int


@dataclass(frozen=True, slots=True)
class Format:
    """How modules of a checkpoint are stored.

    scheme:  "none", "fp8-block", "fp8", "int8", "int4", "nvfp4", "mxfp4", "mxfp8", "bnb4", "bnb8", "gguf"
    bits, group: of the weights, and how many of them share a scale (0: a channel or all)
    zeros:   it stores zero points
    targets: the modules that are so: names, with * for anything, or "re:" and a regular expression; none: all that are linear
    """

    scheme: str = "none"
    bits: float = 16
    group: int = 0
    zeros: bool = False
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quantization:
    """How a checkpoint holds its weights.

    method:   as config.json has it (fp8, awq, gptq, compressed-tensors, modelopt, mxfp4, bitsandbytes, gguf); "none"
    formats:  of several the one of most weights last, and the first that names a module is the module's
    ignored:  modules that stay as they were: names, with * for anything, or "re:" and a regular expression
    kv_cache: the KV cache's dtype where the checkpoint brings scales for one ("fp8"): engines take it for `auto`
    gguf:     the file type of a GGUF ("Q4_K_M")
    """

    method: str = "none"
    formats: tuple[Format, ...] = (Format(),)
    ignored: tuple[str, ...] = ()
    kv_cache: str | None = None
    gguf: str | None = None

    @property
    def scheme(self) -> str:
        """Of most weights."""
        return self.formats[-1].scheme


@dataclass(frozen=True, slots=True)
class Architecture:
    """A model as memory sees it. Lengths are elements, sizes of files bytes.

    mixers:      a word for each layer: "full", "sliding", "chunked", "mla", "compressed-4", "gdn", ..., "none" (the layer has
                 only a feed-forward part), two of them with "+" where they run side by side (Falcon-H1)
    feeds:       a word for each layer: "dense", "moe", "dense+moe", "none"
    widths:      the intermediate size of the dense feed-forward part of each layer, 0 where it has none
    context:     max_position_embeddings, None if the config has none
    checkpoint:  bytes of the files as published, where that was measured for this very checkpoint
    per_layer:   what a token's own embedding for each layer is wide (Gemma 3n, the small Gemma 4), 0 if there is none
    positions:   learned embeddings of positions, 0 if there are none
    mrope:       its positions have three axes, for pictures
    encoder:     it writes nothing: BERT and its like
    norms:       norms of a layer, each as wide as the model
    mtp_layers:  layers of multi-token prediction that the checkpoint brings
    sources:     where the facts are from
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
    states: tuple[State, ...] = ()
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
    dtype: str = "bfloat16"
    quantization: Quantization = field(default_factory=Quantization)
    checkpoint: int | None = None
    sources: tuple[str, ...] = ()

    @property
    def dense(self) -> int:
        """The widest dense feed-forward part."""
        return max(self.widths, default=0)


def find(
    name: str,
    opened: Callable[[str], str | None] | None = None,
    parts: Callable[[str, int, int], bytes | None] | None = None,
) -> Architecture | None:
    """The architecture of a model by its repository's name, or by the files in a folder; None if it is unknown.

    opened: gives the text of a file by its path, None if it is not here (servelint.models.folder.open_in)
    parts:  gives bytes of a file by its path, offset and length (servelint.models.folder.parts_in): headers of long files
    """
    from servelint.models import catalog, checkpoint

    found = checkpoint.read(name, opened, parts) if opened is not None else None
    return found or catalog.lookup(name)
