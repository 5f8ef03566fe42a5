"""SGLang's defaults of --mem-fraction-static, --chunked-prefill-size and the largest captured batch, which depend on the GPU.

Memory is in MiB, as `nvidia-smi --query-gpu=memory.total` prints it and SGLang reads it (get_nvgpu_memory_capacity in
srt/utils/common.py). On unified memory, where nvidia-smi prints none, it is from 0.4.9.post3 the total that CUDA reports.
"""

from __future__ import annotations

from dataclasses import dataclass

from servelint.engines.sglang.facts import prefill_chunk
from servelint.hardware import Gpu
from servelint.memory.plan import Release
from servelint.memory.sglang.cache import compressed, latent, sparse
from servelint.memory.sglang.settings import SglangSettings
from servelint.models.architecture import Architecture

_MIB = 1024


@dataclass(frozen=True, slots=True)
class FractionInputs:
    """What the defaults depend on.

    Attributes:
        gpu_mib: MiB of one GPU, of the smallest where they differ.
        settings: the settings as given. A chunk of -1 stands for none.
        nvidia: the GPUs are NVIDIA's.
        prefill_graphs: prefill is captured.
        mla: the model caches latent vectors.
        vision: layers and width of the vision encoder where it is loaded, (24, 1024) where the config does not say.
    """

    gpu_mib: float
    settings: SglangSettings
    nvidia: bool = True
    prefill_graphs: bool = False
    mla: bool = False
    vision: tuple[int, int] | None = None

    @property
    def algorithm(self) -> str | None:
        """The algorithm of speculative decoding."""
        return self.settings.speculation.algorithm if self.settings.speculation is not None else None


@dataclass(frozen=True, slots=True)
class Defaults:
    """Settings that depend on the GPU.

    Attributes:
        fraction: --mem-fraction-static.
        chunk: --chunked-prefill-size.
        batch: the largest captured batch.
    """

    fraction: float
    chunk: int
    batch: int


def defaults(release: Release, inputs: FractionInputs) -> Defaults:
    """The values that the release gives to settings left out. With data-parallel attention the chunk is one replica's."""
    given = inputs.settings
    chunk = given.chunk if given.chunk is not None else _chunk(release, inputs)
    batch = given.batch if given.batch is not None else _batch(release, inputs)
    fraction = given.fraction
    if fraction is None:
        fraction = _fraction(release, inputs, chunk, batch)
        fraction = _less_for_vision(release, fraction, inputs.vision) if inputs.vision is not None else fraction
    return Defaults(fraction, chunk, batch)


def _chunk(release: Release, inputs: FractionInputs) -> int:
    """Source: ServerArgs.__post_init__ in srt/server_args.py (0.4.0 line 173, 0.4.6.post2 line 262, 0.4.7 line 279)."""
    memory = inputs.gpu_mib
    if release.since("0.4.7.post1"):
        return prefill_chunk(memory, release.since)
    if release.since("0.4.7") and memory > 180_000:
        return 16384
    if memory < 25_000:
        return 2048
    return 16384 if inputs.settings.node != "null" and release.since("0.4.6.post2") else 8192


def _batch(release: Release, inputs: FractionInputs) -> int:
    """The largest captured batch.

    Up to 0.5.2 large GPUs capture what get_batch_sizes_to_capture in srt/model_executor/cuda_graph_runner.py lists (0.4.9 line
    121).

    Source: srt/server_args.py (0.4.0 line 180, 0.4.0.post1, 0.4.7.post1 line 338, 0.5.3rc2 line 567, 0.5.4.post1 line 627),
    srt/arg_groups/memory_hook.py (0.5.20 line 56, 0.5.22 line 136).
    """
    few = inputs.settings.tp < 4
    memory = inputs.gpu_mib
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
    requests = inputs.settings.requests
    return min(found, requests) if release.since("0.5.22") and requests is not None else found


def _fraction(release: Release, inputs: FractionInputs, chunk: int, batch: int) -> float:
    memory = inputs.gpu_mib
    if release.since("0.5.3rc2"):
        return round((memory - _reserve(release, inputs, chunk, batch)) / memory, 3)
    if release.since("0.4.7.post1"):
        return round((memory - _reserve_by_size(release, inputs)) / memory, 3)
    if release.since("0.4.6.post2"):
        return _by_parallel_size(release, inputs)
    if release.since("0.4.5.post3") and memory > 81920:
        return (memory - 13 * _MIB) / memory
    return _by_width(inputs.settings.tp)


def _by_width(ranks: int) -> float:
    """Source: ServerArgs.__post_init__ in srt/server_args.py (0.4.0 line 158)."""
    for least, fraction in ((16, 0.79), (8, 0.81), (4, 0.85), (2, 0.87)):
        if ranks >= least:
            return fraction
    return 0.88


