"""What vLLM takes of a GPU before it gives the rest to the KV cache: the run that it profiles, and what lies around it.

Source: Worker.determine_available_memory in vllm/v1/worker/gpu_worker.py, memory_profiling in vllm/utils/mem_utils.py (to
0.11.0 vllm/utils/__init__.py), GPUModelRunner.profile_run and _dummy_sampler_run in vllm/v1/worker/gpu_model_runner.py, all in
0.10.0 to 0.33.0. What the profiled kernels take is not written anywhere: see fitted.py.
"""

from __future__ import annotations

from servelint.memory.plan import GIB, Interval, Part
from servelint.memory.vllm import fitted
from servelint.memory.vllm.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture

_QWEN_PATCHES = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe", "qwen3_omni_moe")


def parts(settings: Settings, model: Architecture) -> list[Part]:
    """What lies within the memory fraction beside weights and KV cache."""
    base = fitted.BASE
    if settings.tensor > 1 or settings.data > 1:
        base = base + fitted.TENSOR
    found = [_profiled(settings, model), Part("buffers", base, "fitted: what torch does not account for")]
    if model.low_rank is not None or (model.indexer is not None and any(one.mla is not None for one in model.attention)):
        found.append(Part("workspaces", workspaces(settings, model), "what sparse attention gathers keys in, and its indexer"))
    if settings.adapters:
        origin = f"room for {settings.adapters} of rank {settings.rank} in every linear layer"
        found.append(Part("lora adapters", adapters(settings, model), origin))
    if settings.gpu.unified:
        found.append(Part("shared with the host", fitted.UNIFIED, "fitted: unified memory shows the host's use too"))
    if settings.graphs_counted:
        found.append(
            Part("cuda graphs", graphs(settings, model), "fitted: the estimate that this release takes off the KV cache")
        )
    return found


