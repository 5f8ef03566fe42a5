"""What vLLM takes of a GPU beside the KV cache: weights, the profiled run, adapters, CUDA graphs and CUDA's context.

Source: Worker.determine_available_memory in vllm/v1/worker/gpu_worker.py, memory_profiling in vllm/utils/mem_utils.py (to
0.11.0 vllm/utils/__init__.py), GPUModelRunner.profile_run and _dummy_sampler_run in vllm/v1/worker/gpu_model_runner.py, all in
0.10.0 to 0.33.0. No source says what the profiled kernels take: see fitted.py.
"""

from __future__ import annotations

from dataclasses import astuple, replace

from servelint.memory import ngrams
from servelint.memory.plan import GIB, Interval, Part
from servelint.memory.vllm import fitted
from servelint.memory.vllm.cache import drafting_layers
from servelint.memory.vllm.layers import is_head, reads_the_models_cache
from servelint.memory.vllm.settings import VllmSettings
from servelint.models.weights import Weights, quantized, weigh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture

_QWEN_PATCHES = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe", "qwen3_omni_moe")
_DEEPSTACK = ("qwen3_vl", "qwen3_omni_moe")
_LONGEST_VIDEO = 12288
"""Tokens of the longest video of Qwen3-VL's processor, whose longest_edge is 25,165,824 pixels."""
_MUSE, _MUSE_PICTURE, _MUSE_VIDEO = "muse_glimmer_vision", 4096, 48 * 144
"""Muse Glimmer's encoder, and the tokens of its largest picture and of its longest video, 96 frames in pairs (Transformers
5.24.0 models/muse_glimmer/; get_mm_max_tokens_per_item in vllm/model_executor/models/muse_glimmer.py)."""
COMPILING = "compiled for the first time with a copy of the embedding"
"""How the origin of a peak ends that a start with a compile cache does not have."""
_TRTLLM = ("qwen", "deepseek", "glm", "nemotron_h")
"""Models whose experts TensorRT-LLM's kernel computes in 16 bits."""
_SHARING = ("eagle", "eagle3", "dflash", "dspark")
"""Drafts that use the model's embedding and head (SpecDecodeBaseProposer.load_model in vllm/v1/spec_decode)."""


def weights_of(settings: VllmSettings, model: Architecture, draft: Architecture | None) -> Part | None:
    """The weights of the fullest GPU, those of drafts included.

    Experts are divided among the ranks of tensor, data and prefill context parallelism together
    (FusedMoEParallelConfig.make in vllm/model_executor/layers/fused_moe/config.py): whole experts with
    --enable-expert-parallel, parts of all without it.

    Returns:
        None if the requested quantization is not known.
    """
    own = drafting_layers(settings, model)
    drafting = replace(model, mtp_layers=own) if settings.method == "dspark" else model
    found = _weigh(settings, drafting, mtp=own > 0)
    if found is None:
        return None
    gib, origin = Interval(found.low, found.gib, found.high), found.parts[0].source if found.parts else "config.json"
    if model.ngrams is not None:
        on_host = _ngrams_on_host(settings)
        gib = gib + ngrams.correction(model, settings.tensor, on_gpu=not on_host, of_modelopt=settings.rules.since("0.30.0"))
        origin += "; the table of n-grams is in the host's memory" if on_host else ""
    if reads_the_models_cache(settings, model) and draft is None:
        gib, origin = gib + fitted.ASSISTANT, origin + "; Gemma 4's assistant"
    elif draft is None and settings.drafts and is_head(settings, model):
        gib = gib + _eagle_head(model, settings.tensor)
        origin += "; an EAGLE head, counted as one layer of the model"
    if draft is not None:
        added = _weigh(settings, draft, mtp=False, given="speculative-config.quantization")
        if added is None:
            return None
        shared = (added.embedding + added.head) / GIB if settings.method in _SHARING else 0.0
        gib = gib + Interval(added.low - shared, added.gib - shared, added.high - shared)
        origin += f"; the draft: {draft.name}"
    if settings.gpu.unified:
        gib = Interval(min(gib.low, gib.mid * (1 - fitted.WEIGHTS_UNIFIED)), gib.mid, gib.high)
    return Part("weights", gib, origin)