def _by_parallel_size(release: Release, inputs: FractionInputs) -> float:
    """Source: ServerArgs.__post_init__ in srt/server_args.py (0.4.6.post2 line 238, 0.4.7 line 247)."""
    memory = inputs.gpu_mib
    fraction = _by_width(inputs.settings.tp * inputs.settings.pp) if memory <= 81920 else 0.88
    drafts = inputs.algorithm is not None and release.since("0.4.7")
    if release.since("0.4.7") and memory > 180_000 and inputs.nvidia:
        return 0.79
    if memory > 96 * _MIB:
        reserve = (20 if drafts else 18) * _MIB
        return min(fraction + 48 * _MIB * (1 - fraction) / memory, (memory - reserve) / memory)
    return fraction * 0.95 if drafts else fraction


def _reserve_by_size(release: Release, inputs: FractionInputs) -> float:
    """MiB kept free by the size of the GPU.

    Source: ServerArgs.__post_init__ in srt/server_args.py (0.4.7.post1 line 281; from 0.5.2, line 485, drafts have a size of
    their own).
    """
    memory, ranks = inputs.gpu_mib, inputs.settings.tp * inputs.settings.pp
    if memory < 35 * _MIB:
        reserve = (2.8 + ranks / 10) * _MIB
    elif memory < 90 * _MIB:
        reserve = (9.5 + ranks / 2) * _MIB
    elif memory < 160 * _MIB:
        reserve = (12 + ranks / 2) * _MIB
    else:
        reserve = 32.0 * _MIB
    if inputs.algorithm is not None:
        reserve += (6 if inputs.algorithm == "STANDALONE" and release.since("0.5.2") else 2) * _MIB
    return reserve + (4 * _MIB if inputs.settings.replicas > 1 else 0)


def _reserve(release: Release, inputs: FractionInputs, chunk: int, batch: int) -> float:
    """MiB kept free, added up from what runs.

    Source: _handle_gpu_memory_settings in srt/server_args.py (0.5.3rc2 line 630 to 0.5.18 line 4948),
    handle_gpu_memory_settings and reserve_for_graph_mb in srt/arg_groups/memory_hook.py (0.5.23 lines 281 and 356).
    """
    given = inputs.settings
    node = given.node if release.since("0.5.15") else "null"
    tokens = chunk if chunk > 0 else given.prefill
    if node == "decode":
        verified = given.speculation.tokens if given.speculation is not None else 1
        tokens = (given.requests or batch or 1) * (verified or 1)
    reserve = 512 + max(tokens, 2048) * 1.5 + given.tp * given.pp / 8 * 1024
    if node != "prefill":
        if given.decode_graphs or not release.since("0.5.15"):
            reserve += batch * 2
        if given.replicas > 1:
            reserve += batch * given.replicas * (4.5 if batch > 300 else 3)
    early = not release.since("0.5.8")
    prefill = _prefill_graphs(release, inputs, chunk) if inputs.prefill_graphs and node != "decode" else 0.0
    if not early:
        reserve += prefill
    if inputs.gpu_mib > 60 * _MIB:
        reserve = max(reserve, 10 * _MIB)
    reserve += _drafts(release, inputs.algorithm)
    if early:
        reserve += prefill
    if given.deepep and given.decode_graphs and node != "prefill" and release.since("0.5.15"):
        reserve += 2 * _MIB
    return reserve


def _drafts(release: Release, algorithm: str | None) -> float:
    """MiB kept free for drafts. From 0.5.14 the draft itself is counted and there is no such term.

    Source: srt/server_args.py (0.5.3rc2 line 662, 0.5.10rc0 line 1301).
    """
    if algorithm is None or algorithm == "NGRAM" or release.since("0.5.14"):
        return 0.0
    if algorithm == "STANDALONE":
        return 6.0 * _MIB
    return (4.0 if release.since("0.5.10rc0") else 2.0) * _MIB


