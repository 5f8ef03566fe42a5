"""A KV cache of --kv-cache-memory-bytes beside which weights, activations and CUDA graphs certainly do not fit.

Source: Worker.determine_available_memory in vllm-0.33.0 vllm/v1/worker/gpu_worker.py: the number is taken as it is.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks import planned

_OPTION = "kv-cache-memory-bytes"


def check(config: Config) -> dict[str, str] | None:
    found = planned.plan(config)
    if found is None or found.verdict != "oom-risk" or found.gpu_gib is None or found.kv_gib is None:
        return None
    if config.operand(_OPTION).value is None:
        return None
    others = sum(part.gib.mid for part in found.parts if part.name != "kv cache")
    remedy = f"delete --{_OPTION}: {config.told or 'vLLM'} measures what is left"
    for size in range(int(min(found.kv_gib.mid, found.gpu_gib)), 0, -1):
        other = planned.changed(config, (_OPTION, str(size * 2**30)))
        if other is not None and other.verdict == "fits":
            remedy = f"--{_OPTION} {size * 2**30} ({size} GiB) fits"
            break
    return {
        "where": planned.where(found),
        "size": planned.gib(found.kv_gib.mid),
        "others": planned.gib(others),
        "gpu": planned.gib(found.gpu_gib),
        "remedy": remedy,
    }
