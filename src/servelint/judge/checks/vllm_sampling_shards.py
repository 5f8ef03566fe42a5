"""Sampling shared by the tensor-parallel ranks needs several of them, and a request for each.

Source: VllmConfig._validate_batch_sharded_sampling in vllm-0.33.0 vllm/config/vllm.py:3216; from 0.29.0 on,
sampling masks from 0.30.0 on.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    size = whole(config, "tensor-parallel-size", 1)
    requests = whole(config, "max-num-seqs")
    if size == 1:
        return {"reason": "the tensor parallel size is 1"}
    if size is not None and requests is not None and requests < size:
        return {"reason": f"--max-num-seqs {requests} is below the tensor parallel size {size}"}
    if config.operand("return-sampling-mask").value is True and config.at_least("0.30.0"):
        return {"reason": "it gathers no sampling masks, which --return-sampling-mask asks for"}
    if config.operand("max-logprobs").value == -1:
        return {"reason": "--max-logprobs -1 lets requests ask for every token's logprob"}
    return None
