"""A context length that the model's own limit does not allow: YaRN in an override does not raise it by itself.

Source: sglang-0.5.1 srt/configs/model_config.py, sglang-0.5.23 the same (run with Qwen3-8B): the factor counts only where
original_max_position_embeddings is not given.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    asked, limit = whole(config, "context-length"), whole(config, "model.context")
    return {"limit": str(limit)} if asked is not None and limit is not None and asked > limit else None
