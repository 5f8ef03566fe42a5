"""SGLang's pools: tokens of the KV cache, slots of states and running requests in a number of bytes.

The states of GDN, KDA and Mamba layers have a fixed size per request. They share the memory left after the weights with the KV
cache.
"""

from __future__ import annotations

from dataclasses import dataclass

from servelint.hardware import Gpu
from servelint.memory.plan import GIB, Interval, Release
from servelint.memory.sglang.cache import Cells, compressed
from servelint.memory.sglang.deepseek_v4 import CacheSizes
from servelint.memory.sglang.defaults import Defaults
from servelint.memory.sglang.footprint import Loaded
from servelint.memory.sglang.settings import SglangSettings
from servelint.models.architecture import Architecture

_WIDTHS = {"float32": 4, "bfloat16": 2, "float16": 2}
_EXTRA_BUFFER_KINDS = ("gdn", "mamba2", "kda")


@dataclass(frozen=True, slots=True)
class PoolInputs:
    """What the pool depends on beside the size of a token.

    Attributes:
        page: --page-size in tokens.
        limit: --max-total-tokens.
        window_share: --swa-full-tokens-ratio, None for one pool for all layers.
        headroom: tokens that drafts and verification add to the pool, up to 0.5.6.post2.
        drafts: bytes that a draft model adds to a token in its full and in its sliding layers.
        counted: the target's pool leaves room for these bytes. Otherwise they come out of the rest of the GPU.
    """

    page: int = 1
    limit: int | None = None
    window_share: float | None = None
    headroom: int = 0
    drafts: tuple[int, int] = (0, 0)
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Pool:
    """The KV cache.

    Attributes:
        tokens: max_total_num_tokens as the release prints it.
        sliding: tokens of the pool of sliding layers, 0 if there is none.
        bytes: bytes of the target's KV cache.
        drafts: bytes of the draft's KV cache.
    """

    tokens: int
    sliding: int
    bytes: int
    drafts: int


