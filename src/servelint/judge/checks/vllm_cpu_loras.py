"""Adapters in host memory are at least as many as those in a batch.

Source: LoRAConfig in vllm-0.33.0 vllm/config/lora.py:124; in every release since 0.8.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    held, used = whole(config, "max-cpu-loras"), whole(config, "max-loras", 1)
    return {"used": str(used)} if held is not None and used is not None and held < used else None
