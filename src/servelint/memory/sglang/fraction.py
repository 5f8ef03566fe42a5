"""--mem-fraction-static, --chunked-prefill-size and the largest captured batch, where a launch leaves them out.

Memory is in MiB, as `nvidia-smi --query-gpu=memory.total` prints it: that is what SGLang reads (get_nvgpu_memory_capacity in
srt/utils/common.py; on unified memory, of which it says nothing, from 0.4.9.post3 the total that CUDA reports).
"""

from __future__ import annotations

from dataclasses import dataclass

from servelint.memory.sglang.release import Release

_MIB = 1024


@dataclass(frozen=True, slots=True)
class Asked:
    """What the defaults follow from.

    gpu_mib:     memory of one GPU; the smallest where they differ
    unified:     memory that GPU and host share; nvidia: not AMD's
    tp, pp:      tensor and pipeline parallel size;  replicas: of data-parallel attention, 1 where there is none
    chunk:       --chunked-prefill-size as given (-1: none), None if it is not;  prefill: --max-prefill-tokens
    batch:       the largest captured batch as given;  requests: --max-running-requests as given, or as drafts set it
    decode_graphs, prefill_graphs: whether they are captured
    algorithm:   of speculative decoding, None if there is none;  draft_tokens: that a step verifies
    node:        --disaggregation-mode: "null", "prefill", "decode"
    mla:         the model caches latent vectors
    vision:      layers and width of the vision encoder where it is loaded; (24, 1024) where the config does not say
    deepep:      experts are exchanged by DeepEP
    """

    gpu_mib: float
    tp: int = 1
    pp: int = 1
    replicas: int = 1
    nvidia: bool = True
    chunk: int | None = None
    prefill: int = 16384
    batch: int | None = None
    requests: int | None = None
    decode_graphs: bool = True
    prefill_graphs: bool = False
    prefill_sizes: int | None = None
    algorithm: str | None = None
    draft_tokens: int | None = None
    node: str = "null"
    mla: bool = False
    vision: tuple[int, int] | None = None
    deepep: bool = False
    max_total_tokens: int | None = None
    context: int | None = None


@dataclass(frozen=True, slots=True)
class Defaults:
    """fraction: what --mem-fraction-static becomes;  chunk, batch: --chunked-prefill-size and the largest captured batch."""

    fraction: float
    chunk: int
    batch: int


def defaults(release: Release, asked: Asked) -> Defaults:
    """What the release makes of settings that are left out. With data-parallel attention the chunk is one replica's."""
    chunk = asked.chunk if asked.chunk is not None else _chunk(release, asked)
    batch = asked.batch if asked.batch is not None else _batch(release, asked)
    fraction = _fraction(release, asked, chunk, batch)
    if asked.vision is not None:
        fraction = _less_for_vision(release, fraction, asked.vision)
    return Defaults(fraction, chunk, batch)


def _chunk(release: Release, asked: Asked) -> int:
    """Source: ServerArgs.__post_init__ in srt/server_args.py (0.4.0 line 173, 0.4.6.post2 line 262, 0.4.7 line 279, 0.4.7.post1
    line 331), _handle_gpu_memory_settings (0.5.3rc2 line 542), srt/arg_groups/memory_hook.py (0.5.20 line 54)."""
    memory = asked.gpu_mib
    if release.since("0.4.7.post1"):
        if memory < 35 * _MIB:
            if memory >= 20 * _MIB and release.since("0.5.20"):
                return 4096
            return 2048
        if memory < 60 * _MIB and release.since("0.5.3rc2"):
            return 4096
        return 8192 if memory < 160 * _MIB else 16384
    if release.since("0.4.7") and memory > 180_000:
        return 16384
    if memory < 25_000:
        return 2048
    return 16384 if asked.node != "null" and release.since("0.4.6.post2") else 8192