def solve_pool(release: Release, rest: int, cells: Cells, inputs: PoolInputs) -> Pool:
    """The pool in a number of bytes (`rest`). Its tokens are zero or less where nothing fits.

    Source: init_memory_pool in srt/model_executor/model_runner.py (0.4.0 line 472, 0.4.4 line 639, 0.4.9 line 999),
    set_num_token_hybrid there (0.4.9.post3 line 991), set_num_tokens_hybrid_swa in model_runner_kv_cache_mixin.py (0.5.9), and
    pool_configurator.py (0.5.11 line 184, 0.5.23 line 656).
    """
    if inputs.window_share is None or not cells.sliding_layers:
        tokens, size = _one(release, rest, cells, inputs), cells.every
        sliding = 0
    elif cells.layers == 0:
        token = cells.sliding + (sum(inputs.drafts) if inputs.counted else 0)
        tokens = sliding = _paged(_limited(rest // token, inputs), inputs.page)
        size = cells.sliding
    else:
        return _two(release, rest, cells, inputs, inputs.window_share)
    held = max(tokens, 0)
    return Pool(tokens, sliding, held * size, held * sum(inputs.drafts))


def _paged(tokens: int, page: int) -> int:
    return tokens // page * page


def _limited(tokens: int, inputs: PoolInputs) -> int:
    return tokens if inputs.limit is None else min(tokens, inputs.limit)


def _one(release: Release, rest: int, cells: Cells, inputs: PoolInputs) -> int:
    """Tokens of one pool for all layers."""
    token = cells.every + (sum(inputs.drafts) if inputs.counted else 0)
    tokens = rest // token if token else 0
    if tokens > 0:
        tokens += inputs.headroom
    return _paged(_limited(tokens, inputs), inputs.page if release.since("0.4.4") else 1)


def _two(release: Release, rest: int, cells: Cells, inputs: PoolInputs, share: float) -> Pool:
    """A pool of full layers and one of sliding layers, which holds a share of the tokens of the first.

    Up to 0.5.8 the split is by layers, as if all were of one size. A limit applies before it up to 0.5.10.post1.
    """
    full, slid = inputs.drafts
    if not release.since("0.5.11"):
        tokens = _paged(_limited(rest // cells.every + inputs.headroom, inputs), inputs.page)
        if release.since("0.5.9"):
            tokens = int(tokens * cells.every / (cells.full + share * cells.sliding))
        else:
            tokens = int(tokens * (cells.layers + cells.sliding_layers) / (cells.layers + share * cells.sliding_layers))
    else:
        counted = (full + share * slid) if inputs.counted else 0
        tokens = _limited(int(rest // (cells.full + share * cells.sliding + counted)), inputs)
    aligned = inputs.page if release.since("0.5.7") else 1
    tokens = _paged(tokens, aligned)
    sliding = _paged(int(tokens * share), aligned)
    held, windows = max(tokens, 0), max(sliding, 0)
    return Pool(tokens, sliding, held * cells.full + windows * cells.sliding, held * full + windows * slid)


def draft_headroom(release: Release, requests: int, steps: int, topk: int, verified: int) -> int:
    """Tokens that drafts and verification add to the profiled ones, beyond the memory left for the pool.

    Source: init_memory_pool in srt/model_executor/model_runner.py (0.4.3.post3 line 645 to 0.5.6.post2 line 1700). The target's
    pool of 0.4.1.post4 to 0.4.3.post2 and of 0.5.7 and later stays as it is.
    """
    if not release.since("0.4.3.post3") or release.since("0.5.7"):
        return 0
    return requests * steps * topk + requests * verified + 100


def running_requests(release: Release, tokens: int, context: int, given: int | None, replicas: int) -> int:
    """The most running requests of one replica of a pool, before the slots of states limit them.

    `given` is --max-running-requests, of all replicas, and `context` the longest request in tokens.

    Source: init_memory_pool in srt/model_executor/model_runner.py (0.4.0 line 509), srt/managers/tp_worker.py (0.4.0 line 71:
    not more than half the tokens), _resolve_max_num_reqs in model_runner_kv_cache_mixin.py (0.5.10rc0 line 808, 0.5.14 line
    981), resolve_max_num_reqs in srt/mem_cache/kv_cache_configurator.py (0.5.23 line 3119).
    """
    most = min(max(int(tokens / context * 512), 2048), 4096)
    if given is None:
        return min(most, tokens // 2)
    mine = given // replicas
    if release.since("0.5.23"):
        mine = max(1, mine)
    if release.since("0.5.14"):
        return min(mine, tokens // 2)
    return min(mine, most) if release.since("0.5.10rc0") else mine


@dataclass(frozen=True, slots=True)
class StateInputs:
    """What the slots of states depend on.

    Attributes:
        slots: --max-mamba-cache-size as given.
        requests: --max-running-requests as given, or as drafts set it.
        replicas: replicas of data-parallel attention.
        ratio: --mamba-full-memory-ratio.
        radix: there is a radix cache.
        extra: slots of an extra buffer that a request takes (`extra_buffer_slots`).
        drafts: tokens that a step verifies, 0 without speculative decoding.
        kept: their states are kept while they are verified.
    """

    slots: int | None = None
    requests: int | None = None
    replicas: int = 1
    ratio: float = 0.9
    radix: bool = True
    extra: int = 0
    drafts: int = 0
    kept: bool = True

    @property
    def given(self) -> int:
        """The slots where they are not a share of the memory: as given, else one per request, else 512."""
        return self.slots if self.slots is not None else self.requests if self.requests is not None else 512


@dataclass(frozen=True, slots=True)
class States:
    """The states of one GPU.

    Attributes:
        slots: slots of requests and of the radix cache. Zero or less is refused from 0.5.13.
        bytes: bytes of all states, those for drafts included.
        drafts: bytes among these for tokens that are being verified.
        a_request: slots that one running request takes.
    """

    slots: int
    bytes: int
    drafts: int
    a_request: int

    @property
    def requests(self) -> int:
        """How many running requests the slots are enough for."""
        return max(0, self.slots // self.a_request)


def state_bytes(model: Architecture, ranks: int, stages: int, *, ssm_dtype: str | None, conv_bytes: int = 2) -> int:
    """Bytes of one slot in all layers of one of `stages` pipeline stages, on one of `ranks` GPUs that share the heads.

    Up to 0.5.8 the dtype is --mamba-ssm-dtype, fp32 by default. From 0.5.9 the default is the config's (mamba2_state_dtype).
    `conv_bytes` is the size of an element of the convolution's state.

    Source: Mamba2StateShape.create and mamba_cache_per_req in srt/configs/mamba_utils.py (0.5.23 lines 168 and 112).
    """
    total = 0
    for kind in model.states:
        layers = -(-kind.layers // stages)
        width = _WIDTHS.get(ssm_dtype or kind.ssm_dtype or "float32", 4)
        channels = kind.conv_channels
        if kind.kind == "mamba2" and kind.key_heads % ranks and channels:
            channels += 2 * (ranks - kind.key_heads) * kind.key_dim
        conv = channels // ranks * (kind.conv_kernel - 1) * conv_bytes if channels else 0
        total += layers * (conv + kind.state_elements // ranks * width)
    return total


def extra_buffer_slots(release: Release, strategy: str, *, overlap: bool, drafts: bool) -> int:
    """Slots that the strategy of the radix cache adds to the three of a running request.

    Source: init_memory_pool in srt/model_executor/model_runner_kv_cache_mixin.py (0.5.7 line 294), _calculate_mamba_ratio
    (0.5.10rc0 line 793, 0.5.13 line 912), get_mamba_tracking_slots (0.5.22).
    """
    if strategy not in ("extra_buffer", "extra_buffer_lazy"):
        return 0
    two = overlap if release.since("0.5.10rc0") else not drafts
    return 1 if strategy == "extra_buffer_lazy" or not two else 2


def solve_states(release: Release, rest: int, a_state: int, inputs: StateInputs) -> States:
    """The slots of `a_state` bytes on one GPU with `rest` bytes after the weights.

    Source: init in srt/model_executor/model_runner.py (0.5.2 line 356), handle_max_mamba_cache there (0.5.3.post2 line 1376)
    and in model_runner_kv_cache_mixin.py (0.5.7 line 145, 0.5.8 line 146, 0.5.9 line 151, 0.5.13 line 82),
    _handle_max_mamba_cache in srt/mem_cache/kv_cache_configurator.py (0.5.17 line 1816, 0.5.23 line 3229).
    """
    if a_state <= 0:
        return States(0, 0, 0, 1)
    if not release.since("0.5.3.post2"):
        slots = inputs.given // inputs.replicas  # hybrid models have no radix cache
        return States(slots, slots * a_state, 0, 1)
    taken = 3 + inputs.extra if inputs.radix else 1
    if not release.since("0.5.7"):
        return _before_extra_buffers(rest, a_state, inputs, taken)
    if not release.since("0.5.13"):
        return _drafts_first(release, rest, a_state, inputs, taken)
    return _together(release, rest, a_state, inputs, taken)


def _budget(rest: float, ratio: float) -> float:
    return rest * ratio / (1 + ratio) if ratio > -1 else 0.0


def _before_extra_buffers(rest: int, a_state: int, inputs: StateInputs, taken: int) -> States:
    """0.5.3.post2 to 0.5.6.post2: a slot keeps the states of all drafts. With a radix cache the given number does not count."""
    wide = 1 + inputs.drafts
    slots = int(_budget(rest, inputs.ratio) // a_state // wide) if inputs.radix else inputs.given
    slots //= inputs.replicas
    return States(slots, slots * a_state * wide, slots * a_state * inputs.drafts, taken)


def _drafts_first(release: Release, rest: int, a_state: int, inputs: StateInputs, taken: int) -> States:
    """0.5.7 to 0.5.12.post1: the states of drafts for all requests are set aside, and what is left is shared."""
    given = inputs.slots is not None or not inputs.radix
    if release.since("0.5.9"):
        given = inputs.slots is not None or (not inputs.radix and inputs.requests is not None)
    requests = inputs.requests or 0
    if release.since("0.5.8"):
        requests //= inputs.replicas
    drafts = a_state * requests * inputs.drafts if inputs.drafts and (release.since("0.5.8") or not given) else 0
    slots = inputs.given // inputs.replicas if given else int(_budget(rest - drafts, inputs.ratio) // a_state)
    return States(slots, slots * a_state + drafts, drafts, taken)


def _together(release: Release, rest: int, a_state: int, inputs: StateInputs, taken: int) -> States:
    """From 0.5.13: slots and states of drafts share one budget. From 0.5.17 the slot that pads each of them is counted."""
    pad = 1 if release.since("0.5.17") else 0
    requests = (inputs.requests or 0) // inputs.replicas
    if release.since("0.5.22"):
        requests = max(1, requests)
    drafts = inputs.drafts if inputs.kept else 0
    if inputs.slots is not None:
        slots = inputs.slots // inputs.replicas
        running = min(requests, slots // taken)
    elif not inputs.radix and inputs.requests is not None:
        slots = running = requests
    else:
        budget = _budget(rest, inputs.ratio)
        slots = int((budget - pad * a_state * (1 + drafts)) // (a_state * (1 + drafts / taken)))
        running = min(requests, slots // taken)
    kept = a_state * (running + pad) * drafts if drafts else 0
    return States(slots, (slots + pad) * a_state + kept, kept, taken)


def requested(settings: SglangSettings, model: Architecture) -> int | None:
    """--max-running-requests, 256 for DeepSeek V4 (srt/arg_groups/deepseek_v4_hook.py, 0.5.13 line 22, 0.5.23 line 142)."""
    if settings.requests is None and compressed(model):
        return 256
    return settings.requests


def strategy(release: Release, settings: SglangSettings, model: Architecture) -> str:
    """--mamba-radix-cache-strategy as it runs.

    Source: _mamba_radix_cache_resolution in srt/arg_groups/overrides.py (0.5.23 line 454).
    """
    if not settings.radix or settings.strategy != "auto":
        return settings.strategy if settings.radix else "no_buffer"
    if not release.since("0.5.14"):
        return "no_buffer"
    supported = any(kind.kind in _EXTRA_BUFFER_KINDS for kind in model.states)
    return "extra_buffer" if settings.overlap and supported else "no_buffer"


def radix_cache(release: Release, settings: SglangSettings, model: Architecture) -> bool:
    """Whether there is a radix cache.

    Hybrid models had none up to 0.5.3.post1, those with Mamba layers up to 0.5.6.post2 (srt/model_executor/model_runner.py,
    0.5.3 line 356, 0.5.6 line 448).
    """
    if not model.states or not settings.radix:
        return settings.radix
    if not release.since("0.5.3.post2"):
        return False
    return release.since("0.5.7") or all(kind.kind in ("gdn", "kda") for kind in model.states)


def state_inputs(release: Release, settings: SglangSettings, model: Architecture, requests: int | None) -> StateInputs:
    """What the slots of states of a launch depend on. `requests` is --max-running-requests as given."""
    speculation, way = settings.speculation, strategy(release, settings, model)
    verified = speculation.tokens if speculation is not None and model.states else 0
    extra = extra_buffer_slots(release, way, overlap=settings.overlap, drafts=speculation is not None)
    kept = not (settings.node == "prefill" and release.since("0.5.22"))
    radix, share = radix_cache(release, settings, model), settings.state_share
    return StateInputs(settings.slots, requests, settings.replicas, share, radix, extra, verified, kept)


@dataclass(eq=False, slots=True)
class Inputs:
    """What the plan of a launch is computed from. An attribute that is not known yet, or cannot be known, is None.

    Attributes:
        release, settings, model, gpu: the release, the settings, the model and the GPU of the launch.
        draft: the draft model where there is a separate one that is known.
        loaded: the weights.
        cells: bytes of a token in the KV cache.
        scales: bytes of a token that are allocated beside what the release counts.
        draft_cells: bytes of a token in the KV cache of the draft, in full and in sliding layers.
        defaults: the settings that depend on the GPU.
        free: GiB free on one GPU before loading.
        prefill_graphs: whether the prefill is captured.
        share: the size of the pool of sliding layers as a share of that of the others, None if all layers share one.
        v4: the pools of DeepSeek V4.
        context: the longest request in tokens.
        page: tokens of a page.
        adapters: GiB of the room for LoRA adapters.
    """

    release: Release
    settings: SglangSettings
    model: Architecture
    gpu: Gpu | None = None
    draft: Architecture | None = None
    loaded: Loaded | None = None
    cells: Cells | None = None
    scales: int = 0
    draft_cells: tuple[int, int] | None = None
    defaults: Defaults | None = None
    free: Interval | None = None
    prefill_graphs: bool | None = None
    share: float | None = None
    v4: CacheSizes | None = None
    context: int | None = None
    page: int = 1
    adapters: Interval | None = None

    @property
    def attention_ranks(self) -> int:
        """GPUs that share the heads of attention."""
        return max(1, self.settings.tp // self.settings.replicas)

    @property
    def counted(self) -> bool:
        """Whether the draft is loaded before the pool is sized, and its cache counted.

        It is from 0.5.14, where the fraction no longer has a term for drafts (srt/managers/scheduler.py init_model_worker). The
        caches of block drafters are counted from 0.5.11, sliding ones from 0.5.15.
        """
        return self.release.since("0.5.14")


@dataclass(frozen=True, slots=True)
class OnGpu:
    """What is known once the GPU and the weights are: the weights, GiB free before loading, and dependent settings."""

    loaded: Loaded
    free: Interval
    defaults: Defaults


@dataclass(frozen=True, slots=True)
class Pools:
    """The pools of one GPU and the running requests they are enough for."""

    pool: Pool | None
    states: States | None
    requests: int

    @property
    def kv_gib(self) -> float:
        """GiB of the target's KV cache."""
        return self.pool.bytes / GIB if self.pool is not None else 0.0

    @property
    def draft_gib(self) -> float:
        """GiB of the draft's KV cache."""
        return self.pool.drafts / GIB if self.pool is not None else 0.0

    @property
    def states_gib(self) -> float:
        """GiB of the states of linear attention."""
        return self.states.bytes / GIB if self.states is not None else 0.0


def pools_of(given: Inputs, rest_gib: float) -> Pools:
    """The pools in a number of GiB, empty ones for a model whose pools are not followed."""
    release, settings = given.release, given.settings
    running = requested(settings, given.model)
    rest = int(rest_gib * GIB)
    if given.v4 is not None:
        tokens = given.v4.tokens(rest, settings.limit)
        size = int(tokens * given.v4.token) + (given.v4.fixed if tokens else 0)
        requests = running_requests(release, tokens, given.context or 4096, running, settings.replicas)
        return Pools(Pool(tokens, 0, size, 0), None, requests)
    if given.cells is None:
        return Pools(None, None, running or 0)
    held = None
    if given.model.states:
        wide = 4 if settings.conv_dtype == "float32" else 2
        a_state = state_bytes(given.model, given.attention_ranks, settings.pp, ssm_dtype=settings.ssm_dtype, conv_bytes=wide)
        held = solve_states(release, rest, a_state, state_inputs(release, settings, given.model, running))
        rest -= held.bytes
    counted = given.counted and (given.share is None or release.since("0.5.15"))
    speculation, headroom = settings.speculation, 0
    if speculation is not None and speculation.loads_draft:
        headroom = draft_headroom(release, running or 48, speculation.steps, speculation.topk, speculation.tokens)
    inputs = PoolInputs(given.page, settings.limit, given.share, headroom, given.draft_cells or (0, 0), counted)
    solved = solve_pool(release, rest, given.cells, inputs)
    requests = running_requests(release, max(solved.tokens, 0), given.context or 4096, running, settings.replicas)
    if held is not None:
        requests = min(requests, held.requests)
    return Pools(solved, held, requests)