def _ngrams_on_host(settings: VllmSettings) -> bool:
    """Whether the table of embeddings of n-grams is not on the GPU (cpu_offload in vllm/config/engram.py, from 0.30.0).

    It is on the host by default. A variable of 0.30.0 turns that off (_default_cpu_offload).
    """
    offload = settings.config.operand("engram-config.cpu_offload").value
    if isinstance(offload, bool):
        return offload
    return settings.rules.since("0.30.0") and settings.config.operand("env.VLLM_PLE_CPU_OFFLOAD").value != "0"


def _eagle_head(model: Architecture, tensor: int) -> Interval:
    """GiB of an EAGLE head of one layer in bfloat16.

    It has attention, a feed-forward part of HEAD_WIDTH hidden sizes, a matrix that joins three hidden states, and logits of
    HEAD_VOCABULARY tokens.
    """
    width = model.hidden
    parameters = (4 + 3 * fitted.HEAD_WIDTH + 3) * width * width + fitted.HEAD_VOCABULARY * width
    return Interval(0.4, 1.0, 2.5).scaled(2 * parameters / tensor / GIB)


def _weigh(settings: VllmSettings, model: Architecture, mtp: bool, given: str = "quantization") -> Weights | None:
    """`given` is the operand that requests a quantization. A draft has its own (vllm/config/speculative.py)."""
    quantization = settings.config.operand(given).value
    dtype = settings.config.operand("dtype").value
    ranks = settings.tensor * settings.data * settings.prefill
    return weigh(
        model,
        engine="vllm",
        tensor=settings.tensor,
        pipeline=settings.pipeline,
        expert=ranks if settings.expert_parallel or ranks > settings.tensor else 1,
        quantization=quantization if isinstance(quantization, str) else None,
        dtype=dtype if isinstance(dtype, str) else None,
        mtp=mtp,
        vision=not settings.text_only,
        marlin=_marlin(settings),
        multiple=_multiple(settings, model),
    )


def _multiple(settings: VllmSettings, model: Architecture) -> int:
    """What the width of an expert in 16 bits is padded to: 128 for TensorRT-LLM's kernel on B200 and B300, from 0.24.0.

    Source: convert_to_unquantized_kernel_format and _get_priority_backends in
    vllm/model_executor/layers/fused_moe/oracle/unquantized.py; the kernel takes SiLU and squared ReLU
    (fused_moe/experts/trtllm_bf16_moe.py), the activations of the models in `_TRTLLM`.
    """
    backend = settings.config.operand("moe-backend").value
    if backend not in (None, "auto", "flashinfer_trtllm") or int(settings.gpu.capability or 0) != 10:
        return 1
    return 128 if settings.rules.since("0.24.0") and model.model_type.startswith(_TRTLLM) else 1


def _marlin(settings: VllmSettings) -> bool:
    """Whether the GPU has no FP8 of its own, so that Marlin multiplies with such weights.

    Source: can_implement of MarlinFP8ScaledMMLinearKernel in vllm/model_executor/kernels/linear/scaled_mm/marlin.py, and before
    Fp8LinearMethod in vllm/model_executor/layers/quantization/fp8.py.
    """
    gpu = settings.gpu
    forced = settings.config.operand("env.VLLM_TEST_FORCE_FP8_MARLIN").value in ("1", "true", "True", 1, True)
    return gpu.vendor == "nvidia" and (forced or (gpu.capability is not None and gpu.capability < 8.9))


