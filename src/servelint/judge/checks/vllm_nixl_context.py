"""NIXL moves a KV cache that each rank holds whole, or that all ranks of one axis share.

Source: VllmConfig.__post_init__ in vllm-0.33.0 vllm/config/vllm.py:1576-1590, vllm-0.29.0 vllm/config/vllm.py:1151-1164.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    parts, size = whole(config, "decode-context-parallel-size"), whole(config, "tensor-parallel-size", 1)
    if parts is None or size is None or whole(config, "prefill-context-parallel-size", 1) != 1:
        return None
    if parts != size:
        return {"reason": f"is not the tensor parallel size, {size}"}
    if config.operand("model.mla").value is False:
        return {"reason": "needs a model with multi-head latent attention"}
    return None