def workspaces(settings: Settings, model: Architecture) -> Interval:
    """GiB that sparse attention reserves in the profiled run, beside the layers' activations.

    Keys of 40 requests of the longest length for its indexer, from 0.13.0 (get_max_prefill_buffer_size in vllm/v1/attention/
    backends/mla/indexer.py), and from 0.19.0 as many MiB of logits as VLLM_SPARSE_INDEXER_MAX_LOGITS_MB allows
    (vllm/model_executor/layers/sparse_attn_indexer.py). DeepSeek V4 looks at a quarter of the length, and gathers the keys of
    four prompts (vllm/models/deepseek_v4/nvidia/flashmla.py); what its other kernels take at once is not known: the published
    figures are for a later model, and several GiB higher.
    """
    length = settings.length or 0
    indexer = model.indexer.head_dim if model.indexer is not None else 0
    entry = indexer + indexer // 128 * 4
    if model.low_rank is not None:
        head = model.attention[0].head_dim
        gathered = max(4 * (length // 4 + settings.batched + 128) * head * 2, 10 * length * entry)
        return Interval(0.0, 0.5, 4.5) + Interval.exact(gathered / GIB)
    gathered = 40 * length * entry if settings.rules.since("0.13.0") else 0
    logits = 0.5 if settings.rules.since("0.19.0") else 0.0
    return Interval(0.0, logits, logits + 0.5) + Interval.exact(gathered / GIB)


def adapters(settings: Settings, model: Architecture) -> Interval:
    """GiB of the matrices that --enable-lora allocates before any adapter is loaded: for each linear layer one of in x rank on
    every GPU, and one of rank x out that tensor parallelism divides (create_lora_weights in vllm/lora/layers)."""
    width, inner, tensor = model.hidden, model.dense, settings.tensor
    each = 0
    for layer in model.attention:
        queries, keys = layer.heads * layer.head_dim, layer.kv_heads * layer.head_dim
        linear = [(width, queries), (width, keys), (width, keys), (queries, width)]
        linear += [(width, inner), (width, inner), (inner, width)]
        each += layer.layers * sum(before + after // tensor for before, after in linear)
    return Interval(0.8, 1.0, 1.3).scaled(each * settings.adapters * settings.rank * 2 / GIB)


def outside(settings: Settings) -> list[Part]:
    """What is taken of the GPU beside the memory fraction."""
    found = [Part("cuda context", fitted.CONTEXT, "fitted: the driver's own", inside=False)]
    if settings.graphs and not settings.graphs_counted:
        found.append(
            Part(
                "cuda graphs",
                _captured(settings),
                "fitted: captured after the KV cache is allocated",
                inside=False,
            )
        )
    return found


def _captured(settings: Settings) -> Interval:
    """GiB of CUDA graphs as they are captured where nothing was kept for them."""
    found = fitted.GRAPHS_OUTSIDE if settings.tensor == 1 else fitted.GRAPHS_OUTSIDE_RANKS
    least = found.low if settings.captured >= 512 else found.low * settings.captured / 512
    return _perhaps(Interval(least, found.mid, found.high), settings)


def graphs(settings: Settings, model: Architecture) -> Interval:
    """GiB of CUDA graphs as GPUModelRunner.profile_cudagraph_memory estimates them, from 0.18.0."""
    found = fitted.GRAPHS + fitted.GRAPHS_WIDEST.scaled(settings.captured / 512)
    if model.indexer is not None:
        found = fitted.GRAPHS_LATENT
    return _perhaps(found, settings)


def _perhaps(graphs: Interval, settings: Settings) -> Interval:
    """None at all, where nobody knows whether they are captured."""
    return Interval(0.0, graphs.mid, graphs.high) if settings.perhaps_eager else graphs


def _profiled(settings: Settings, model: Architecture) -> Part:
    """The largest of what the profiled run holds at once: the encoder, then the layers, then the sampler."""
    runs = [
        (forward(settings, model), f"a batch of {settings.batched:,} tokens"),
        (sampler(settings, model), f"the sampler for {settings.sequences:,} sequences of {model.vocab:,} logits"),
    ]
    if settings.images and model.vision is not None:
        runs.append((encoder(settings, model), "the encoder of the largest pictures"))
    largest = max(runs, key=lambda run: run[0].mid)
    gib = Interval(max(run.low for run, _ in runs), largest[0].mid, max(run.high for run, _ in runs))
    return Part("activations", gib, largest[1])


def forward(settings: Settings, model: Architecture) -> Interval:
    """GiB of activations of --max-num-batched-tokens tokens: the residual stream (of DeepSeek V4 several), and the widest inner
    layer's share of a GPU."""
    inner = float(model.dense)
    if model.experts is not None:
        experts = model.experts
        inner = max(experts.per_token * experts.intermediate + experts.shared, inner if inner and "dense" in model.feeds else 0)
    mixing = max((2 * one.key_heads * one.key_dim + 2 * one.value_heads * one.value_dim for one in model.states), default=0)
    streams = model.low_rank.streams if model.low_rank is not None else 1
    each = fitted.FORWARD_HIDDEN * streams * model.hidden + fitted.FORWARD_INNER * max(inner, mixing) / settings.tensor
    return Interval.around(settings.batched * each / GIB, fitted.FORWARD_SPREAD)


def sampler(settings: Settings, model: Architecture) -> Interval:
    """GiB of sampling a token for every sequence.

    Whether the vocabulary is sorted: with VLLM_USE_FLASHINFER_SAMPLER not; without it up to 0.11.0 not where FlashInfer is
    installed, from 0.11.1 to 0.16.0 always, from 0.17.0 for fewer than 8 sequences (vllm/v1/sample/ops/topk_topp_sampler.py).
    Where nobody knows which it is, both ends are kept.
    """
    rules = settings.rules
    rows = min(settings.sequences, settings.batched)
    gathered = fitted.SORTED_GATHERED if settings.tensor > 1 else 0.0
    sorts = rows * model.vocab * (fitted.SORTED_BYTES + gathered) / GIB
    masks = rows * model.vocab * fitted.MASKED_BYTES / GIB
    given = settings.config.operand("env.VLLM_USE_FLASHINFER_SAMPLER").value
    if rules.since("0.17.0") or given == "1":
        return Interval.around(masks, fitted.SAMPLER_SPREAD)
    if rules.since("0.11.1") or given == "0":
        return Interval.around(sorts, fitted.SAMPLER_SPREAD)
    either = sorts if rows > 512 else masks
    return Interval(masks * (1 - fitted.SAMPLER_SPREAD), either, sorts * (1 + fitted.SAMPLER_SPREAD))


def encoder(settings: Settings, model: Architecture) -> Interval:
    """GiB of activations of the encoder, for as many of the largest pictures as a batch holds, at least one."""
    vision = model.vision
    if vision is None:
        return Interval.exact(0.0)
    tokens = settings.batched
    if any(kind in f"{model.model_type} {vision.kind}" for kind in _QWEN_PATCHES):
        tokens = max(tokens // fitted.VISION_TOKENS, 1) * fitted.VISION_TOKENS
    patches = tokens * vision.merge * vision.merge
    each = fitted.VISION_UNIFIED if settings.gpu.unified else fitted.VISION_BYTES
    return each.scaled(patches * vision.hidden / GIB)
