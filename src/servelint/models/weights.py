"""What the weights of a model take on one GPU.

Each matrix is divided as vLLM and SGLang divide it (vllm-0.33.0 vllm/model_executor/layers/linear.py,
vocab_parallel_embedding.py and fused_moe/layer.py; sglang-0.5.14 srt/layers has the same), weighed in the format of the
checkpoint, and rounded as the allocator of PyTorch rounds it. Multi-token prediction, the encoder and tables are counted apart.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from servelint.models.architecture import Format, Quantization
from servelint.models.matrices import HEAD, MTP, VISION, layer_matrices, matrices, shape_of
from servelint.models.quantization import Formats, tensors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from servelint.models.architecture import Architecture
    from servelint.models.matrices import Matrix

GIB = 1 << 30
_MIB = 1 << 20
_PAD_VOCAB = 64
"""vllm-0.33.0 vocab_parallel_embedding.py DEFAULT_VOCAB_PADDING_SIZE, the same in sglang-0.5.14."""
_FUSED = {
    "q_proj": "qkv", "k_proj": "qkv", "v_proj": "qkv", "gate_proj": "gate_up", "up_proj": "gate_up", "in_proj_qkv": "qkvz",
    "in_proj_z": "qkvz", "in_proj_b": "ba", "in_proj_a": "ba", "q_a_proj": "qkv_a", "kv_a_proj_with_mqa": "qkv_a",
    "in_proj": "in_proj",
}  # fmt: skip
"""Matrices that the engines keep in one."""

_LOADED = (
    (("fp8", "w8a8_fp8", "fp8_per_tensor"), Quantization("fp8", (Format("fp8", 8),))),
    (("fp8_per_block", "blockwise_fp8"), Quantization("fp8", (Format("fp8-block", 8, 128),))),
    (("bitsandbytes",), Quantization("bitsandbytes", (Format("bnb4", 4, 64),))),
    (("mxfp8", "modelopt_mxfp8"), Quantization("mxfp8", (Format("mxfp8", 8, 32),))),
    (("w8a8_int8", "experts_int8"), Quantization("int8", (Format("int8", 8),))),
)
"""Values of --quantization -> how weights are held once they are loaded."""
_DOUBTFUL = ("attention", "linear attention", "shared experts")
_SOURCES = {
    "allocator": "PyTorch c10/cuda/CUDACachingAllocator.cpp: segments of 2 MiB",
    "absorbed": "vllm-0.33.0 mla_attention.py process_weights_after_loading: kv_b_proj once more in the model's dtype",
    "rotary table": "vllm-0.33.0 rotary_embedding/base.py: cosines and sines of every position",
}


@dataclass(frozen=True, slots=True)
class WeightPart:
    """One use of memory by weights: its name, its bytes, and where the number comes from."""

    name: str
    bytes: int
    source: str


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights on the GPU that has most of them.

    Attributes:
        parts: what they consist of, the largest first.
        low: GiB that they certainly take, as far as the format of the checkpoint is known.
        high: GiB that they take at most.
        mtp: bytes of multi-token prediction, which are in `parts` only if requested.
        embedding: bytes of the embedding, which a draft may load again or share with its target.
        head: bytes of the head, 0 if it is tied, or the draft's own for fewer tokens.
    """

    parts: tuple[WeightPart, ...]
    low: float
    high: float
    mtp: int
    embedding: int
    head: int

    @property
    def bytes(self) -> int:
        """All bytes."""
        return sum(part.bytes for part in self.parts)

    @property
    def gib(self) -> float:
        """All bytes in GiB."""
        return self.bytes / GIB