def _prefill_graphs(release: Release, inputs: FractionInputs, chunk: int) -> float:
    """MiB kept free for captured prefills.

    Source: srt/server_args.py (0.5.5.post1 line 815, 0.5.7 line 936, 0.5.8 line 1012, 0.5.10rc0 line 1289).
    """
    if not release.since("0.5.8"):
        widest = prefill_tokens(release, inputs, chunk)
        share = 8 if release.since("0.5.7") else 4
        return float(widest // share) if release.since("0.5.5.post1") else 0.0
    if inputs.mla and release.since("0.5.10rc0"):
        return 1.5 * _MIB
    # the sizes below 2**24 tokens already need more memory than any GPU has
    sizes = len(prefill_sizes(release, min(prefill_tokens(release, inputs, chunk), 1 << 24)))
    return float(sizes * 8)


def prefill_tokens(release: Release, inputs: FractionInputs, chunk: int) -> int:
    """The largest prefill that is captured, in tokens.

    Source: piecewise_cuda_graph_max_tokens in srt/server_args.py (4096 up to 0.5.6; 0.5.7 line 896, 0.5.8 line 972, 0.5.10rc0
    line 1220), srt/arg_groups/memory_hook.py (0.5.23 line 187).
    """
    if not release.since("0.5.7"):
        return 4096
    widest = chunk if chunk > 0 else 0
    if inputs.mla and release.since("0.5.8"):
        widest = min(8192, widest) if release.since("0.5.23") else 2048
    limit, context = inputs.settings.limit, inputs.settings.context
    if limit is not None and release.since("0.5.10rc0"):
        widest = min(widest, limit)
    if context is not None and release.since("0.5.13") and not release.since("0.5.17"):
        widest = min(widest, context)
    return widest


def prefill_sizes(release: Release, widest: int) -> list[int]:
    """The sizes of prefill that are captured, in tokens, up to the widest.

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
    """The fraction lowered for a vision encoder of some layers and width.

    Source: srt/model_executor/model_runner.py (0.4.0 line 118, 0.4.4 line 273), srt/server_args.py (0.4.9 line 329),
    adjust_mem_fraction_for_vlm in srt/server_args.py (0.4.9.post3 line 1872), srt/arg_groups/memory_hook.py (0.5.23 line 412).
    """
    if not release.since("0.4.9.post3"):
        return fraction * (0.90 if release.since("0.4.4") else 0.95)
    layers, width = vision
    larger = layers * width**2 / (24 * 1024**2)
    return fraction * 0.95 * max(0.8, min(1.05, 1.0 - 0.1 * (larger - 1.0)))


def prefill_graphs(release: Release, settings: SglangSettings, model: Architecture, gpu: Gpu | None) -> bool | None:
    """Whether the prefill is captured, None where it depends on settings that are not followed.

    Source: _handle_piecewise_cuda_graph in srt/server_args.py (0.5.10 line 1078), apply_cuda_graph_compatibility in
    srt/arg_groups/cuda_graph_hook.py (0.5.23 line 136).
    """
    if settings.prefill_graphs is not None:
        return settings.prefill_graphs
    if settings.pp > 1 or compressed(model) or settings.decode_context > 1:
        return False
    if gpu is not None and gpu.vendor != "nvidia":
        return False if not release.since("0.5.14") else None
    if not release.since("0.5.14"):
        busy = settings.speculation is not None or settings.replicas > 1 or settings.node != "null" or settings.offload > 0
        return not busy and model.vision is None and not settings.deepep
    if any(kind.kind == "kda" for kind in model.states):
        return False
    return None if model.vision is not None and settings.encoder else True


_TRITON_ON_AMD = ("Gemma4", "Exaone", "ExaoneMoE", "Olmo2", "Olmo3", "MiniMaxM3", "FalconH1", "NemotronH", "MiniCPMV")
"""The starts of architectures that attend with Triton on AMD's GPUs (srt/server_args.py, 0.5.12 lines 2193 to 2413, and
srt/arg_groups/model_overrides, 0.5.23)."""
AITER_SHARE, AITER_TOKENS = 0.85, 8192
"""What AITER's attention leaves of the fraction for a model of more tokens, and that number of tokens."""


def with_aiter(release: Release, settings: SglangSettings, model: Architecture, gpu: Gpu | None, backend: str | None) -> bool:
    """Whether attention runs with AITER, by which the fraction is lowered even where it is given.

    Latent attention runs with it where a rank has 16 or 128 heads, up to 0.4.10 without drafts; sparse attention has backends
    of its own.

    Source: model_specific_adjustment in srt/model_executor/model_runner.py (0.4.7 line 423, 0.4.8 line 436, 0.5.3rc2 line
    602), _handle_attention_backend_compatibility in srt/server_args.py (0.5.6 lines 1302 and 1420, 0.5.17 lines 5703 and
    5817), srt/arg_groups/attention_hook.py (0.5.23 line 244).
    """
    if not release.since("0.4.7"):
        return False
    if backend is not None or gpu is None or gpu.vendor != "amd":
        return backend == "aiter"
    if sparse(model) or compressed(model) or model.architecture.startswith(_TRITON_ON_AMD):
        return False
    if not latent(model):
        return True
    drafts = settings.speculation is not None and not release.since("0.5.3rc2")
    return not drafts and max(layer.heads for layer in model.attention) // settings.tp in (16, 128)


def vision(settings: SglangSettings, model: Architecture) -> tuple[int, int] | None:
    """Layers and width of the vision encoder that lowers the default fraction."""
    if model.vision is None or not settings.encoder or settings.node == "decode":
        return None
    return model.vision.layers or 24, model.vision.hidden or 1024
