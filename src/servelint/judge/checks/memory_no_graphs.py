"""A fraction that leaves less of the GPU than CUDA's context and CUDA graphs certainly take outside of it.

Source: Worker.determine_available_memory and compile_or_warm_up_model in vllm/v1/worker/gpu_worker.py, 0.10.0 to 0.33.0.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks import planned

_OPTION = "gpu-memory-utilization"
_SHARES = ("0.95", "0.92", "0.90", "0.85")


def check(config: Config) -> dict[str, str] | None:
    found = planned.plan(config)
    if found is None or found.verdict != "oom-risk" or found.gpu_gib is None or found.budget_gib is None:
        return None
    left, need = found.gpu_gib - found.budget_gib, sum(part.gib.low for part in found.parts if not part.inside)
    if left >= need:
        return None
    for share in _SHARES:
        other = planned.changed(config, (_OPTION, share))
        if other is not None and other.verdict == "fits" and other.kv_gib is not None:
            remedy = f"--{_OPTION} {share} leaves room, and {planned.gib(other.kv_gib.mid)} GiB for the KV cache"
            break
    else:
        remedy = "write 0.95 or less, or --enforce-eager"
    return {"where": planned.where(found), "left": f"{left:.2f}", "need": f"{need:.2f}", "remedy": remedy}
