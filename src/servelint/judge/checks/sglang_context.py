"""A context length above the one that SGLang derives from the model's configuration.

Source: _derive_context_length in sglang-0.5.1 and sglang-0.5.23 srt/configs/model_config.py (0.5.23 line 1292).
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    asked, known = whole(config, "context-length"), whole(config, "model.context")
    return {"known": str(known)} if asked is not None and known is not None and asked > known else None
