"""The KV cache of a vLLM launch: groups of layers that share blocks, and what a number of bytes holds.

It is exact for a given number of bytes. It follows the classes KVCacheSpec in vllm/v1/kv_cache_interface.py and the functions
in vllm/v1/core/kv_cache_utils.py (from 0.33.0 kv_cache_planning.py).

DeepSeek V4's KV cache in vLLM: compressed keys, keys of the indexer, windows, and states of the compressors.

Layers: vllm/models/deepseek_v4/attention.py and compressor.py, vllm/v1/attention/backends/mla/sparse_swa.py (before 0.21.0
vllm/model_executor/layers/deepseek_v4_attention.py and deepseek_compressor.py), the same in 0.20.0 to 0.33.0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from servelint.memory.vllm.settings import ReleaseRules, VllmSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture

FULL, SLIDING, CHUNKED, STATE = "full", "sliding", "chunked", "state"

_ALIGNED = 576
"""Pages of the packed fp8 layout are a multiple of so many bytes."""
_WINDOW_BLOCK, _STATE_BLOCKS = 64, {4: 4, 128: 8}
"""Tokens in a block of a window, and in one of the states that compress 4 or 128 tokens."""
_BLOCK = 256
"""Tokens that DeepSeek V4's backend prefers in a block (DeepseekSparseSWABackend.get_preferred_block_size)."""


class Unsupported(Exception):
    """The memory of the launch cannot be planned, because servelint does not know the layout of the KV cache."""


class NoCache(Exception):
    """The model keeps no KV cache: it embeds or ranks."""


class StateOutgrown(ValueError):
    """A state with drafts is larger than the page that the release plans without them.

    Attributes:
        page, state: bytes of both.
    """

    def __init__(self, page: int, state: int) -> None:
        super().__init__("this release plans the pages of states without the drafts, and a state does not fit one")
        self.page, self.state = page, state


