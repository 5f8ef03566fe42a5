"""An independent draft model must have as many tokens in its vocabulary as the target.

Source: SpeculativeConfig.verify_equal_vocab_size_if_draft_model in vllm/config/speculative.py, 0.15.0 to 0.33.0. The sizes are
vocab_size in the config.json of each family.
"""

from __future__ import annotations

from servelint import models
from servelint.engines.config import Config

_TOKENS = {
    "llama-3": 128256,
    "llama-3.1": 128256,
    "llama-3.2": 128256,
    "llama-4": 202048,
    "qwen3": 151936,
    "qwen3-moe": 151936,
    "qwen3-coder": 151936,
    "qwen3-next": 151936,
    "qwen3-vl": 151936,
    "qwen3-vl-moe": 151936,
    "qwen3.5": 248320,
    "qwen3.5-moe": 248320,
    "gpt-oss": 201088,
    "deepseek-v3": 129280,
    "deepseek-v3.1": 129280,
    "deepseek-v3.2": 129280,
    "kimi-k2": 163840,
    "seed-oss": 155136,
}
"""family -> the size of its vocabulary, where all of its models have the same"""

_QWEN2_5 = {"0.5b": 151936, "1.5b": 151936, "3b": 151936, "7b": 152064, "14b": 152064, "32b": 152064, "72b": 152064}


def check(config: Config) -> dict[str, str] | None:
    draft = next((text for name in ("speculative-config.model", "spec-model") if (text := config.operand(name).text)), None)
    theirs = _tokens(models.identify(draft)) if draft is not None and draft.known else None
    ours = _tokens(config.family)
    if theirs is None or ours is None or theirs == ours:
        return None
    return {"draft": f"{theirs:,}", "target": f"{ours:,}"}


def _tokens(family: models.Family | None) -> int | None:
    if family is None or family.size is None:
        return None
    return _QWEN2_5.get(family.size) if family.name in ("qwen2.5", "qwen2.5-coder") else _TOKENS.get(family.name)
