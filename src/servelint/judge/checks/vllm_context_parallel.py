"""What decode context parallelism asks of the tensor parallel size and of the model's heads.

Source: ParallelConfig in vllm-0.33.0 vllm/config/parallel.py:600 (the division, since the option came in 0.10.2) and
ModelConfig.verify_with_parallel_config in vllm-0.33.0 vllm/config/model.py:1580 (key and value heads; from 0.11.1, as an
assertion until 0.26.0). With prefill context parallelism the sizes are others from 0.26.0 on (vllm-0.33.0
vllm/config/parallel.py:602).
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    size, parts = whole(config, "tensor-parallel-size", 1), whole(config, "decode-context-parallel-size")
    prefill = whole(config, "prefill-context-parallel-size", 1)
    if size is None or parts is None or parts < 2 or prefill is None:
        return None
    if prefill > 1 and config.at_least("0.26.0"):
        fitting = parts in (prefill, size * prefill)
        return None if fitting else {"reason": f"with prefill context parallelism it is 1, {prefill} or {size * prefill}"}
    if size % parts:
        return {"reason": f"it must divide the tensor parallel size, which is {size}"}
    heads = whole(config, "model.kv-heads")
    if prefill > 1 or heads is None or config.operand("model.mla").value is not False or not config.at_least("0.11.1"):
        return None
    if size <= heads:
        return {"reason": f"the tensor parallel size ({size}) must be above the model's {heads} key-value heads"}
    if parts > size // heads:
        return {"reason": f"with a tensor parallel size of {size} and {heads} key-value heads {size // heads} is the most"}
    return None
