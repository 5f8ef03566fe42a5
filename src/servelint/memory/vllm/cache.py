"""The KV cache of a vLLM launch: kinds of layers, the groups they share blocks in, and what a number of bytes holds.

Exact for a given number of bytes. The classes KVCacheSpec of vllm/v1/kv_cache_interface.py and the functions of
vllm/v1/core/kv_cache_utils.py (from 0.33.0 kv_cache_planning.py) are what this follows.
"""

from __future__ import annotations

from servelint.memory.vllm.rules import Rules

FULL, SLIDING, CHUNKED, STATE = "full", "sliding", "chunked", "state"


def cdiv(number: int, by: int) -> int:
    return -(-number // by)


class Layers:
    """Layers that are alike to the KV cache.

    kind:    FULL, SLIDING, CHUNKED or STATE
    count:   how many of the model's layers;  on_rank: how many of them on the rank of pipeline parallelism that has most
    block:   tokens in a block;  page: bytes of a block in one layer
    window:  tokens that SLIDING and CHUNKED layers look back on
    states:  blocks of STATE that a request takes at any length; 0 where it is one for each block of tokens
    """

    __slots__ = ("block", "count", "kind", "on_rank", "page", "states", "window")

    def __init__(
        self, kind: str, count: int, block: int, page: int, *, on_rank: int | None = None, window: int = 0, states: int = 0
    ) -> None:
        self.kind, self.count, self.block, self.page = kind, count, block, page
        self.on_rank = count if on_rank is None else on_rank
        self.window, self.states = window, states

    def with_page(self, page: int) -> Layers:
        """With blocks enlarged to a page, where that is a whole multiple and the layers keep tokens; padded otherwise."""
        larger = self.block * (page // self.page) if self.kind != STATE and page % self.page == 0 else self.block
        return Layers(self.kind, self.count, larger, page, on_rank=self.on_rank, window=self.window, states=self.states)

    def like(self, other: Layers) -> bool:
        return (self.kind, self.block, self.page, self.window) == (other.kind, other.block, other.page, other.window)


class Request:
    """What a request's need follows from.

    batched:    --max-num-batched-tokens; in_flight: batches that may be in flight at once
    sharded:    ranks that share a request's tokens: decode x prefill context parallel size
    """

    __slots__ = ("batched", "in_flight", "sharded")

    def __init__(self, batched: int, in_flight: int = 1, sharded: int = 1) -> None:
        self.batched, self.in_flight, self.sharded = batched, in_flight, sharded


class Group:
    """Layers that share one table of blocks: page is the sum over its layers where these differ."""

    __slots__ = ("kind", "layers", "on_rank", "size")

    def __init__(self, kind: Layers, size: int, on_rank: int) -> None:
        self.kind, self.size, self.on_rank = kind, size, on_rank


class Cache:
    """The groups of a launch.

    bytes_of_block:  what one block takes on a GPU, in all layers that it is shared by
    size:            layers in the largest group;  padding: layers' worth of pages that hold nothing
    """

    __slots__ = ("bytes_of_block", "groups", "kinds", "padding", "request", "rules", "size")

    def __init__(self, rules: Rules, kinds: list[Layers], request: Request) -> None:
        """Raises ValueError where the release cannot bring pages of several sizes together."""
        self.rules, self.request = rules, request
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
        """_get_kv_cache_groups_uniform_spec: all layers in one group."""
        kind = self.kinds[0]
        self.groups = [Group(kind, kind.count, kind.on_rank)]
        self.size, self.bytes_of_block = kind.count, kind.on_rank * kind.page

    def _one_pool(self) -> None:
        """_get_kv_cache_groups_uniform_type: one group of layers whose pages differ, each with its own."""
        total = sum(one.on_rank * one.page for one in self.kinds)
        first = self.kinds[0]
        self.groups = [Group(Layers(first.kind, 1, first.block, total, window=first.window), 1, 1)]
        self.size, self.bytes_of_block = sum(one.count for one in self.kinds), total

    def _grouped(self) -> None:
        """_get_kv_cache_groups_uniform_page_size: groups of one size, the last of a kind padded."""
        counts = [one.count for one in self.kinds]
        least, most = min(counts), max(counts)
        self.size = most if most < least * self.rules.widen else least
        for one in self.kinds:
            number = cdiv(one.count, self.size)
            self.padding += number * self.size - one.count
            share = cdiv(one.on_rank, number)
            self.groups += [Group(one, cdiv(one.count, number), share)] * number
        self.bytes_of_block = max(group.on_rank for group in self.groups) * self.kinds[0].page

    def blocks(self, kind: Layers, length: int) -> int:
        """Blocks that a request of so many tokens takes of one group (max_memory_usage_bytes of its spec)."""
        if kind.kind == STATE:
            return kind.states or cdiv(length, kind.block)
        if kind.kind == FULL:
            return cdiv(cdiv(length, self.request.sharded), kind.block)
        batched = self.request.batched * self.request.in_flight
        if kind.kind == SLIDING:
            return cdiv(min(kind.window - 1 + batched, length), kind.block) + 1
        return cdiv(min(kind.window + batched, length), kind.block)

    def need(self, length: int) -> int:
        """Bytes that one request takes, as the release compares them with what there is (_check_enough_kv_cache_memory)."""
        if self.rules.need == "layers":
            return sum(one.on_rank * one.page * self.blocks(one, length) for one in self.kinds)
        groups = self.groups[:1] if self.rules.need == "first" else self.groups
        return self.bytes_of_block * sum(self.blocks(group.kind, length) for group in groups)

    def starts(self, available: int, length: int) -> bool:
        """Whether the release takes the memory as enough for one request."""
        return available > 0 and self.need(length) <= self._compared(available)

    def _compared(self, available: int) -> int:
        return available - self.bytes_of_block if self.rules.null_block else available

    def longest(self, available: int, length: int) -> int:
        """The longest request up to a length that the memory is enough for (estimate_max_model_len); 0 if none."""
        usable = self._compared(available)
        if self.need(1) > usable:
            return 0
        low, high = 1, length
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.need(middle) <= usable else (low, middle - 1)
        return low

    def number_of_blocks(self, available: float) -> int:
        """Blocks in so many bytes on each GPU (get_num_blocks)."""
        return max(int(available) // self.bytes_of_block, 0)

    def concurrency(self, blocks: int, length: int) -> float:
        """How many requests of a length the blocks hold (get_max_concurrency_for_kv_cache_config)."""
        return blocks / sum(self.blocks(group.kind, length) for group in self.groups)

    def tokens(self, blocks: int, length: int) -> int:
        """What the release prints as "GPU KV cache size" (_report_kv_cache_config)."""
        if self.rules.printed:
            return int(self.concurrency(blocks, length) * length)
        smallest = min(group.kind.block for group in self.groups)
        return blocks // len(self.groups) * smallest * self.request.sharded


def _joined(kinds: list[Layers]) -> list[Layers]:
    """Layers that are alike as one kind: a draft's attention joins the model's, where pages are equal."""
    found: list[Layers] = []
    for one in kinds:
        same = next((other for other in found if other.like(one) and other.states == one.states), None)
        if same is None:
            found.append(
                Layers(one.kind, one.count, one.block, one.page, on_rank=one.on_rank, window=one.window, states=one.states)
            )
        else:
            same.count += one.count
            same.on_rank += one.on_rank
    return [one for one in found if one.count]


def _one_type(kinds: list[Layers]) -> bool:
    """UniformTypeKVCacheSpecs.is_uniform_type: blocks of one size, all of them full, or windows of one size."""
    first = kinds[0]
    return first.kind != STATE and all(
        (one.kind, one.block, one.window) == (first.kind, first.block, first.window) for one in kinds
    )


def _unified(rules: Rules, kinds: list[Layers]) -> list[Layers]:
    """unify_kv_cache_spec_page_size. Raises ValueError where the release refuses the model."""
    largest = max(one.page for one in kinds)
    for one in kinds:
        fits = rules.unify and largest % one.page == 0 and one.kind != STATE
        if one.page != largest and not fits and not rules.pad:
            raise ValueError("this release cannot bring KV cache pages of these sizes together")
    return [one.with_page(largest) if one.page != largest else one for one in kinds]
