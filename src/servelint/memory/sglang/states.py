"""The states of layers that keep one of a fixed size for each request (GDN, KDA, Mamba): how many slots there are, and what
they take.

They share the memory that is left after the weights with the KV cache.
"""

from __future__ import annotations

from dataclasses import dataclass

from servelint.memory.sglang.release import Release

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture

_WIDTHS = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, slots=True)
class Asked:
    """slots:    --max-mamba-cache-size as given, None if it is not;  requests: --max-running-requests as given, or as drafts
    set it replicas: of data-parallel attention;  ratio: --mamba-full-memory-ratio
    radix:    whether there is a radix cache;  extra: slots of an extra buffer that a request takes (extra_buffer_slots)
    drafts:   tokens that a step verifies, 0 without speculative decoding;  kept: their states are kept while they are verified
    """

    slots: int | None = None
    requests: int | None = None
    replicas: int = 1
    ratio: float = 0.9
    radix: bool = True
    extra: int = 0
    drafts: int = 0
    kept: bool = True


@dataclass(frozen=True, slots=True)
class States:
    """slots:    of requests and of the radix cache; zero or less is refused from 0.5.13
    bytes:    what they take, drafts included;  drafts: what of it is kept for tokens that are being verified
    a_request: slots that one running request takes
    """

    slots: int
    bytes: int
    drafts: int
    a_request: int

    @property
    def requests(self) -> int:
        """How many running requests they are enough for."""
        return max(0, self.slots // self.a_request)


def state_bytes(model: Architecture, ranks: int, stages: int, *, ssm_dtype: str | None, conv_bytes: int = 2) -> int:
    """Bytes of one slot in all layers of a stage.

    Source: Mamba2StateShape.create and mamba_cache_per_req in srt/configs/mamba_utils.py (0.5.23 lines 168 and 112). Up to
    0.5.8 the state is --mamba-ssm-dtype, fp32 where it is not given; from 0.5.9 the config's where that is given
    (mamba2_state_dtype).
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


def solve(release: Release, rest: int, a_state: int, asked: Asked) -> States:
    """The slots of one GPU, and what they take of `rest` bytes.

    Source: init in srt/model_executor/model_runner.py (0.5.2 line 356), handle_max_mamba_cache there (0.5.3.post2 line 1376)
    and in model_runner_kv_cache_mixin.py (0.5.7 line 145, 0.5.8 line 146, 0.5.9 line 151, 0.5.13 line 82),
    _handle_max_mamba_cache in srt/mem_cache/kv_cache_configurator.py (0.5.17 line 1816, 0.5.23 line 3229).
    """
    if a_state <= 0:
        return States(0, 0, 0, 1)
    if not release.since("0.5.3.post2"):
        return _given(asked, a_state, 1)
    taken = 3 + asked.extra if asked.radix else 1
    if not release.since("0.5.7"):
        return _before_extra_buffers(rest, a_state, asked, taken)
    if not release.since("0.5.13"):
        return _drafts_first(release, rest, a_state, asked, taken)
    return _together(release, rest, a_state, asked, taken)


def _slots(asked: Asked) -> int:
    """Without a share of the memory: as given, else one a request, else 512."""
    return asked.slots if asked.slots is not None else asked.requests if asked.requests is not None else 512


def _budget(rest: float, ratio: float) -> float:
    return rest * ratio / (1 + ratio) if ratio > -1 else 0.0


def _given(asked: Asked, a_state: int, taken: int) -> States:
    """0.5.2 to 0.5.3.post1, where hybrid models have no radix cache."""
    slots = _slots(asked) // asked.replicas
    return States(slots, slots * a_state, 0, taken)


def _before_extra_buffers(rest: int, a_state: int, asked: Asked, taken: int) -> States:
    """0.5.3.post2 to 0.5.6.post2: a slot keeps the states of all drafts; with a radix cache what is given does not count."""
    wide = 1 + asked.drafts
    slots = int(_budget(rest, asked.ratio) // a_state // wide) if asked.radix else _slots(asked)
    slots //= asked.replicas
    return States(slots, slots * a_state * wide, slots * a_state * asked.drafts, taken)


def _drafts_first(release: Release, rest: int, a_state: int, asked: Asked, taken: int) -> States:
    """0.5.7 to 0.5.12.post1: the states of drafts for all requests are set aside, and what is left is shared."""
    given = asked.slots is not None or not asked.radix
    if release.since("0.5.9"):
        given = asked.slots is not None or (not asked.radix and asked.requests is not None)
    requests = asked.requests or 0
    if release.since("0.5.8"):
        requests //= asked.replicas
    drafts = a_state * requests * asked.drafts if asked.drafts and (release.since("0.5.8") or not given) else 0
    slots = _slots(asked) // asked.replicas if given else int(_budget(rest - drafts, asked.ratio) // a_state)
    return States(slots, slots * a_state + drafts, drafts, taken)


def _together(release: Release, rest: int, a_state: int, asked: Asked, taken: int) -> States:
    """From 0.5.13: slots and the states of drafts share one budget; from 0.5.17 the slot that pads each of them is counted."""
    pad = 1 if release.since("0.5.17") else 0
    requests = (asked.requests or 0) // asked.replicas
    if release.since("0.5.22"):
        requests = max(1, requests)
    drafts = asked.drafts if asked.kept else 0
    if asked.slots is not None:
        slots = asked.slots // asked.replicas
        running = min(requests, slots // taken)
    elif not asked.radix and asked.requests is not None:
        slots = running = requests
    else:
        budget = _budget(rest, asked.ratio)
        slots = int((budget - pad * a_state * (1 + drafts)) // (a_state * (1 + drafts / taken)))
        running = min(requests, slots // taken)
    kept = a_state * (running + pad) * drafts if drafts else 0
    return States(slots, (slots + pad) * a_state + kept, kept, taken)
