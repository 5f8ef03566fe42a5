"""DeepSeek V4 in SGLang: GiB beside what its checkpoint holds, and its pools, release by release.

The experts are MXFP4, with a scale of one byte for 32 weights. What a release makes of the scales depends on the backend that
runs the experts, and the backend on the GPU. Layers that SGLang can only run in 16 bits are stored so.
"""

from __future__ import annotations

from dataclasses import dataclass

from servelint.hardware import Gpu
from servelint.memory.plan import GIB, Interval, Release
from servelint.memory.sglang.settings import SglangSettings
from servelint.models.architecture import Architecture
from servelint.models.weights import Weights

_STORED = 17
"""Bytes of 32 weights as the checkpoint holds them: 16 of weights and a scale of one."""
_WIDENED = 20
"""With the scale in float32: srt/layers/quantization/fp8.py Fp8MoEMethod.create_weights (0.5.12 line 999, 0.5.23 line 1695)."""
_BOTH = 21
"""With both: up to 0.5.15 Marlin keeps the loaded scales beside its own (srt/layers/quantization/mxfp4_marlin_moe.py, 0.5.14
line 76; from 0.5.16 prepare_moe_mxfp4_layer_for_marlin deletes them)."""
_PAGE = 256
_ALIGN = 576
_REQUESTS = 256
"""--max-running-requests by default: srt/arg_groups/deepseek_v4_hook.py (0.5.13 line 22, 0.5.23 line 142)."""


def experts_backend(release: Release, settings: SglangSettings, gpu: Gpu | None) -> str | None:
    """--moe-runner-backend as it runs for FP4 experts, None where it depends on a GPU that is not known.

    Source: srt/server_args.py (0.5.13 line 2111, 0.5.14 line 3789), _deepseek_v4_overrides in srt/arg_groups/overrides.py
    (0.5.16 line 1495) and srt/arg_groups/model_overrides/deepseek_v4.py (0.5.19 line 74).
    """
    if settings.experts not in (None, "auto"):
        return settings.experts
    if not release.since("0.5.13"):
        return "auto"
    if gpu is None:
        return None
    capability = gpu.capability
    if gpu.vendor != "nvidia" or capability is None:
        return "auto"
    if release.since("0.5.19"):
        return "flashinfer_mxfp4" if settings.dispatch in (None, "none") and capability >= 9 else "auto"
    if capability < 12:
        return "auto"
    return "flashinfer_mxfp4" if release.since("0.5.16") else "marlin"


def experts_factor(release: Release, settings: SglangSettings, gpu: Gpu | None) -> Interval:
    """The size of loaded FP4 experts over their size in the checkpoint.

    DeepGEMM on Blackwell packs the scales again (transform_sf_into_required_layout in Fp8MoEMethod), which backends other than
    DeepEP's do not ask for. AMD's kernels take them as they are.
    """
    chosen = experts_backend(release, settings, gpu)
    marlin = _STORED if release.since("0.5.16") else _BOTH
    if chosen is None:
        return Interval(1.0, _WIDENED / _STORED, max(marlin, _WIDENED) / _STORED)
    if gpu is not None and gpu.vendor == "amd":
        return Interval(1.0, 1.0, _WIDENED / _STORED)
    if chosen == "marlin":
        return Interval.exact(marlin / _STORED)
    if chosen == "flashinfer_mxfp4":
        return Interval.exact(1.0)
    if settings.dispatch not in (None, "none") or chosen not in ("auto", "triton"):
        return Interval(1.0, 1.0, _WIDENED / _STORED)
    return Interval.exact(_WIDENED / _STORED)


