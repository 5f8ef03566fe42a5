"""Tensor parallelism shares the key-value heads evenly, or copies each to the same number of GPUs.

Source: LlamaAttention and its kin assert it when the layers are built, as QKVParallelLinear does (vllm-0.33.0
vllm/model_executor/models/llama.py, vllm/model_executor/layers/linear.py; sglang-0.5.23 srt/models/llama.py).
"""

from __future__ import annotations

from servelint.engines import ENGINES
from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    heads, size = whole(config, "model.kv-heads"), whole(config, ENGINES[config.launch.engine].tensor_parallel_operand)
    every = whole(config, "model.heads")
    if heads is None or size is None or every is None or size < 1 or config.operand("model.mla").value is not False:
        return None
    if every % size:
        return None  # another rule's
    if (heads % size if heads >= size else size % heads) == 0:
        return None
    fits = [
        one
        for one in range(1, min(size, every + 1))
        if every % one == 0 and (heads % one if heads >= one else one % heads) == 0
    ]
    return {"heads": str(heads), "largest": str(fits[-1])}