def parts_inside(settings: VllmSettings, model: Architecture) -> list[Part]:
    """What is taken within the memory fraction beside weights and KV cache."""
    base = fitted.ZEROTH if settings.rules.zeroth else fitted.BASE
    if settings.tensor > 1 or settings.data > 1:
        node = fitted.TENSOR_NODE if settings.one_node else fitted.TENSOR
        base = base + (fitted.TENSOR_SWITCHED if _switched(settings) else node)
    if settings.rules.context_inside and not settings.rules.zeroth:
        base = base + fitted.CONTEXT
    found = [_profiled(settings, model), Part("buffers", base, "fitted: memory that PyTorch does not count")]
    if model.low_rank is not None or (model.indexer is not None and any(one.mla is not None for one in model.attention)):
        origin = "the buffer in which sparse attention gathers keys, and its indexer"
        found.append(Part("workspaces", workspaces_gib(settings, model), origin))
    if settings.second_runner and settings.rules.since("0.27.0"):
        origin = f"tokens counted for {settings.sequences:,} sequences"
        found.append(Part("token counts", Interval.exact(counts_gib(settings, model)), origin))
    if settings.adapters:
        origin = f"room for {settings.adapters} of rank {settings.rank} in every linear layer"
        found.append(Part("lora adapters", adapters_gib(settings, model), origin))
    if settings.gpu.unified:
        found.append(Part("shared with the host", fitted.UNIFIED, "fitted: unified memory includes the use of the host"))
    if settings.graphs_counted:
        origin = "fitted: the estimate that this release subtracts from the KV cache"
        found.append(Part("cuda graphs", graphs_gib(settings, model), origin))
    return found


def _switched(settings: VllmSettings) -> bool:
    """Whether ranks are joined by NVLink switches, and CUDA graphs are captured with them in the profiled run.

    Captures in that run came with 0.18.0 (profile_cudagraph_memory in vllm/v1/worker/gpu_model_runner.py). Logits are gathered
    by a second communicator of NCCL, which PyTorch makes then (DeviceCommunicatorBase.all_gather in
    vllm/distributed/device_communicators/base_device_communicator.py).
    """
    measured = settings.rules.since("0.18.0") and not settings.second_runner and settings.graphs and settings.tensor > 1
    return measured and int(settings.gpu.capability or 0) in (9, 10)


