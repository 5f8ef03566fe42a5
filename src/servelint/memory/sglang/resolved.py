"""What settings become for a model: the KV cache's format, pages, whether sliding layers have a pool of their own."""

from __future__ import annotations

from servelint.memory.sglang import cells, fraction, states
from servelint.memory.sglang.settings import BLOCKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.hardware import Gpu
    from servelint.memory.sglang.release import Release
    from servelint.memory.sglang.settings import Settings
    from servelint.models.architecture import Architecture

_SPLIT = {
    "Llama4ForConditionalGeneration": "0.5.8", "GptOssForCausalLM": "0.5.8", "MiMoV2FlashForCausalLM": "0.5.7",
    "MiMoV2ForCausalLM": "0.5.11", "Step3p5ForCausalLM": "0.5.9", "Step3p7ForConditionalGeneration": "0.5.13",
    "Gemma4ForCausalLM": "0.5.11", "Gemma4ForConditionalGeneration": "0.5.11",
    "Gemma4UnifiedForConditionalGeneration": "0.5.13",
    "DiffusionGemmaForBlockDiffusion": "0.5.21", "LagunaForCausalLM": "0.5.12", "MellumForCausalLM": "0.5.16",
    "MuseGlimmerForCausalLM": "0.5.18", "MuseGlimmerForConditionalGeneration": "0.5.18",
    "InklingForConditionalGeneration": "0.5.16",
}  # fmt: skip
"""Architectures whose sliding layers have a pool of their own, and since when: is_hybrid_swa_model in
srt/configs/model_config.py (0.5.8 line 1025, 0.5.23 line 2650)."""
_NEVER_SPLIT = ("Gemma2", "Gemma3", "Olmo2", "Exaone4", "Llama4")
_SMALL_WINDOW_SHARE = ("DeepseekV4ForCausalLM", "InklingForConditionalGeneration")
_LATENT_PAGES = {"flashmla": 64, "cutlass_mla": 128, "trtllm_mla": 64, "cutedsl_mla": 64}
_EXTRA_BUFFER_KINDS = ("gdn", "mamba2", "kda")


def sparse(model: Architecture) -> bool:
    """DeepSeek's sparse attention: latent vectors and an indexer."""
    return model.indexer is not None and latent(model)


def latent(model: Architecture) -> bool:
    return any(kind.mla is not None for kind in model.attention)


def compressed(model: Architecture) -> bool:
    """DeepSeek V4: pools of its own, whose division this arithmetic does not follow."""
    return model.low_rank is not None


def form(release: Release, settings: Settings, model: Architecture, gpu: Gpu | None) -> str | None:
    """The format of the KV cache; None if the GPU decides it and is not known.

    Source: init_memory_pool in srt/model_executor/model_runner.py (0.5.3rc2 line 1393: a checkpoint with scales of an fp8
    cache), _set_default_nsa_kv_cache_dtype in srt/server_args.py (0.5.9 line 1129, there since 0.5.6),
    _dsa_kv_cache_dtype_default in srt/arg_groups/overrides.py (0.5.23 line 491).
    """
    if settings.kv_dtype != "auto":
        return cells.cache_format(settings.kv_dtype)
    if compressed(model):
        return cells.FP8
    if sparse(model) and release.since("0.5.6"):
        capability = gpu.facts.get("capability") if gpu is not None else None
        if gpu is not None and gpu.facts.get("vendor") != "nvidia":
            return cells.PLAIN
        if not isinstance(capability, float):
            return None
        return cells.FP8 if capability >= 10 else cells.PLAIN
    scales = model.quantization.kv_cache
    return cells.FP8 if scales == "fp8" and release.since("0.5.3rc2") else cells.PLAIN