def _batch(release: Release, asked: Asked) -> int:
    """The largest captured batch.

    Up to 0.5.2 large GPUs capture what get_batch_sizes_to_capture in srt/model_executor/cuda_graph_runner.py lists (0.4.9 line
    121).
    Source: srt/server_args.py (0.4.0 line 180, 0.4.0.post1, 0.4.7.post1 line 338, 0.5.3rc2 line 567, 0.5.4.post1 line 627),
    srt/arg_groups/memory_hook.py (0.5.20 line 56, 0.5.22 line 136).
    """
    few = asked.tp < 4
    memory = asked.gpu_mib
    if not release.since("0.5.3rc2"):
        if memory < (35 * _MIB if release.since("0.4.7.post1") else 25_000):
            return 8 if few or not release.since("0.4.0.post1") else 80
        return 160 if memory < 96 * _MIB else 256 if release.since("0.4.5.post3") else 160
    if memory < 20 * _MIB:
        found = 8
    elif memory < 35 * _MIB:
        small = 48 if release.since("0.5.20") else 24 if release.since("0.5.4.post1") else 16
        found = small if few else 160 if release.since("0.5.20") else 80
    elif memory < 60 * _MIB:
        found = 32 if few else 160
    elif memory < 160 * _MIB:
        found = 256 if few else 512
    else:
        found = 512
    if release.since("0.5.22") and asked.requests is not None:
        return min(found, asked.requests)
    return found


def _fraction(release: Release, asked: Asked, chunk: int, batch: int) -> float:
    memory = asked.gpu_mib
    if release.since("0.5.3rc2"):
        return round((memory - _reserve(release, asked, chunk, batch)) / memory, 3)
    if release.since("0.4.7.post1"):
        return round((memory - _reserve_by_size(release, asked)) / memory, 3)
    if release.since("0.4.6.post2"):
        return _by_parallel_size(release, asked)
    if release.since("0.4.5.post3") and memory > 81920:
        return (memory - 13 * _MIB) / memory
    return _by_width(asked.tp)


def _by_width(ranks: int) -> float:
    """Source: ServerArgs.__post_init__ in srt/server_args.py (0.4.0 line 158)."""
    for least, fraction in ((16, 0.79), (8, 0.81), (4, 0.85), (2, 0.87)):
        if ranks >= least:
            return fraction
    return 0.88


def _by_parallel_size(release: Release, asked: Asked) -> float:
    """Source: ServerArgs.__post_init__ in srt/server_args.py (0.4.6.post2 line 238, 0.4.7 line 247)."""
    memory = asked.gpu_mib
    fraction = _by_width(asked.tp * asked.pp) if memory <= 81920 else 0.88
    drafts = asked.algorithm is not None and release.since("0.4.7")
    if release.since("0.4.7") and memory > 180_000 and asked.nvidia:
        return 0.79
    if memory > 96 * _MIB:
        reserve = (20 if drafts else 18) * _MIB
        return min(fraction + 48 * _MIB * (1 - fraction) / memory, (memory - reserve) / memory)
    return fraction * 0.95 if drafts else fraction


def _reserve_by_size(release: Release, asked: Asked) -> float:
    """Source: ServerArgs.__post_init__ in srt/server_args.py (0.4.7.post1 line 281; drafts of their own size from 0.5.2, line
    485)."""
    memory, ranks = asked.gpu_mib, asked.tp * asked.pp
    if memory < 35 * _MIB:
        reserve = (2.8 + ranks / 10) * _MIB
    elif memory < 90 * _MIB:
        reserve = (9.5 + ranks / 2) * _MIB
    elif memory < 160 * _MIB:
        reserve = (12 + ranks / 2) * _MIB
    else:
        reserve = 32.0 * _MIB
    if asked.algorithm is not None:
        reserve += (6 if asked.algorithm == "STANDALONE" and release.since("0.5.2") else 2) * _MIB
    return reserve + (4 * _MIB if asked.replicas > 1 else 0)


def _reserve(release: Release, asked: Asked, chunk: int, batch: int) -> float:
    """Source: _handle_gpu_memory_settings in srt/server_args.py (0.5.3rc2 line 630 to 0.5.18 line 4948),
    handle_gpu_memory_settings and reserve_for_graph_mb in srt/arg_groups/memory_hook.py (0.5.23 lines 281 and 356)."""
    node = asked.node if release.since("0.5.15") else "null"
    tokens = chunk if chunk > 0 else asked.prefill
    if node == "decode":
        tokens = (asked.requests or batch or 1) * (asked.draft_tokens or 1)
    reserve = 512 + max(tokens, 2048) * 1.5 + asked.tp * asked.pp / 8 * 1024
    if node != "prefill":
        if asked.decode_graphs or not release.since("0.5.15"):
            reserve += batch * 2
        if asked.replicas > 1:
            reserve += batch * asked.replicas * (4.5 if batch > 300 else 3)
    early = not release.since("0.5.8")
    prefill = _prefill_graphs(release, asked, chunk) if asked.prefill_graphs and node != "decode" else 0.0
    if not early:
        reserve += prefill
    if asked.gpu_mib > 60 * _MIB:
        reserve = max(reserve, 10 * _MIB)
    reserve += _drafts(release, asked.algorithm)
    if early:
        reserve += prefill
    if asked.deepep and asked.decode_graphs and node != "prefill" and release.since("0.5.15"):
        reserve += 2 * _MIB
    return reserve