@dataclass(frozen=True, slots=True)
class _Sharding:
    engine: str
    tensor: int
    expert: int
    formats: Formats
    element: int
    marlin: bool
    multiple: int
    halves: int

    def of(self, matrix: Matrix) -> tuple[Format, list[int]]:
        """The format of a matrix, and the bytes of its tensors on one GPU."""
        rows, columns, count = matrix.rows, matrix.columns, matrix.count
        if matrix.split == "vocab":
            padded = round_up(rows, _PAD_VOCAB)
            rows = padded // self.tensor if padded % self.tensor == 0 else -(-rows // self.tensor)
        elif matrix.count > 1 and self.expert > 1:
            count = -(-count // self.expert)
        elif matrix.split == "rows":
            rows = -(-rows // self.tensor)
        elif matrix.split == "columns":
            columns = -(-columns // self.tensor)
        elif matrix.split == "kv":
            rows = rows // matrix.units * max(1, matrix.units // self.tensor)
        kind = self.formats.of(matrix)
        if kind.scheme == "mxfp4" and matrix.count > 1:
            rows, columns = _padded(matrix, rows, columns)
        elif kind.scheme == "none" and matrix.count > 1 and self.expert == 1:
            if matrix.split == "rows":
                rows = self.halves * round_up(rows // self.halves, self.multiple)
            else:
                columns = round_up(columns, self.multiple)
        sizes = tensors(kind, rows, columns, 4 if matrix.single else self.element)
        if self.marlin and kind.scheme == "fp8-block":
            sizes[1] = self.element * rows * -(-columns // (kind.group or 128))
        return kind, [size * count for size in sizes]


def _padded(matrix: Matrix, rows: int, columns: int) -> tuple[int, int]:
    """Rows and columns of experts in MXFP4, the hidden size a multiple of 256 and an expert's of 128 as for Marlin and TRT-LLM.

    Source: mxfp4_round_up_hidden_size_and_intermediate_size in vllm-0.33.0 fused_moe/oracle/mxfp4.py.
    """
    if "gate_up" in matrix.name:
        return 2 * round_up(rows // 2, 128), round_up(columns, 256)
    return round_up(rows, 256), round_up(columns, 128)


def round_up(value: int, multiple: int) -> int:
    """The least multiple that is at least a value."""
    return -(-value // multiple) * multiple


def rounded(size: int) -> int:
    """Bytes that PyTorch's caching allocator counts for a tensor.

    c10/cuda/CUDACachingAllocator.cpp takes segments of whole 2 MiB for what is 10 MiB or more, and does not split off what
    remains if that is 1 MiB or less.

    >>> rounded(33_030_144) - 33_030_144 == 512 * 1024, rounded(25_690_112) - 25_690_112
    (True, 0)
    """
    size = round_up(size, 512)
    if size < 10 * _MIB:
        return size
    segment = round_up(size, 2 * _MIB)
    return segment if segment - size <= _MIB else size


def quantized(model: Architecture, quantization: str | None) -> Quantization | None:
    """How weights are held once they are loaded: in the checkpoint's own way, or as --quantization makes them. None if unknown.

    Source: vllm-0.33.0 vllm/model_executor/layers/quantization: fp8 and bitsandbytes (to 4 bits) quantize while loading. Names
    like awq_marlin only say how a checkpoint is read.
    """
    if quantization in (None, "", "none", "auto") or model.quantization.scheme != "none":
        return model.quantization
    return next((found for names, found in _LOADED if quantization in names), None)


def stages(layers: int, pipeline: int) -> list[range]:
    """The layers of each pipeline stage: get_pp_indices in vllm-0.33.0 vllm/distributed/utils.py.

    >>> [len(stage) for stage in stages(61, 4)]
    [15, 15, 16, 15]
    """
    sizes = [layers // pipeline] * pipeline
    for index in range(2, layers % pipeline + 2):
        sizes[-index] += 1
    found, start = [], 0
    for size in sizes:
        found.append(range(start, start + size))
        start += size
    return found


@lru_cache(maxsize=64)  # weighing every matrix takes longer than the rest of a plan, and what-ifs repeat it
def weigh(
    model: Architecture,
    *,
    engine: str = "vllm",
    tensor: int = 1,
    pipeline: int = 1,
    expert: int = 1,
    quantization: str | None = None,
    dtype: str | None = None,
    mtp: bool = False,
    vision: bool = True,
    marlin: bool = False,
    multiple: int = 1,
) -> Weights | None:
    """What the weights of a model take on the GPU that has most.

    Args:
        model: the model.
        engine: "vllm" or "sglang".
        tensor: GPUs that share a matrix.
        pipeline: stages of layers.
        expert: GPUs that whole experts are divided among, 1 if each GPU has a part of all.
        quantization: the value of --quantization.
        dtype: the value of --dtype.
        mtp: multi-token prediction is loaded.
        vision: the encoder of images is loaded.
        marlin: Marlin multiplies with FP8, for which vLLM repeats the scale of a block for each of its rows, in the model's
            dtype (prepare_fp8_layer_for_marlin in vllm-0.33.0 quantization/utils/marlin_utils_fp8.py).
        multiple: the width of an expert in the model's dtype is padded to a multiple of so many on each GPU.

    Returns:
        None if the quantization is not known.
    """
    way = quantized(model, quantization)
    if way is None or not way.formats[-1].bits or tensor < 1 or pipeline < 1 or pipeline > model.layers:
        return None
    formats = Formats(way)
    layers = representatives(model, formats)
    element, halves = 4 if dtype in ("float32", "float") else 2, 2 if model.experts is None or model.experts.gated else 1
    sharding = _Sharding(engine, tensor, expert, formats, element, marlin, multiple, halves)
    factor = _measured(model, way, formats, layers)
    counted = _Counted(layers)
    for matrix in matrices(model, sorted(set(layers))):
        if (matrix.group == "lm_head" and model.tied and pipeline == 1) or (matrix.name == "vision" and not vision):
            continue
        kind, sizes = sharding.of(matrix)
        counted.add(matrix, kind, sizes if kind.scheme == "none" else [round(size * factor) for size in sizes])
        if matrix.name.endswith("kv_b_proj"):
            counted.beside(matrix.layer, "absorbed", _absorbed(sharding, matrix, kind))
    drafts = sum(counted.groups.pop(MTP, {}).values()) + counted.rounding(MTP)
    parts = _heaviest(model, counted, pipeline)
    if mtp and drafts:
        parts["multi-token prediction"] = drafts
    table = _rotary(model, engine)
    if table:
        parts["rotary table"] = table
    source = model.sources[0] if model.sources else "config.json"
    found = [WeightPart(name, size, _SOURCES.get(name, source)) for name, size in parts.items() if size]
    found.sort(key=lambda part: -part.bytes)
    gib = sum(part.bytes for part in found) / GIB
    low, high = _sure(model, way, gib, counted.doubt / pipeline / GIB) if factor == 1 else (0.985 * gib, 1.02 * gib)
    own = model.draft is not None and model.draft.vocab != model.vocab
    head = 0 if model.tied or own else counted.ends["lm_head"]
    return Weights(tuple(found), low, high, drafts, counted.ends["embedding"], head)


class _Counted:
    """Bytes on one GPU: by layer and group, by the matrices that an engine joins, and of both ends of the model.

    Attributes:
        layers: for each layer the one that is counted for it.
        doubt: bytes that matrices which publishers treat differently would take more without quantization.
    """

    __slots__ = ("doubt", "ends", "groups", "joined", "layers", "times")

    def __init__(self, layers: list[int]) -> None:
        self.layers = layers
        self.times = Counter(layers)
        self.groups: dict[int, dict[str, int]] = {}
        self.joined: dict[int, dict[str, list[int]]] = {}
        self.ends = {"embedding": 0, "lm_head": 0}
        self.doubt = 0.0

    def add(self, matrix: Matrix, kind: Format, sizes: list[int]) -> None:
        self.beside(matrix.layer, matrix.group, sum(sizes))
        if matrix.group in self.ends:
            self.ends[matrix.group] += sum(sizes)
        if matrix.group in _DOUBTFUL and 0 < kind.bits < 16:
            self.doubt += (sizes[0] * (16 / kind.bits) - sum(sizes)) * self.times.get(matrix.layer, 1)
        before, _, last = matrix.name.rpartition(".")
        several = self.joined.setdefault(matrix.layer, {})
        joined = several.setdefault(f"{before}.{_FUSED.get(last, last)}.{kind.scheme}", [])
        for index, size in enumerate(sizes):
            if index == len(joined):
                joined.append(0)
            joined[index] += size

    def beside(self, layer: int, group: str, size: int) -> None:
        several = self.groups.setdefault(layer, {})
        several[group] = several.get(group, 0) + size

    def of(self, layer: int) -> dict[str, int]:
        """Bytes by group of one layer."""
        return self.groups.get(self.layers[layer] if layer >= 0 else layer, {})

    def rounding(self, *layers: int) -> int:
        """Bytes that the allocator adds to matrices of some layers."""
        times = Counter([self.layers[layer] if layer >= 0 else layer for layer in layers])
        return sum(
            count * (rounded(size) - size)
            for layer, count in times.items()
            for sizes in self.joined.get(layer, {}).values()
            for size in sizes
        )


def _measured(model: Architecture, way: Quantization, formats: Formats, layers: list[int]) -> float:
    """The measured size of the quantized matrices in the published files over their computed size, 1 if it was not measured.

    Only a small difference is one in the format. A large one is another checkpoint, or files beside it.
    """
    if not model.checkpoint or way is not model.quantization or way.scheme == "none":
        return 1.0
    formed = plain = 0
    times = Counter(layers)
    for matrix in matrices(model, sorted(times)):
        if matrix.group == "lm_head" and model.tied:
            continue
        kind = formats.of(matrix)
        element = 4 if matrix.single else 2
        size = sum(tensors(kind, matrix.rows, matrix.columns, element)) * matrix.count * times.get(matrix.layer, 1)
        if kind.scheme == "none":
            plain += size
        else:
            formed += size
    factor = (model.checkpoint - plain) / formed if formed else 1.0
    return factor if 0.85 < factor < 1.2 else 1.0


def _absorbed(sharding: _Sharding, matrix: Matrix, kind: Format) -> int:
    """Bytes of MLA's up-projection of keys and values, which decoding keeps once more.

    vLLM makes it of quantized ones, SGLang (sglang-0.5.14 srt/models/deepseek_common/deepseek_weight_loader.py, w_kc and w_vc)
    of all.
    """
    if kind.scheme == "none" and sharding.engine == "vllm":
        return 0
    size = matrix.rows // sharding.tensor * matrix.columns
    return size * (sharding.element if sharding.engine == "vllm" or kind.bits >= 16 or kind.bits < 8 else 1)


_OWN_TABLES = ("Grok1ForCausalLM",)
"""Architectures whose layers each make a table in SGLang, beside the one that all share.

Grok 2: ScalingRotaryEmbedding (srt/models/grok.py 0.5.20 lines 382 to 403). Its config.json has a rope_type and 16 times 8,192
positions (sgl-project/sglang-jax has it in a test).
"""


def _rotary(model: Architecture, engine: str) -> int:
    """Bytes of the rotary tables, one for all layers of a kind, with two bytes an element.

    vllm-0.33.0 rotary_embedding/base.py keeps it in the model's dtype, mrope.py with four times the positions, and
    linear_scaling_rope.py with as many times as the factor says. SGLang has no more positions than there are, on NVIDIA's GPUs
    in float32, which its plan counts (servelint.memory.sglang.footprint).
    DeepSeek V4 has one in float32 for layers that compress and one for those that do not (DeepseekV4ScalingRotaryEmbedding in
    vllm-0.33.0 rotary_embedding/deepseek_scaling_rope.py).
    """
    if model.context is None or model.encoder or model.positions or not model.attention:
        return 0
    if model.low_rank is not None:
        return len({one.compress > 1 for one in model.attention}) * model.context * model.attention[0].rotary * 4
    if engine != "vllm":
        own = model.layers if engine == "sglang" and model.architecture in _OWN_TABLES else 0
        return sum(model.context * size * 2 for size in {one.rotary for one in model.attention}) * (1 + own)
    positions = 4 * model.context if model.mrope else model.context
    return sum(positions * size * stretch * 2 for size, stretch in {(one.rotary, one.stretch) for one in model.attention})


def _heaviest(model: Architecture, counted: _Counted, pipeline: int) -> dict[str, int]:
    """The parts of the heaviest stage. The encoder is in the first stage, the head in the last."""
    best: dict[str, int] = {}
    for number, stage in enumerate(stages(model.layers, pipeline)):
        layers = {*stage, *((VISION,) if number == 0 else ()), *((HEAD,) if number == pipeline - 1 else ())}
        found: dict[str, int] = {}
        for layer in layers:
            for name, size in counted.of(layer).items():
                found[name] = found.get(name, 0) + size
        found["allocator"] = counted.rounding(*layers)
        if sum(found.values()) > sum(best.values()):
            best = found
    return best


def _sure(model: Architecture, way: Quantization, gib: float, doubt: float) -> tuple[float, float]:
    """GiB between which the truth is, because what 4 bits leave out differs between checkpoints of one name.

    In 8 bits it does so where layers keep states: Nemotron-3-Nano-4B-FP8 is 8 % larger than all of its matrices in 8 bits.

    Args:
        model: the model.
        way: how its weights are held.
        gib: the computed size.
        doubt: GiB that attention and shared experts would take more in 16 bits, in which some publishers of hybrids and of
            models with experts leave them.
    """
    by_name = any(source.endswith("by the name") for source in model.sources)
    if way.scheme == "none" and not by_name:
        return 0.992 * gib, 1.012 * gib
    if way.scheme in ("none", "fp8", "fp8-block", "int8", "mxfp8"):
        if by_name and way.scheme == "int8":
            return 0.97 * gib, 1.03 * gib
        return 0.99 * gib, (1.1 if by_name and model.states and way.scheme == "fp8" else 1.02) * gib
    if way.scheme == "gguf":
        return 0.95 * gib, 1.05 * gib
    if by_name:
        varied = bool(model.states or model.experts)
        if way.method == "awq" and not varied and model.vision is None:
            return 0.97 * gib, 1.1 * gib  # AutoAWQ leaves nothing out but the head; groups of 64 instead of 128 take 6 % more
        low = 0.86 if way.scheme == "int4" and (varied or model.vision is not None) else 0.9
        return low * gib, min(max(1.1 * gib, 1.02 * gib + doubt), 1.3 * gib) if varied else 1.2 * gib
    if way.ignored or any(one.targets for one in way.formats):
        return 0.98 * gib, 1.03 * gib
    return 0.94 * gib, 1.1 * gib


def representatives(model: Architecture, formats: Formats) -> list[int]:
    """For each layer the first one whose matrices have the same shapes in the same formats.

    Only these are weighed: of a hundred layers few differ. The first layer counts the embedding and stands for itself alone.
    """
    tails: dict[Hashable, tuple[str, ...]] = {}
    first: dict[tuple[Hashable, object, bool], int] = {}
    found: list[int] = []
    for index in range(model.layers):
        shape = shape_of(model, index)
        if shape not in tails:
            tails[shape] = tuple([one.name[1:] for one in layer_matrices(model, index, index, "-.")])
        found.append(first.setdefault((shape, formats.of_layer(index, tails[shape]), not index), index))
    return found