def scaled_rows(config_backends: tuple[str | None, str | None], model: Architecture, gpu: Gpu | None) -> bool:
    """Whether fp8 rows of sparse attention carry scales: not for TensorRT-LLM's kernels, which Blackwell takes by default,
    except for GLM on SM12x (_dsa_split_backend_resolution in srt/arg_groups/overrides.py, 0.5.23 line 605), and not for
    AMD's."""
    if gpu is not None and gpu.facts.get("vendor") != "nvidia":
        return False
    if "trtllm" in config_backends:
        return False
    capability = gpu.facts.get("capability") if gpu is not None else None
    glm = model.architecture == "GlmMoeDsaForCausalLM" and isinstance(capability, float) and capability >= 12
    by_default = config_backends == (None, None) and isinstance(capability, float) and capability >= 10 and not glm
    return not by_default


def page_size(release: Release, settings: Settings, model: Architecture, backend: str | None) -> int:
    """Tokens of a page. Source: srt/server_args.py (0.4.4 line 217), _page_size_default and _mla_backend_page_constraints in
    srt/arg_groups/overrides.py (0.5.23 lines 1142 and 1336), srt/arg_groups/model_overrides/{deepseek_v2,deepseek_v4}.py."""
    if compressed(model):
        return 256
    if sparse(model) and release.since("0.5.3.post1"):
        return 64
    if latent(model) and backend in _LATENT_PAGES:
        return _LATENT_PAGES[backend]
    return settings.page or 1


def window_share(release: Release, settings: Settings, model: Architecture) -> float | None:
    """--swa-full-tokens-ratio where sliding layers have a pool of their own; None where all layers share one."""
    if not settings.window_pool or not release.since("0.4.9.post3") or not any(kind.window for kind in model.attention):
        return None
    name = model.architecture
    if release.since("0.5.8"):
        since = _SPLIT.get(name)
        if since is None or not release.since(since):
            return None
    elif any(part in name for part in _NEVER_SPLIT):
        return None
    if settings.window_share is not None:
        return settings.window_share
    return 0.1 if name in _SMALL_WINDOW_SHARE else 0.8


def prefill_graphs(release: Release, settings: Settings, model: Architecture, gpu: Gpu | None) -> bool | None:
    """Whether the prefill is captured; None where other settings decide it that are not followed here.

    Source: _handle_piecewise_cuda_graph in srt/server_args.py (0.5.10 line 1078), apply_cuda_graph_compatibility in
    srt/arg_groups/cuda_graph_hook.py (0.5.23 line 136).
    """
    if settings.prefill_graphs is not None:
        return settings.prefill_graphs
    if settings.pp > 1 or compressed(model) or settings.decode_context > 1:
        return False
    if gpu is not None and gpu.facts.get("vendor") != "nvidia":
        return False if not release.since("0.5.14") else None
    if not release.since("0.5.14"):
        busy = settings.speculation is not None or settings.replicas > 1 or settings.node != "null" or settings.offload > 0
        return not busy and model.vision is None and not settings.deepep
    if any(kind.kind == "kda" for kind in model.states):
        return False
    return None if model.vision is not None and settings.encoder else True


def running_requests(settings: Settings, model: Architecture) -> int | None:
    """--max-running-requests; 256 for DeepSeek V4 (srt/arg_groups/deepseek_v4_hook.py, 0.5.13 line 22, 0.5.23 line 142)."""
    if settings.requests is None and compressed(model):
        return 256
    return settings.requests


def strategy(release: Release, settings: Settings, model: Architecture) -> str:
    """--mamba-radix-cache-strategy as it runs: _mamba_radix_cache_resolution in srt/arg_groups/overrides.py (0.5.23 line
    454)."""
    if not settings.radix or settings.strategy != "auto":
        return settings.strategy if settings.radix else "no_buffer"
    if not release.since("0.5.14"):
        return "no_buffer"
    supported = any(kind.kind in _EXTRA_BUFFER_KINDS for kind in model.states)
    return "extra_buffer" if settings.overlap and supported else "no_buffer"


