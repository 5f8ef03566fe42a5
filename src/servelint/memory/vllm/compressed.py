"""DeepSeek V4's KV cache in vLLM: compressed keys, those of the indexer, windows, and the states of what compresses.

Layers: vllm/models/deepseek_v4/attention.py and compressor.py, vllm/v1/attention/backends/mla/sparse_swa.py (before 0.21.0
vllm/model_executor/layers/deepseek_v4_attention.py and deepseek_compressor.py), the same in 0.20.0 to 0.33.0.
"""

from __future__ import annotations

from servelint.memory.vllm.cache import FULL, SLIDING, Cache, Group, Layers, Request, cdiv
from servelint.memory.vllm.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture

_ALIGNED = 576
"""Bytes that a page of the packed fp8 layout is a multiple of."""
_WINDOW_BLOCK, _STATE_BLOCKS = 64, {4: 4, 128: 8}
"""Tokens in a block of a window, and of the states of what compresses so many tokens."""


class Counts:
    """Layers on the rank that has most: windows all of them, those of MTP too; fours and many those that compress 4 and 128."""

    __slots__ = ("fours", "many", "windows")

    def __init__(self, windows: int, fours: int, many: int) -> None:
        self.windows, self.fours, self.many = windows, fours, many


class Compressed(Cache):
    """Groups of layers whose pages have one, two or three sizes, in blocks that all groups share.

    Source: group_and_unify_kv_cache_specs, _get_kv_cache_groups_uniform_groups and _get_kv_cache_config_deepseek_v4 in
    vllm/v1/core/kv_cache_utils.py (0.20.0); from 0.23.0 a block has room for each size that a group has most pages of
    (_bucket_layers_by_page_size), from 0.28.0 for the largest group (_get_packed_kv_cache_layout, 0.29.0
    _get_kv_cache_bytes_per_block).
    """

    __slots__ = ("_tuple", "_tuples", "bytes_of_groups")

    def __init__(self, rules: Rules, model: Architecture, counts: Counts, block: int, request: Request) -> None:
        self.rules, self.request, self.padding = rules, request, 0
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
        """_max_memory_usage_bytes_from_groups: up to 0.28 as if each group had a page of each size for each of its layers."""
        pages = sum(self.blocks(group.kind, length) for group in self.groups)
        return pages * (self.bytes_of_block if self.rules.since("0.29.0") else self._tuple * self._tuples)

    def concurrency(self, blocks: int, length: int) -> float:
        """get_max_concurrency_for_kv_cache_config: up to 0.27 in pages of the first group, from 0.28 in blocks."""
        pages = [self.blocks(group.kind, length) for group in self.groups]
        if self.rules.since("0.28.0"):
            return blocks / sum(pages)
        taken = sum(count * size for count, size in zip(pages, self.bytes_of_groups, strict=True))
        return blocks / cdiv(taken, self.bytes_of_groups[0])


def _aligned(size: int) -> int:
    return cdiv(size, _ALIGNED) * _ALIGNED


def _padded(size: int, sizes: tuple[int, ...]) -> int:
    return min((one for one in sizes if one >= size), default=size)


def _least_padding(values: list[int], least: int) -> int:
    """_approximate_gcd: the size of groups that leaves the fewest pages empty, the largest of these."""
    return min(range(least, max(values) + 1), key=lambda size: (sum(-value % size for value in values), -size), default=least)
