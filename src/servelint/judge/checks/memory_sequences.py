"""vLLM reserves memory to sample for every sequence of --max-num-seqs at once: with a large vocabulary that eats the KV cache.

Source: GPUModelRunner._dummy_sampler_run in vllm-0.33.0 vllm/v1/worker/gpu_model_runner.py; servelint.memory.vllm.budget.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks import planned

_FEW = "64"
_WORTH_GIB = 1.0
_WORTH_TIMES = 1.25


def check(config: Config) -> dict[str, str] | None:
    found = planned.plan(config)
    if found is None or found.kv_gib is None or found.kv_gib.mid <= 0:
        return None
    activations = found.part("activations")
    if activations is None or not activations.origin.startswith("the sampler"):
        return None
    other = planned.changed(config, ("max-num-seqs", _FEW))
    if other is None or other.kv_gib is None:
        return None
    smaller = other.part("activations")
    if smaller is None or smaller.gib.high >= activations.gib.low:
        return None
    freed = other.kv_gib.mid - found.kv_gib.mid
    if freed < _WORTH_GIB or other.kv_gib.mid < _WORTH_TIMES * found.kv_gib.mid:
        return None
    gain = planned.times(other.kv_gib.mid, found.kv_gib.mid)
    return {
        "where": planned.where(found),
        "reserve": planned.gib(activations.gib.mid),
        "left": planned.gib(found.kv_gib.mid),
        "remedy": f"--max-num-seqs {_FEW} frees {planned.gib(freed)} GiB: {gain} the KV cache",
    }
