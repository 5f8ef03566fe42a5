"""The GPUs that --device-ids names: each once, all in one way, and within those that the process sees.

Source: EngineArgs._resolve_device_ids in vllm-0.33.0 vllm/engine/arg_utils.py:2140-2178; from 0.24.0 on.
"""

from __future__ import annotations

from servelint.core.numbers import is_whole
from servelint.engines.config import Config


def check(config: Config) -> dict[str, str] | None:
    given = config.operand("device-ids").text
    if given is None or not given.known:
        return None
    ids = [one.strip() for one in given.flat.split(",")]
    if len(set(ids)) != len(ids):
        return {"reason": f"{given.flat} names a GPU twice"}
    numbers = [int(one) for one in ids if is_whole(one)]
    if numbers and len(numbers) != len(ids):
        return {"reason": f"{given.flat} mixes numbers with UUIDs"}
    visible = config.operand("env.CUDA_VISIBLE_DEVICES").value
    if not numbers or not isinstance(visible, str) or not visible:
        return None
    count = len(visible.split(","))
    if max(numbers) < count:
        return None
    return {"reason": f"{max(numbers)} is no place among the {count} GPUs of CUDA_VISIBLE_DEVICES ({visible})"}