def radix_cache(release: Release, settings: Settings, model: Architecture) -> bool:
    """Hybrid models had none up to 0.5.3.post1, those with Mamba layers up to 0.5.6.post2 (srt/model_executor/model_runner.py,
    0.5.3 line 356, 0.5.6 line 448)."""
    if not model.states or not settings.radix:
        return settings.radix
    if not release.since("0.5.3.post2"):
        return False
    return release.since("0.5.7") or all(kind.kind in ("gdn", "kda") for kind in model.states)


def vision(settings: Settings, model: Architecture) -> tuple[int, int] | None:
    """Layers and width of the encoder by which the default fraction shrinks."""
    if model.vision is None or not settings.encoder or settings.node == "decode":
        return None
    return model.vision.layers or 24, model.vision.hidden or 1024


def default_settings(
    release: Release, settings: Settings, model: Architecture, gpu: Gpu, total_mib: float, captured: bool | None
) -> fraction.Defaults:
    """The fraction, chunk and batch of a launch that leaves them out."""
    speculation = settings.speculation
    asked = fraction.Asked(
        gpu_mib=total_mib,
        tp=settings.tp,
        pp=settings.pp,
        replicas=settings.replicas,
        nvidia=gpu.facts.get("vendor") == "nvidia",
        chunk=settings.chunk,
        prefill=settings.prefill,
        batch=settings.batch,
        requests=settings.requests,
        decode_graphs=settings.decode_graphs,
        prefill_graphs=captured is not False,
        algorithm=speculation.algorithm if speculation is not None else None,
        draft_tokens=speculation.tokens if speculation is not None else None,
        node=settings.node,
        mla=latent(model),
        vision=vision(settings, model),
        deepep=settings.deepep,
        max_total_tokens=settings.limit,
        context=settings.context,
    )
    return fraction.defaults(release, asked)


def draft_cells(
    release: Release, settings: Settings, model: Architecture, draft: Architecture | None, target: cells.Cells, form: str
) -> tuple[int, int] | None:
    """Bytes of a token in the draft's own KV cache, in layers that look at everything and in sliding ones; None if it is not
    known.

    Source: DefaultPoolConfigurator in srt/model_executor/pool_configurator.py (0.5.14 line 128, 0.5.18 line 158),
    dflash_utils.py in srt/speculative (0.5.16 line 58, 0.5.18 line 121): a draft of EAGLE's kind is priced as layers of the
    target.
    """
    speculation = settings.speculation
    if speculation is None or not speculation.loads_draft or speculation.algorithm == "FROZEN_KV_MTP":
        return 0, 0
    ranks = cells.Ranks(settings.tp // settings.replicas)
    if speculation.algorithm in BLOCKS or speculation.algorithm == "STANDALONE":
        if draft is None:
            return None
        own = cells.cells(release, draft, form, ranks)
        if speculation.algorithm in BLOCKS and release.since("0.5.18"):
            return own.every, 0
        layers = own.layers + own.sliding_layers
    else:
        layers = sum(kind.layers for kind in draft.attention) if draft is not None else max(1, model.mtp_layers)
    if target.layers == 0:
        return (target.sliding // max(1, target.sliding_layers) * layers), 0
    every = target.full - target.indexer
    size = every * layers // target.layers
    if target.indexer:
        size += target.indexer * layers // target.layers
    return size, 0


def states_asked(release: Release, settings: Settings, model: Architecture, requests: int | None) -> states.Asked:
    speculation = settings.speculation
    verified = speculation.tokens if speculation is not None and model.states else 0
    extra = states.extra_buffer_slots(
        release, strategy(release, settings, model), overlap=settings.overlap, drafts=speculation is not None
    )
    kept = not (settings.node == "prefill" and release.since("0.5.22"))
    return states.Asked(
        slots=settings.slots,
        requests=requests,
        replicas=settings.replicas,
        ratio=settings.state_share,
        radix=radix_cache(release, settings, model),
        extra=extra,
        drafts=verified,
        kept=kept,
    )