def workspaces_gib(settings: VllmSettings, model: Architecture) -> Interval:
    """GiB that sparse attention reserves in the profiled run, beside the activations of the layers.

    The indexer keeps keys of 40 requests of the longest length, from 0.13.0 (get_max_prefill_buffer_size in
    vllm/v1/attention/backends/mla/indexer.py), and from 0.19.0 as many MiB of logits as VLLM_SPARSE_INDEXER_MAX_LOGITS_MB
    allows (vllm/model_executor/layers/sparse_attn_indexer.py). DeepSeek V4 looks at a quarter of the length and gathers the
    keys of four prompts (vllm/models/deepseek_v4/nvidia/flashmla.py). What its other kernels take at once is not known: the
    published figures are for a later model, and several GiB higher.

    On AMD the profiled run reserves the logits of decoding for as many tokens as a batch has, from 0.23.0
    (vllm/v1/attention/ops/rocm_aiter_mla_sparse.py). DeepSeek V4 Pro took more than these on MI300X, at most as many as for the
    whole length (vLLM issue 53961).
    """
    length = settings.length or 0
    if settings.gpu.vendor == "amd" and settings.rules.since("0.23.0"):
        whole = settings.batched * length * 4 / GIB
        part = whole / 4 if model.low_rank is not None else whole
        return Interval(min(part, whole), part + 0.5, whole + 4.5)
    indexer = model.indexer.head_dim if model.indexer is not None else 0
    entry = indexer + indexer // 128 * 4
    if model.low_rank is not None:
        head = model.attention[0].head_dim
        gathered = max(4 * (length // 4 + settings.batched + 128) * head * 2, 10 * length * entry)
        return Interval(0.0, 0.5, 4.5) + Interval.exact(gathered / GIB)
    gathered = 40 * length * entry if settings.rules.since("0.13.0") else 0
    logits = 0.5 if settings.rules.since("0.19.0") else 0.0
    return Interval(0.0, logits, logits + 0.5) + Interval.exact(gathered / GIB)


def adapters_gib(settings: VllmSettings, model: Architecture) -> Interval:
    """GiB of the matrices that --enable-lora allocates before any adapter is loaded.

    Each linear layer has one of in x rank on every GPU, and one of rank x out that tensor parallelism divides
    (create_lora_weights in vllm/lora/layers).
    """
    width, inner, tensor = model.hidden, model.dense, settings.tensor
    each = 0
    for layer in model.attention:
        queries, keys = layer.heads * layer.head_dim, layer.kv_heads * layer.head_dim
        linear = [(width, queries), (width, keys), (width, keys), (queries, width)]
        linear += [(width, inner), (width, inner), (inner, width)]
        each += layer.layers * sum(before + after // tensor for before, after in linear)
    return Interval(0.8, 1.0, 1.3).scaled(each * settings.adapters * settings.rank * 2 / GIB)


def counts_gib(settings: VllmSettings, model: Architecture) -> float:
    """GiB in which the second model runner counts the tokens of every sequence, after the weights are loaded.

    Source: PenaltiesState in vllm/v1/worker/gpu/sample/penalties.py. From 0.27.0 the memory before the profiled run counts as
    a whole (total_consumed in vllm/utils/mem_utils.py), before only the weights.
    """
    return settings.sequences * model.vocab * fitted.COUNTS_BYTES / GIB


def warmed_gib(settings: VllmSettings, model: Architecture, profiled: Interval) -> Interval:
    """GiB that the second model runner's sampler needs when it warms up, beyond what the profiled run held.

    The warm-up asks for every kind of sampling (warmup_kernels in vllm/v1/worker/gpu/warmup.py), the profiled run for none.
    """
    rows = min(settings.sequences, settings.batched // (3 + settings.drafts))
    gathered = fitted.SORTED_GATHERED if settings.tensor > 1 else 0.0  # _gather_logits of logits_processor.py
    needed = (fitted.WARMED_BYTES + Interval.exact(gathered)).scaled(rows * model.vocab / GIB)
    if not settings.rules.since("0.27.0"):
        needed = needed + Interval.exact(counts_gib(settings, model))
    return Interval(needed.low - profiled.high, needed.mid - profiled.mid, needed.high - profiled.low).map(
        lambda gib: max(gib, 0.0)
    )


def parts_outside(settings: VllmSettings, model: Architecture, profiled: Interval, weights: float) -> list[Part]:
    """What is taken of the GPU beside the memory fraction, where the profiled run held some GiB, and the weights take some."""
    found = []
    if not settings.rules.context_inside:
        found.append(Part("cuda context", fitted.CONTEXT, "fitted: the driver's own", inside=False))
    if settings.graphs and not settings.graphs_counted:
        origin = "fitted: captured after the KV cache is allocated"
        found.append(Part("cuda graphs", _captured(settings, model, weights), origin, inside=False))
    if settings.second_runner:
        warmed = warmed_gib(settings, model, profiled)
        if warmed.mid > 0:
            origin = f"the sampler for {settings.sequences:,} sequences, when it warms up"
            found.append(Part("sampler", warmed, origin, inside=False))
    return found


def _captured(settings: VllmSettings, model: Architecture, weights: float) -> Interval:
    """GiB of captured CUDA graphs where nothing is reserved for them.

    Batches to 256 are captured in steps of 8, and larger ones in steps of 16, to 0.11.0 of 8 (vllm/config/vllm.py).
    """
    always, widest = fitted.GRAPHS_OUTSIDE if settings.tensor == 1 else fitted.GRAPHS_OUTSIDE_RANKS
    if weights <= fitted.SMALL:
        always, widest = fitted.GRAPHS_SMALL
    found = always + widest.scaled(min(settings.captured / 512, 1.0))
    if settings.tensor >= fitted.MANY_RANKS:
        step = 16 if settings.rules.since("0.11.1") else 8
        batches = 3 + min(settings.captured, 256) / 8 + max(settings.captured - 256, 0) / step
        found = Interval(found.low, found.mid, max(found.high, fitted.GRAPHS_A_LAYER * (model.layers + 1) * batches))
    return _perhaps(found, settings)


def graphs_gib(settings: VllmSettings, model: Architecture) -> Interval:
    """GiB of CUDA graphs as GPUModelRunner.profile_cudagraph_memory estimates them, from 0.18.0.

    The second model runner estimates nothing before 0.29.0 (vllm/v1/worker/gpu/model_runner.py). From there on it captures the
    two widest batches and counts the second for all that are narrower (_extrapolate_full_graph_memory in
    vllm/v1/worker/gpu/cudagraph_utils.py), which is more than they take where layers keep states.
    """
    widest = fitted.GRAPHS_STATES if model.states else fitted.GRAPHS_WIDEST
    if model.states and settings.second_runner and settings.rules.since("0.29.0"):
        widest = fitted.GRAPHS_STATES_EXTRAPOLATED[(settings.gpu.capability or 0.0) == 9.0]
    if model.low_rank is not None:
        widest = fitted.GRAPHS_COMPRESSED
    found = fitted.GRAPHS + widest.scaled(settings.captured / 512)
    if model.indexer is not None and model.low_rank is None and not model.states:
        found = fitted.GRAPHS_LATENT
    if settings.gpu.unified and settings.second_runner and settings.rules.since("0.29.0"):
        found = found + fitted.GRAPHS_EXTRAPOLATED_SHARED.scaled(settings.captured / 512)
    return _perhaps(found, settings)


def _perhaps(graphs: Interval, settings: VllmSettings) -> Interval:
    """The interval from nothing on where it is not known whether graphs are captured or estimated."""
    doubtful = settings.perhaps_eager or (settings.graphs_counted and settings.estimates_graphs is None)
    return Interval(0.0, graphs.mid, graphs.high) if doubtful else graphs


def _profiled(settings: VllmSettings, model: Architecture) -> Part:
    """The most that the profiled run holds at once.

    The encoder comes first. What it makes stays in its cache while the layers and then the sampler run
    (GPUModelRunner.profile_run). Buffers of experts stay from the first layer on, from 0.15.0
    (WorkspaceManager in vllm/v1/worker/workspace.py), and before they are free again after each layer.
    """
    kept = Interval.exact(encoded_gib(settings, model))
    buffers, experts = experts_gib(settings, model)
    stays = buffers if settings.rules.since("0.15.0") else Interval.exact(0.0)
    layers = layers_gib(settings, model)
    if experts.mid + buffers.mid > layers.mid + stays.mid:
        runs = [(kept + buffers + experts, f"experts for a batch of {settings.batched:,} tokens")]
    else:
        runs = [(kept + stays + layers, f"a batch of {settings.batched:,} tokens")]
    sampler = f"the sampler for {settings.sequences:,} sequences of {model.vocab:,} logits"
    hidden = Interval.exact(settings.batched * model.hidden * 2 / GIB)  # the batch's hidden states are still referenced
    runs.append((kept + stays + hidden + sampler_gib(settings, model), sampler))
    if settings.images and model.vision is not None:
        runs.append((encoder_gib(settings, model), "the encoder of the largest images"))
    if compiles_embedding(settings, model):
        runs.append((compiling_gib(settings, model), f"a batch of {settings.batched:,} tokens, {COMPILING}"))
    largest = max(runs, key=lambda run: run[0].mid)
    gib = Interval(max(run.low for run, _ in runs), largest[0].mid, max(run.high for run, _ in runs))
    return Part("activations", gib, largest[1])


def compiles_embedding(settings: VllmSettings, model: Architecture) -> bool:
    """Whether the graph that torch.compile gets in the profiled run looks tokens up in the embedding, and that run counts.

    Models with an encoder look them up beforehand (GPUModelRunner._preprocess in vllm/v1/worker/gpu_model_runner.py). A KV
    cache whose size is given is allocated after the run, when the copy is freed.
    """
    encodes = model.vision is not None or model.architecture.endswith("ForConditionalGeneration")
    counts = settings.kv_bytes is None and settings.rules.since("0.11.1") and settings.compiled
    return counts and (settings.text_only or not encodes)


def compiling_gib(settings: VllmSettings, model: Architecture) -> Interval:
    """GiB that a start without a compile cache holds at most while it compiles, nothing for one with a cache.

    From 0.11.1 vLLM lets Inductor measure combined kernels (benchmark_combo_kernel in vllm/config/compilation.py), which fills
    a tensor of its size for every argument (get_args in codegen_kernel_benchmark, torch/_inductor/codegen/
    triton_combo_kernel.py): the embedding, and hidden states. This happens in the profiled run, and its peak counts as
    activations (vLLM issues 54122 and 54383, open pull requests 54209 and 54479). Results stay on disk for a restart.
    """
    embedding = model.vocab * model.hidden * 2 / settings.tensor
    states = 2 * settings.batched * model.hidden * 2
    return Interval(0.0, embedding + states, embedding + 2 * states).scaled(1 / GIB)


def layers_gib(settings: VllmSettings, model: Architecture) -> Interval:
    """GiB of activations of a batch of --max-num-batched-tokens tokens, outside of experts.

    They are the residual stream (several in DeepSeek V4), and the share of the widest inner layer on one GPU.
    """
    inner = float(model.dense if model.experts is None or "dense" in model.feeds else model.experts.shared)
    mixing = max((2 * one.key_heads * one.key_dim + 2 * one.value_heads * one.value_dim for one in model.states), default=0)
    if settings.rules.zeroth:
        each = fitted.FORWARD_EAGER * (model.hidden + inner / settings.tensor)
        return Interval.around(settings.batched * each / GIB, fitted.SAMPLER_SPREAD)
    streams = model.low_rank.streams if model.low_rank is not None else 1
    of_hidden = fitted.FORWARD_MIXED if model.states or model.low_rank is not None else fitted.FORWARD_HIDDEN
    each = of_hidden * streams * model.hidden + fitted.FORWARD_INNER * max(inner, mixing) / settings.tensor
    return Interval.around(settings.batched * each / GIB, fitted.FORWARD_SPREAD)


def experts_gib(settings: VllmSettings, model: Architecture) -> tuple[Interval, Interval]:
    """GiB of the buffers of experts for a batch, and of what else is held while they run; nothing without experts.

    Every token has a row for each of its experts. The hidden size of a row is whole on every GPU. With data parallelism each
    rank runs the tokens of all, and holds them and what comes out (do_naive_dispatch_combine in
    vllm/model_executor/layers/fused_moe/layer.py), unless --all2all-backend names one that exchanges them in another way.
    Sources: workspace_shapes of TritonExperts, MarlinExperts, DeepGemmExperts and CutlassExpertsFp4 in
    vllm/model_executor/layers/fused_moe (0.19.1), and fused_experts_impl before 0.15.0; run_cutlass_moe_fp4 keeps three copies
    of the rows beside its buffers. Batches are cut to VLLM_FUSED_MOE_CHUNK_SIZE tokens up to 0.17.1, 32,768 before 0.12.0 and
    then 16,384 (vllm/envs.py). FlashInfer's kernels for NVFP4 hold a row in four bits and the outputs of the first matrix, and
    of the second if they are not added up at once (getWorkspaceDeviceBufferSizes in its csrc/fused_moe/cutlass_backend).
    """
    experts, rules = model.experts, settings.rules
    if experts is None:
        return Interval.exact(0.0), Interval.exact(0.0)
    gathered = settings.batched * (settings.data if _gathers(settings) else 1)
    tokens = gathered
    if not rules.since("0.18.0"):
        tokens = min(tokens, 16384 if rules.since("0.12.0") else 32768)
    rows, width = tokens * experts.per_token, experts.latent or model.hidden
    inner = experts.intermediate // (1 if settings.expert_parallel else settings.tensor)
    gated = (2 if experts.gated else 1) * inner
    scheme, beside = _scheme(settings, model), 0.0
    one = 2 * (max(gated, width) + inner)
    both = 2 * (max(gated, width) + max(inner, width))
    least, each = (both, both) if rules.since("0.15.0") else (one, one)
    capability = settings.gpu.capability or 0.0
    most = 0.0
    if scheme == "nvfp4" and capability >= 10:
        least = each = max(width, inner) // 2 + 2 * gated
        most = each + 2 * width
        if settings.config.operand("moe-backend").value in ("cutlass", "vllm_cutlass"):
            each, beside = one, 3.0 * 2 * width
    elif scheme == "fp8-block" and capability in (9.0, 10.0, 10.3) and rules.since("0.11.0"):
        local = experts.count // (settings.tensor * settings.data if settings.expert_parallel else 1)
        each = int(both * (rows + 128 * local) / rows + width)
    stream = settings.batched * fitted.FORWARD_EXPERTS * model.hidden
    if gathered > settings.batched:
        stream += 2 * gathered * 2 * width
    buffers = Interval(rows * min(least, each), rows * each, rows * max(most, each * (1 + fitted.FORWARD_SPREAD)))
    held = Interval.around(stream + rows * beside, fitted.FORWARD_SPREAD)
    if beside:
        held = Interval(held.low, held.mid, 2 * held.mid)
    return buffers.scaled(1 / GIB), held.scaled(1 / GIB)


def _gathers(settings: VllmSettings) -> bool:
    """Whether the experts of a rank of data parallelism run on the tokens of all ranks, gathered beforehand."""
    named = settings.config.operand("all2all-backend").value or settings.config.operand("env.VLLM_ALL2ALL_BACKEND").value
    return settings.data > 1 and named in (None, "naive", "allgather_reducescatter")


def _scheme(settings: VllmSettings, model: Architecture) -> str:
    """How the experts are held: the format of what no list of the checkpoint names."""
    given = settings.config.operand("quantization").value
    way = quantized(model, given if isinstance(given, str) else None)
    return way.formats[-1].scheme if way is not None else model.quantization.scheme


def sampler_gib(settings: VllmSettings, model: Architecture) -> Interval:
    """GiB that sampling one token for every sequence takes.

    It depends on whether the vocabulary is sorted (vllm/v1/sample/ops/topk_topp_sampler.py): not with
    VLLM_USE_FLASHINFER_SAMPLER; without it up to 0.11.0 not where FlashInfer is installed, from 0.11.1 to 0.16.0 always, from
    0.17.0 for fewer than 8 sequences. Where it is not known the interval spans both. Since 0.17.0 vLLM's own sampler is one of
    those that the profiled run calls: by default to 0.20.2, from 0.21.0 with one seeded request, which FlashInfer's cannot take
    (GPUModelRunner._dummy_sampler_run). The second model runner samples from its dummy requests without any processing of
    logits (vllm/v1/worker/gpu/sample/sampler.py). With drafts the first runs the rejection sampler as well.
    """
    rules = settings.rules
    rows = min(settings.sequences, settings.batched)
    gathered = fitted.SORTED_GATHERED if settings.tensor > 1 else 0.0
    logits = rows * model.vocab / GIB
    rejects = _rejected_bytes(settings)
    sorts = logits * (fitted.SORTED_BYTES + gathered + rejects)
    masks, draws = logits * (fitted.MASKED_BYTES + rejects), logits * (fitted.DRAWN_BYTES + rejects)
    least = masks * (1 - fitted.SAMPLER_SPREAD)
    picks = fitted.PICKED_BYTES.scaled(logits)
    second = settings.second_runner
    if second:
        return picks
    given = settings.config.operand("env.VLLM_USE_FLASHINFER_SAMPLER").value
    if rules.since("0.21.0") or (rules.since("0.17.0") and given != "1"):
        likely, most = draws, draws * (1 + fitted.SAMPLER_SPREAD)
        return Interval(picks.low if second is None else least, likely, most)
    if given == "1":
        return Interval.around(masks, fitted.SAMPLER_SPREAD)
    if rules.since("0.11.1") or given == "0":
        return Interval.around(sorts, fitted.SAMPLER_SPREAD)
    either = sorts if rows > 512 else (sorts + masks) / 2
    return Interval(least, either, sorts * (1 + fitted.SAMPLER_SPREAD))


def _rejected_bytes(settings: VllmSettings) -> float:
    """Bytes per logit that the rejection sampler holds beside what sampling takes, with one draft for each sequence.

    Since 0.11.1 it keeps the logits of drafts and of bonus tokens, both in two dtypes, for the sake of log probabilities; since
    0.14.0 it also copies those of drafts, and since 0.17.0 it inverts its random numbers (RejectionSampler.forward and
    sample_recovered_tokens in vllm/v1/sample/rejection_sampler.py).
    """
    if not settings.drafts or not settings.rules.since("0.11.1"):
        return 0.0
    copied = 4.0 if settings.rules.since("0.14.0") else 0.0
    return 8.0 + copied + (4.0 if settings.rules.since("0.17.0") else 0.0)


def encoder_gib(settings: VllmSettings, model: Architecture) -> Interval:
    """GiB of activations of the image encoder, for as many of the largest pictures as a batch holds, at least one.

    With --mm-encoder-tp-mode data each rank encodes whole pictures.
    """
    vision = model.vision
    if vision is None:
        return Interval.exact(0.0)
    patches = _encoded(settings, model)[0] * vision.merge * vision.merge
    whole, divided = fitted.VISION_BYTES, fitted.VISION_DIVIDED
    gone = 0.0 if settings.config.operand("mm-encoder-tp-mode").value == "data" else 1 - 1 / settings.tensor
    each = Interval(*(before - gone * part for before, part in zip(astuple(whole), astuple(divided), strict=True)))
    return each.scaled(patches * vision.hidden / GIB)


def encoded_gib(settings: VllmSettings, model: Architecture) -> float:
    """GiB of what the encoder makes of a batch of images, in two bytes an element.

    Qwen3-VL adds three more hidden states to each token (deepstack in vllm/model_executor/models/qwen3_vl.py).
    """
    if not settings.images or model.vision is None:
        return 0.0
    states = 4 if _kind_in(model, _DEEPSTACK) else 1
    return _encoded(settings, model)[1] * states * model.hidden * 2 / GIB


def _encoded(settings: VllmSettings, model: Architecture) -> tuple[int, int]:
    """Tokens that the encoder computes in the profiled run, and tokens that its cache has room for afterwards.

    Before 0.13.0 the room is widened to the budget of the encoder (profile_run, to 0.11.2 the whole budget, in 0.12.0 that of
    an item). For Qwen3-VL this budget has 12.5 tokens for each one of the longest video (get_max_video_tokens in
    vllm/model_executor/models/qwen3_vl.py): "a budget of 153600 tokens, and profiled with 1 video items".
    """
    video = settings.config.operand("limit-mm-per-prompt.video").value != 0
    if _kind_in(model, (_MUSE,)):
        item = _MUSE_VIDEO if video else _MUSE_PICTURE
        tokens = max(settings.batched // item, 1) * item
        return tokens, tokens
    if not _kind_in(model, _QWEN_PATCHES):
        return settings.batched, settings.batched
    if _kind_in(model, _DEEPSTACK) and video and not settings.rules.since("0.13.0"):
        tokens = min(_LONGEST_VIDEO, settings.length or _LONGEST_VIDEO)
        return tokens, max(int(12.5 * tokens), settings.batched)
    tokens = max(settings.batched // fitted.VISION_TOKENS, 1) * fitted.VISION_TOKENS
    return tokens, tokens


def _kind_in(model: Architecture, kinds: tuple[str, ...]) -> bool:
    vision = model.vision
    return vision is not None and any(kind in f"{model.model_type} {vision.kind}" for kind in kinds)