def cdiv(number: int, by: int) -> int:
    """The quotient rounded up."""
    return -(-number // by)


@dataclass(eq=False, slots=True)
class Layers:
    """Layers with equal KV cache entries.

    Attributes:
        kind: FULL, SLIDING, CHUNKED or STATE.
        count: how many layers of the model are of this kind.
        block: tokens in a block.
        page: bytes of a block in one layer.
        on_rank: how many of the layers are on the pipeline stage that has most of them. -1 stands for all.
        window: tokens that SLIDING and CHUNKED layers look back on.
        states: blocks of STATE that a request takes at any length. 0 means one for each block of tokens.
        heads: heads of keys of a layer of the model. Pages of one size with other heads are another KVCacheSpec.
    """

    kind: str
    count: int
    block: int
    page: int
    on_rank: int = -1
    window: int = 0
    states: int = 0
    heads: int = 0

    def __post_init__(self) -> None:
        self.on_rank = self.count if self.on_rank < 0 else self.on_rank

    def with_page(self, page: int) -> Layers:
        """The layers with pages of another size.

        Blocks grow where the page is a whole multiple and the layers keep tokens. Otherwise the page is padded.
        """
        larger = self.block * (page // self.page) if self.kind != STATE and page % self.page == 0 else self.block
        return replace(self, block=larger, page=page)

    def like(self, other: Layers) -> bool:
        """Whether the other layers have blocks and pages of the same size and kind."""
        mine, its = ((one.kind, one.block, one.page, one.window, one.heads) for one in (self, other))
        return mine == its


@dataclass(frozen=True, slots=True)
class Batching:
    """What the memory of a request depends on beside its length.

    Attributes:
        batched: --max-num-batched-tokens.
        in_flight: batches that may be in flight at once.
        sharded: ranks that share a request's tokens: decode times prefill context parallel size.
    """

    batched: int
    in_flight: int = 1
    sharded: int = 1


@dataclass(eq=False, slots=True)
class Group:
    """Layers that share one table of blocks.

    Attributes:
        layers: what the layers have in common. Its page is the sum over all layers where their pages differ.
        size: how many layers the group has.
        on_rank: how many of them are on the pipeline stage that has most.
    """

    layers: Layers
    size: int
    on_rank: int


class KvCache:
    """The KV cache of a launch on one GPU.

    Attributes:
        rules: the arithmetic of the release.
        batching: what a request's memory depends on beside its length.
        kinds: layers with equal entries, joined.
        groups: layers that share a table of blocks.
        bytes_of_block: bytes of one block in all layers that share it.
        bytes_of_stages: the same with the layers of all pipeline stages.
        size: layers in the largest group.
        padding: layers' worth of pages that hold nothing.
    """

    def __init__(self, rules: ReleaseRules, kinds: list[Layers], batching: Batching) -> None:
        """Group the layers as the release does.

        Raises:
            ValueError: the release refuses pages of these sizes.
        """
        self.rules, self.batching = rules, batching
        self.kinds = _joined(kinds)
        self.groups: list[Group] = []
        self.padding = 0
        pages = {one.page for one in self.kinds}
        if len(self.kinds) == 1:
            self._alone()
        elif rules.one_pool and _one_type(self.kinds):
            self._one_pool()
        else:
            if len(pages) > 1:
                self.kinds = _joined(_unified(rules, self.kinds))
            self._grouped()

    def _alone(self) -> None:
        """Source: _get_kv_cache_groups_uniform_spec: all layers in one group."""
        kind = self.kinds[0]
        self.groups = [Group(kind, kind.count, kind.on_rank)]
        self.size, self.bytes_of_block = kind.count, kind.on_rank * kind.page
        self.bytes_of_stages = kind.count * kind.page

    def _one_pool(self) -> None:
        """Source: _get_kv_cache_groups_uniform_type: one group of layers that each have a page size of their own."""
        total = sum(one.on_rank * one.page for one in self.kinds)
        first = self.kinds[0]
        self.groups = [Group(Layers(first.kind, 1, first.block, total, window=first.window), 1, 1)]
        self.size, self.bytes_of_block = sum(one.count for one in self.kinds), total
        self.bytes_of_stages = sum(one.count * one.page for one in self.kinds)

    def _grouped(self) -> None:
        """Source: _get_kv_cache_groups_uniform_page_size: groups of one size, the last of a kind padded."""
        counts = [one.count for one in self.kinds]
        least, most = min(counts), max(counts)
        self.size = most if most < least * self.rules.widen else least
        for one in self.kinds:
            number = cdiv(one.count, self.size)
            self.padding += number * self.size - one.count
            share = cdiv(one.on_rank, number)
            self.groups += [Group(one, cdiv(one.count, number), share)] * number
        self.bytes_of_block = max(group.on_rank for group in self.groups) * self.kinds[0].page
        self.bytes_of_stages = self.size * self.kinds[0].page

    def blocks(self, layers: Layers, length: int) -> int:
        """Blocks of a group that a request of some tokens takes (max_memory_usage_bytes of the group's KVCacheSpec)."""
        if layers.kind == STATE:
            return layers.states or cdiv(length, layers.block)
        if layers.kind == FULL:
            return cdiv(cdiv(length, self.batching.sharded), layers.block)
        batched = self.batching.batched * self.batching.in_flight
        if layers.kind == SLIDING:
            return cdiv(min(layers.window - 1 + batched, length), layers.block) + 1
        return cdiv(min(layers.window + batched, length), layers.block)

    def need(self, length: int) -> int:
        """Bytes of a request of some tokens as the release compares them with the memory (_check_enough_kv_cache_memory)."""
        if self.rules.need == "layers":
            return sum(one.on_rank * one.page * self.blocks(one, length) for one in self.kinds)
        groups = self.groups[:1] if self.rules.need == "first" else self.groups
        block = self.bytes_of_stages if self.rules.stages else self.bytes_of_block
        return block * sum(self.blocks(group.layers, length) for group in groups)

    def starts(self, available: int, length: int) -> bool:
        """Whether the release accepts a number of bytes as enough for one request of some tokens."""
        return available > 0 and self.need(length) <= self._compared(available)

    def _compared(self, available: int) -> int:
        return available - self.bytes_of_block if self.rules.null_block else available

    def longest(self, available: int, length: int) -> int:
        """The longest request in tokens, up to a length, that fits into some bytes (estimate_max_model_len), 0 if none does."""
        usable = self._compared(available)
        if self.need(1) > usable:
            return 0
        low, high = 1, length
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.need(middle) <= usable else (low, middle - 1)
        return low

    def number_of_blocks(self, available: float) -> int:
        """Blocks in a number of bytes on each GPU (get_num_blocks)."""
        return max(int(available) // self.bytes_of_block, 0)

    def concurrency(self, blocks: int, length: int) -> float:
        """How many requests of a length the blocks hold (get_max_concurrency_for_kv_cache_config)."""
        return blocks / sum(self.blocks(group.layers, length) for group in self.groups)

    def tokens(self, blocks: int, length: int) -> int:
        """The tokens that the release prints as "GPU KV cache size" (_report_kv_cache_config)."""
        if self.rules.printed:
            return int(self.concurrency(blocks, length) * length)
        smallest = min(group.layers.block for group in self.groups)
        return blocks // len(self.groups) * smallest * self.batching.sharded


def _joined(kinds: list[Layers]) -> list[Layers]:
    """Join equal layers: a draft's attention joins the model's where pages and heads are equal."""
    found: list[Layers] = []
    for one in kinds:
        same = next((other for other in found if other.like(one) and other.states == one.states), None)
        if same is None:
            found.append(replace(one))
        else:
            same.count += one.count
            same.on_rank += one.on_rank
    return [one for one in found if one.count]


def _one_type(kinds: list[Layers]) -> bool:
    """Source: UniformTypeKVCacheSpecs.is_uniform_type: blocks of one size, all full or with windows of one size."""
    first = kinds[0]
    return first.kind != STATE and all(
        (one.kind, one.block, one.window) == (first.kind, first.block, first.window) for one in kinds
    )


def _unified(rules: ReleaseRules, kinds: list[Layers]) -> list[Layers]:
    """Source: unify_kv_cache_spec_page_size.

    Raises:
        ValueError: the release refuses the model.
    """
    largest = max(one.page for one in kinds)
    for one in kinds:
        fits = rules.unify and largest % one.page == 0 and one.kind != STATE
        if one.page != largest and not fits and not rules.pad:
            raise ValueError("this release cannot bring KV cache pages of these sizes together")
    return [one.with_page(largest) if one.page != largest else one for one in kinds]


@dataclass(frozen=True, slots=True)
class LayerCounts:
    """Layers on the pipeline stage that has most of them.

    Attributes:
        windows: layers with a window, which all have, those of multi-token prediction included.
        fours: layers that compress 4 tokens into one entry.
        many: layers that compress 128 tokens into one entry.
    """

    windows: int
    fours: int
    many: int


class CompressedCache(KvCache):
    """Groups of layers whose pages have one, two or three sizes, in blocks that all groups share.

    Source: group_and_unify_kv_cache_specs, _get_kv_cache_groups_uniform_groups and _get_kv_cache_config_deepseek_v4 in
    vllm/v1/core/kv_cache_utils.py (0.20.0). From 0.23.0 a block has room for each size that a group has most pages of
    (_bucket_layers_by_page_size), from 0.28.0 for the largest group (_get_packed_kv_cache_layout, 0.29.0
    _get_kv_cache_bytes_per_block).
    """

    def __init__(self, rules: ReleaseRules, model: Architecture, counts: LayerCounts, block: int, batching: Batching) -> None:
        """Group the layers as the release does. block: tokens in a block."""
        self.rules, self.batching, self.padding = rules, batching, 0
        main = model.attention[0]
        head, rope = main.head_dim, main.rotary
        window = next((one.window for one in model.attention if one.window), 128)
        indexer = model.indexer.head_dim if model.indexer is not None else 0
        row = head - rope + 2 * rope + 8
        keys = _aligned(block // 4 * row)
        choice = _aligned(block // 4 * (indexer + indexer // 128 * 4))
        many = _aligned(block // 128 * row)
        sizes = [keys] * counts.fours + [choice] * counts.fours + [many] * counts.many
        full = Layers(FULL, len(sizes), block, sum(sizes))
        whole = Group(full, max(counts.fours, counts.many), max(counts.fours, counts.many))
        packed = rules.since("0.29.0")
        windows = _aligned(_WINDOW_BLOCK * row)
        four, index = (_aligned(_STATE_BLOCKS[4] * 4 * wide * 4) for wide in (head, indexer))
        hundred = _aligned(_STATE_BLOCKS[128] * 2 * head * 4)
        if not packed:  # pages of states are padded to the next size that keys have
            four, hundred, windows = (_padded(size, (keys, choice, many)) for size in (four, hundred, windows))
            index = _padded(index, (keys, choice, many))
        kinds = [
            (counts.windows, Layers(SLIDING, counts.windows, _WINDOW_BLOCK, windows, window=window)),
            (counts.fours, Layers(SLIDING, counts.fours, _STATE_BLOCKS[4], four + index, window=8)),
            (counts.many, Layers(SLIDING, counts.many, _STATE_BLOCKS[128], hundred, window=128)),
        ]
        least = counts.fours if packed else whole.size
        several = [count for count, _ in kinds if count] + ([] if packed else [whole.size])
        size = _least_padding(several, least)
        self.groups, self.bytes_of_groups = [whole], [sum(sizes)]
        for count, kind in kinds:
            number = cdiv(count, size)
            for index_of in range(number):
                mine = len(range(index_of, count, number))
                self.groups.append(Group(kind, mine, mine))
                self.bytes_of_groups.append(mine * kind.page)
        self.kinds = [full, *(kind for count, kind in kinds if count)]
        self.size = max(group.size for group in self.groups)
        self._tuple, self._tuples = keys + choice + many, self.size
        if rules.since("0.28.0"):
            self.bytes_of_block = max(self.bytes_of_groups)
        elif rules.since("0.23.0"):
            self.bytes_of_block = self.size * keys + counts.fours * choice + counts.many * many
        else:
            self.bytes_of_block = self._tuple * self._tuples

    def need(self, length: int) -> int:
        """Bytes of one request as the release compares them with the memory.

        Source: _max_memory_usage_bytes_from_groups. Up to 0.28 as if each group had a page of each size for each of its layers.
        """
        pages = sum(self.blocks(group.layers, length) for group in self.groups)
        return pages * (self.bytes_of_block if self.rules.since("0.29.0") else self._tuple * self._tuples)

    def concurrency(self, blocks: int, length: int) -> float:
        """How many requests of a length the blocks hold.

        Source: get_max_concurrency_for_kv_cache_config. Up to 0.27 in pages of the first group, from 0.28 in blocks.
        """
        pages = [self.blocks(group.layers, length) for group in self.groups]
        if self.rules.since("0.28.0"):
            return blocks / sum(pages)
        taken = sum(count * size for count, size in zip(pages, self.bytes_of_groups, strict=True))
        return blocks / cdiv(taken, self.bytes_of_groups[0])


def drafting_layers(settings: VllmSettings, model: Architecture) -> int:
    """Layers of a DeepSeek V4 that draft: MTP's, or DSpark's three, each with experts and a window but nothing compressed.

    Source: num_dspark_layers and get_draft_kv_cache_layer_names in vllm-0.33.0 vllm/models/deepseek_v4/nvidia/dspark.py.
    """
    if not settings.drafts or settings.method not in ("mtp", "dspark"):
        return 0
    if settings.method == "mtp":
        return max(model.mtp_layers, 1)
    return 3 if model.low_rank is not None and settings.draft is None else 0


def compressed_cache(settings: VllmSettings, model: Architecture, dtype: str) -> CompressedCache:
    """The KV cache of DeepSeek V4.

    It is fp8 in a layout of its own unless FlashInfer's kernels are requested on a GPU other than SM12x (_select_dsv4_attn_cls
    in vllm/models/deepseek_v4/nvidia/model.py).

    Raises:
        Unsupported: the layout is not known.
    """
    if settings.kv_dtype not in ("auto", "fp8", "fp8_e4m3", "fp8_ds_mla"):
        raise Unsupported(f"how vLLM lays out DeepSeek V4's cache in {dtype} is unknown to servelint")
    backend = settings.config.operand("attention-backend").value
    if isinstance(backend, str) and backend.startswith("FLASHINFER") and (settings.gpu.capability or 0.0) < 12:
        raise Unsupported("how FlashInfer lays out DeepSeek V4's cache is unknown to servelint")
    own = drafting_layers(settings, model)
    if settings.drafts and not own:
        raise Unsupported("the draft layers are unknown")
    stages = settings.pipeline
    layers = {ratio: cdiv(sum(one.layers for one in model.attention if one.compress == ratio), stages) for ratio in (4, 128)}
    windows = cdiv(model.layers, stages) + own
    batching = Batching(settings.batched, settings.in_flight, settings.sharded)
    counts = LayerCounts(windows, layers[4], layers[128])
    return CompressedCache(settings.rules, model, counts, settings.block or _BLOCK, batching)


def _aligned(size: int) -> int:
    return cdiv(size, _ALIGNED) * _ALIGNED


def _padded(size: int, sizes: tuple[int, ...]) -> int:
    return min((one for one in sizes if one >= size), default=size)


def _least_padding(values: list[int], least: int) -> int:
    """Source: _approximate_gcd: the size of groups that leaves the fewest pages empty, the largest of these."""
    return min(range(least, max(values) + 1), key=lambda size: (sum(-value % size for value in values), -size), default=least)
