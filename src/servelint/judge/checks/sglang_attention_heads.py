"""Attention heads that the tensor parallel size does not divide: the model's layers assert it when they are built.

Source: LlamaAttention.__init__ in sglang-0.5.23 srt/models/llama.py:183, the same in 0.4.6 and in the other model files.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    heads, size = whole(config, "model.heads"), whole(config, "effective.tp-size")
    if heads is None or size is None or size < 1 or heads % size == 0:
        return None
    return {"heads": str(heads), "largest": str(max(one for one in range(1, min(size, heads + 1)) if heads % one == 0))}