def unfolded_gib(settings: SglangSettings, model: Architecture, gpu: Gpu | None) -> Interval:
    """GiB of one layer's wo_a on top of its FP8: GPUs other than the large Blackwells have it in bfloat16.

    Source: SGLANG_OPT_FP8_WO_A_GEMM in srt/server_args.py (0.5.12 line 4271, 0.5.14 lines 3795 and 5927) and
    srt/arg_groups/serving_hook.py (0.5.23 line 477).
    """
    rank = model.low_rank
    if rank is None:
        return Interval.exact(0.0)
    ranks = max(1, settings.tp // settings.replicas)
    kind = model.attention[0]
    size = rank.o_groups * rank.o_lora_rank // ranks * (kind.heads * kind.head_dim // max(1, rank.o_groups)) / GIB
    capability = gpu.capability if gpu is not None else None
    if capability is None:
        return Interval(0.0, size, size)
    return Interval.exact(0.0 if 10 <= capability < 12 else size)


def rotary_table_gib(model: Architecture) -> float:
    """GiB of one base of the rotary embedding: cosines and sines in float32, and once more as complex numbers.

    Source: precompute_freqs_cis in srt/layers/deepseek_v4_rope.py, 0.5.14 line 47, kept in each layer but once.
    """
    return 2 * (model.context or 0) * model.attention[0].rotary * 4 / GIB


def target_extra_gib(
    release: Release, settings: SglangSettings, model: Architecture, gpu: Gpu | None, experts_gib: float
) -> Interval:
    """GiB of the target beside what the checkpoint holds. `experts_gib` is the size of the experts there, on one GPU."""
    stages = min(settings.pp, model.layers)
    found = unfolded_gib(settings, model, gpu).scaled(-(-model.layers // stages))
    return found + experts_factor(release, settings, gpu).scaled(experts_gib) - Interval.exact(experts_gib)


def draft_extra_gib(
    release: Release, settings: SglangSettings, model: Architecture, gpu: Gpu | None, weights: Weights, experts_gib: float
) -> Interval:
    """GiB of the layer that drafts, beside what the checkpoint holds. `experts_gib` is the size of all experts there.

    It has a table of rotary embedding of its own where no layer of the target looks at a window alone
    (COMPRESS_RATIO_NEXTN_LAYER in srt/models/deepseek_v4_nextn.py).
    """
    one = experts_gib * min(settings.pp, model.layers) / model.layers
    found = unfolded_gib(settings, model, gpu) + experts_factor(release, settings, gpu).scaled(one) - Interval.exact(one)
    if all(kind.compress > 1 for kind in model.attention):
        found = found + Interval.exact(rotary_table_gib(model))
    return found if weights.mtp else Interval.exact(0.0)


@dataclass(frozen=True, slots=True)
class CacheSizes:
    """The sizes of the pools.

    Attributes:
        token: bytes of a token of max_total_num_tokens, with its share of the windows.
        fixed: bytes that do not depend on the number of tokens.
    """

    token: float
    fixed: int

    def tokens(self, rest: int, limit: int | None) -> int:
        """max_total_num_tokens in `rest` bytes. `limit` is --max-total-tokens."""
        found = int(max(0, rest - self.fixed) / self.token)
        return (found if limit is None else min(found, limit)) // _PAGE * _PAGE


def cache_sizes(release: Release, settings: SglangSettings, model: Architecture, share: float) -> CacheSizes:
    """The sizes of the pools. `share` is --swa-full-tokens-ratio.

    Windows, and the states of layers that compress four tokens, grow with a share of the tokens. So do states of layers that
    compress 128 up to 0.5.14; later they belong to a running request. Up to 0.5.12 the layer that drafts is counted among the
    model's. From 0.5.21 the states are divided among pages instead of windows, and a page of 584 bytes a token is a multiple of
    576.

    Source: DSV4PoolConfigurator in srt/model_executor/pool_configurator.py (0.5.12 line 314, 0.5.15 line 570, 0.5.21 line 952).
    """
    stages = min(settings.pp, model.layers)
    layers = {ratio: -(-count // stages) for ratio, count in _by_ratio(model).items()}
    head, indexer = model.attention[0].head_dim, model.indexer.head_dim if model.indexer is not None else 0
    rope = model.attention[0].rotary
    drafts = settings.speculation is not None
    late = release.since("0.5.21")
    row = _row(head, rope, 1, settings) if late else head - rope + 2 * rope + 8
    index = indexer + indexer // 128 * 4
    window = next((kind.window for kind in model.attention if kind.window), 128)
    ring4, ring128 = (16, 256) if drafts else (8, 128)
    width4, width128 = (2, 2) if settings.states16 else (4, 4)
    per_window = ring4 / (_PAGE if late else window)
    total = sum(layers.values()) + (0 if release.since("0.5.13") else model.mtp_layers)
    token = share * row * total
    token += layers.get(4, 0) * ((_row(head, rope, 4, settings) if late else row) + index) / 4
    token += layers.get(128, 0) * (_row(head, rope, 128, settings) if late else row) / 128
    token += share * per_window * layers.get(4, 0) * 4 * (head + indexer) * width4
    fixed = 0
    if release.since("0.5.15"):
        slots = (settings.requests or _REQUESTS) // settings.replicas + 1
        rows = -(-((slots + 1) * ring128 + 1) // 128) * 128
        fixed = rows * 2 * head * width128 * layers.get(128, 0)
    else:
        token += share * ring128 / window * 2 * head * width128 * layers.get(128, 0)
    if drafts:
        token *= (total + 1) / total
    return CacheSizes(token, fixed)


def _by_ratio(model: Architecture) -> dict[int, int]:
    """Layers by how many tokens they compress into one entry. 0 and 1 stand for none."""
    found: dict[int, int] = {}
    for kind in model.attention:
        found[kind.compress] = found.get(kind.compress, 0) + kind.layers
    return found


def _row(head: int, rope: int, ratio: int, settings: SglangSettings) -> float:
    """Bytes of a token in a page, whose size is padded, except with TensorRT-LLM's kernels, where an element is a byte.

    Source: KVLayout.page_bytes in sglang/kernels/ops/attention/dsv4/kv_layout.py (0.5.21 line 16).
    """
    if settings.v4_backend == "trtllm":
        return head
    page = _PAGE // ratio
    raw = page * (head - rope + 2 * rope + 8)
    return -(-raw // _ALIGN) * _ALIGN / page
