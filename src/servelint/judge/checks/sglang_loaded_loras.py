"""Fewer LoRA adapters kept in host memory than one batch may mix.

Source: check_lora_server_args in sglang-0.5.23 srt/arg_groups/lora_hook.py:158, since 0.5.1 (srt/server_args.py). A batch mixes
8 unless the launch says otherwise.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    loaded, batch = whole(config, "max-loaded-loras"), whole(config, "max-loras-per-batch", 8)
    return {"batch": str(batch)} if loaded is not None and batch is not None and loaded < batch else None
