"""TensorRT-LLM's memory plan, for the PyTorch backend from 1.0.0 on.

Source: KvCacheCreator in tensorrt_llm/_torch/pyexecutor/_util.py (1.0.0 to 1.3.0rc3). It loads the weights, runs one batch to
see what activations take, and gives a fraction of what is then free to the KV cache: free_gpu_memory_fraction, 0.9 where it is
not given. max_tokens bounds the cache. What the batch takes is not stated anywhere, and few logs are published, so that the
interval is wide and only weights that do not fit refuse a start.
"""

from __future__ import annotations

from servelint.memory.plan import FITS, GIB, REFUSED, TIGHT, Interval, MemoryPlan, Part, near
from servelint.memory.vllm import fitted
from servelint.memory.vllm.settings import CudaGpu
from servelint.models import folder
from servelint.models.weights import weigh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.config import Config
    from servelint.models.architecture import Architecture, Attention

CHANGES = ("1.0.0",)
"""Releases that changed the arithmetic. That of the earlier TensorRT engines is not known."""
_FRACTION = 0.9
_TAKEN = Interval(0.2, 1.7, 7.0)
"""GiB of activations, workspaces and captured graphs. Fitted on one log: Qwen3-Reranker-0.6B on an H100 left 68.69 GiB."""
_TAKEN_WITH_EXPERTS = Interval(0.2, 5.0, 14.0)
"""The same with experts. Fitted on one log more: Kimi-K2.5-NVFP4 on 8 B300 left 166.02 GiB, with 12 GiB taken."""
_DTYPES = {"auto": 2.0, "float16": 2.0, "bfloat16": 2.0, "fp8": 1.0, "nvfp4": 0.5625}
_KEYS = "config.kv_cache_config."


