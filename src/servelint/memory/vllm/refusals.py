"""What a release of vLLM prints when it refuses to start for want of memory.

Source: _check_enough_kv_cache_memory in vllm/v1/core/kv_cache_utils.py (from 0.33.0 kv_cache_planning.py; to 0.13.0
check_enough_kv_cache_memory), request_memory in vllm/v1/worker/utils.py (to 0.12.0 in vllm/v1/worker/gpu_worker.py).
"""

from __future__ import annotations

from servelint.memory.plan import GIB
from servelint.memory.vllm.rules import Rules

_DOCS = " See https://docs.vllm.ai/en/latest/configuration/conserving_memory/ for more details."


OUT_OF_MEMORY = "torch.OutOfMemoryError: CUDA out of memory."
"""PyTorch's, as it begins, where the weights themselves do not fit: vLLM's own checks come after loading."""


def no_memory(rules: Rules) -> str:
    """Nothing is left for the KV cache."""
    text = "No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine"
    if rules.since("0.22.0"):
        text += " (this flag also controls CPU memory reservation on the CPU backend, despite its name)"
    return text + "." + (_DOCS if rules.since("0.13.0") else "")


def too_long(rules: Rules, length: int, need: int, available: int, longest: int) -> str:
    """One request of max_model_len takes more than there is. need, available: bytes; longest: the length that fits, 0 if
    none
    """
    late = rules.since("0.22.0")
    hint = f"Based on the available memory, the estimated maximum model length is {longest}. " if longest else ""
    fraction = "`gpu_memory_utilization`" + (" (which also controls CPU memory on the CPU backend)" if late else "")
    return (
        f"To serve at least one request with the {'model' if late else 'models'}'s max seq len ({length}), "
        f"({need / GIB:.2f} GiB KV cache is needed, which is larger than the available KV cache memory "
        f"({available / GIB:.2f} GiB). {hint}Try increasing {fraction} or decreasing `max_model_len` "
        "when initializing the engine." + (_DOCS if rules.since("0.13.0") else "")
    )


def not_free(free: float, total: float, fraction: float) -> str:
    """The GPU has less free memory at the start than the fraction asks for. free, total: GiB"""
    return (
        f"Free memory on device cuda:0 ({free:.2f}/{total:.2f} GiB) on startup is less than desired GPU memory utilization "
        f"({fraction}, {total * fraction:.2f} GiB). Decrease GPU memory utilization or reduce GPU memory used by "
        "other processes."
    )