def _drafts(release: Release, algorithm: str | None) -> float:
    """Source: srt/server_args.py (0.5.3rc2 line 662, 0.5.10rc0 line 1301); 0.5.14 counts the draft itself and has no such
    term."""
    if algorithm is None or algorithm == "NGRAM" or release.since("0.5.14"):
        return 0.0
    if algorithm == "STANDALONE":
        return 6.0 * _MIB
    return (4.0 if release.since("0.5.10rc0") else 2.0) * _MIB


def _prefill_graphs(release: Release, asked: Asked, chunk: int) -> float:
    """Source: srt/server_args.py (0.5.5.post1 line 815, 0.5.7 line 936, 0.5.8 line 1012, 0.5.10rc0 line 1289)."""
    if not release.since("0.5.8"):
        widest = prefill_tokens(release, asked, chunk)
        share = 8 if release.since("0.5.7") else 4
        return float(widest // share) if release.since("0.5.5.post1") else 0.0
    if asked.mla and release.since("0.5.10rc0"):
        return 1.5 * _MIB
    sizes = asked.prefill_sizes
    if sizes is None:
        # as many as there are below 2**24 tokens fit on no GPU anyway
        sizes = len(prefill_sizes(release, min(prefill_tokens(release, asked, chunk), 1 << 24)))
    return float(sizes * 8)


def prefill_tokens(release: Release, asked: Asked, chunk: int) -> int:
    """The largest prefill that is captured.

    Source: piecewise_cuda_graph_max_tokens in srt/server_args.py (4096 up to 0.5.6; 0.5.7 line 896, 0.5.8 line 972, 0.5.10rc0
    line 1220), srt/arg_groups/memory_hook.py (0.5.23 line 187).
    """
    if not release.since("0.5.7"):
        return 4096
    widest = chunk if chunk > 0 else 0
    if asked.mla and release.since("0.5.8"):
        widest = min(8192, widest) if release.since("0.5.23") else 2048
    if asked.max_total_tokens is not None and release.since("0.5.10rc0"):
        widest = min(widest, asked.max_total_tokens)
    if asked.context is not None and release.since("0.5.13") and not release.since("0.5.17"):
        widest = min(widest, asked.context)
    return widest


def prefill_sizes(release: Release, widest: int) -> list[int]:
    """The sizes of prefill that are captured, up to the widest.

    Source: _generate_piecewise_cuda_graph_tokens in srt/server_args.py (0.5.8, 0.5.9), generate_prefill_cuda_graph_batch_sizes
    in srt/arg_groups/cuda_graph_hook.py (0.5.23 line 480).
    """
    from_512 = 640 if not release.since("0.5.9") else 576
    sizes = [
        *range(4, 33, 4), *range(48, 257, 16), *range(288, 513, 32), *range(from_512, 1025, 64), *range(1280, 4097, 256),
        *range(4608, widest + 1, 512),
    ]  # fmt: skip
    return [size for size in sizes if size <= widest]


def _less_for_vision(release: Release, fraction: float, vision: tuple[int, int]) -> float:
    """Source: srt/model_executor/model_runner.py (0.4.0 line 118, 0.4.4 line 273), srt/server_args.py (0.4.9 line 329),
    adjust_mem_fraction_for_vlm in srt/server_args.py (0.4.9.post3 line 1872), srt/arg_groups/memory_hook.py (0.5.23 line
    412)."""
    if not release.since("0.4.9.post3"):
        return fraction * (0.90 if release.since("0.4.4") else 0.95)
    layers, width = vision
    larger = layers * width**2 / (24 * 1024**2)
    return fraction * 0.95 * max(0.8, min(1.05, 1.0 - 0.1 * (larger - 1.0)))
