"""Loading LoRA adapters while others run keeps them in pinned memory, and takes at most two batches' worth of them.

Source: check_lora_server_args in sglang-0.5.23 srt/arg_groups/lora_hook.py:64, since 0.5.8 (srt/server_args.py).
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    loaded, batch = config.operand("max-loaded-loras"), whole(config, "max-loras-per-batch", 8)
    if batch is None:
        return None
    known = loaded.value if isinstance(loaded.value, int) else None
    too_many = loaded.present is False or (known is not None and known > 2 * batch)
    return {"most": str(2 * batch)} if too_many else None