def plan(config: Config) -> MemoryPlan:
    """Plan a launch under one release. What is not known stands in `missing`, and the verdict is then "unknown"."""
    name = config.text("model")
    found = MemoryPlan("trtllm", config.release, name, config.gpu_name, 1)
    if config.at_least(CHANGES[0]) is not True:
        found.missing.append(f"the arithmetic of releases before {CHANGES[0]}")
        return found
    gpu, missing = CudaGpu(config), found.missing
    found.gpu_gib = gpu.gib
    if gpu.gib is None:
        missing.append("the GPU's memory" if gpu.name else "the GPU")
    tensor, pipeline = (_whole(config, missing, f"{one}-parallel-size") or 1 for one in ("tensor", "pipeline"))
    experts = _whole(config, missing, "moe-expert-parallel-size") or 1
    if _whole(config, missing, "context-parallel-size") not in (None, 1):
        missing.append("how --cp_size divides the cache")
    found.gpu_count = found.ranks = tensor * pipeline
    if config.text("backend") in ("tensorrt", "trt", "_autodeploy"):
        missing.append(f"the arithmetic of the backend {config.text('backend')}")
    for key in ("config.speculative_config", "config.lora_config", "config.quant_config"):
        if config.operand(key).present is not False:
            missing.append(f"the memory of {key.removeprefix('config.')}")
    model = folder.model_of(config.launch, name)
    if model is None:
        missing.append(f"the architecture of {name}" if name else "the model")
        return found
    element = _element(config, missing, model)
    asked = _whole(config, missing, "max-seq-len") or _whole(config, missing, "config.max_seq_len")
    found.max_model_len = asked or model.context
    if any(one.kind not in ("full", "mla") for one in model.attention) or model.states or model.indexer is not None:
        missing.append(f"the cache of {model.architecture} in TensorRT-LLM")
        return found
    weighed = weigh(model, tensor=tensor, pipeline=pipeline, expert=experts) if pipeline <= model.layers else None
    if weighed is None:
        missing.append("the size of the weights")
        return found
    found.weights_gib = weighed.gib
    weights = Part(
        "weights", Interval(weighed.low, weighed.gib, weighed.high), model.sources[0] if model.sources else name or ""
    )
    layers = -(-model.layers // pipeline)
    token = sum(_elements(one, tensor) for one in model.attention) * element * layers
    found.need_gib = token * found.max_model_len / GIB if found.max_model_len else None
    context = Part("context", fitted.TAKEN_UNIFIED if gpu.unified else fitted.CONTEXT, "fitted: CUDA's own", inside=False)
    taken = Part(
        "activations", _TAKEN_WITH_EXPERTS if model.experts else _TAKEN, "fitted: one batch of --max_num_tokens, and workspaces"
    )
    found.parts = [weights, taken, context]
    if gpu.gib is not None and not missing:
        _divide(config, found, gpu.gib, token)
    return found


def _elements(layer: Attention, tensor: int) -> int:
    """Elements of one token in one layer on one GPU. A latent cache is whole on each GPU, with no values of its own."""
    if layer.mla is not None:
        return layer.mla.cached
    return max(1, -(-layer.kv_heads // tensor)) * (layer.head_dim + layer.value_dim)


def _divide(config: Config, found: MemoryPlan, total: float, token: float) -> None:
    """Fill in the KV cache and the verdict."""
    share = _fraction(config, found.missing)
    most = _whole(config, found.missing, _KEYS + "max_tokens")
    if config.operand(_KEYS + "max_gpu_total_bytes").present is not False:
        found.missing.append("kv_cache_config.max_gpu_total_bytes")
    if found.missing:
        return
    left = Interval.exact(total).less(part.gib for part in found.parts).scaled(share)
    if most is not None:
        left = left.map(lambda gib: min(gib, most * token / GIB))
    found.kv_gib = left
    found.parts.append(
        Part("kv cache", left.map(lambda gib: max(gib, 0.0)), f"{share:g} of what is free (free_gpu_memory_fraction)")
    )
    found.kv_tokens = max(0, int(left.mid * GIB / token))
    if found.max_model_len:
        found.max_concurrency = found.kv_tokens / found.max_model_len
    if found.parts[0].gib.low > total:
        found.verdict, found.refusal = REFUSED, "torch.OutOfMemoryError: CUDA out of memory"
        found.reason = f"its weights take at least {found.parts[0].gib.low:.1f} GiB of a GPU of {total:.1f} GiB"
        found.remedy = "raise --tp_size, use larger GPUs, or weights in fewer bits"
    elif found.need_gib is not None and left.low > max(found.need_gib, near(total)):
        found.verdict = FITS
    else:
        found.verdict = TIGHT


def _fraction(config: Config, missing: list[str]) -> float:
    """The fraction of the file, else that of the command: the file's keys replace the command's (trtllm-serve)."""
    for name in (_KEYS + "free_gpu_memory_fraction", "free-gpu-memory-fraction"):
        operand = config.operand(name)
        if isinstance(operand.value, (int, float)) and not isinstance(operand.value, bool):
            return float(operand.value)
        if operand.present is not False:
            missing.append(name)
    return _FRACTION


def _element(config: Config, missing: list[str], model: Architecture) -> float:
    """Bytes of an element of the cache: the file's keys replace the command's."""
    names = (_KEYS + "dtype", "kv-cache-dtype")
    given = next((name for name in names if config.operand(name).present is not False), None)
    text = "auto" if given is None else str(config.operand(given).value)
    if text not in _DTYPES:
        missing.append(str(given).removeprefix("config."))
    if text == "auto" and model.quantization.kv_cache == "fp8":
        return 1.0
    return _DTYPES.get(text, 2.0)


def _whole(config: Config, missing: list[str], name: str) -> int | None:
    operand = config.operand(name)
    if isinstance(operand.value, int) and not isinstance(operand.value, bool):
        return operand.value
    if operand.present is not False:
        missing.append(name if name.startswith("config.") else f"--{name.replace('-', '_')}")
    return None
