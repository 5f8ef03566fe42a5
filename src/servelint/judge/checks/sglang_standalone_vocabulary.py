"""A STANDALONE draft must have the vocabulary of its target: the sizes in their configurations are compared first.

Source: _validate_vocab_compatibility in sglang-0.5.15 and sglang-0.5.23 srt/speculative/standalone_worker_v2.py; vocab_size in
the config.json of the models. Qwen2.5 up to 3B has another size than Qwen2.5 from 7B.
"""

from __future__ import annotations

from servelint import models
from servelint.engines.config import Config

_SIZES = {
    "llama-3": 128256, "llama-3.1": 128256, "llama-3.2": 128256, "llama-4": 202048,
    "qwen3": 151936, "qwen3-moe": 151936, "qwen3-coder": 151936, "qwen3-next": 151936, "qwen3-coder-next": 151936,
    "qwen3.5": 248320, "qwen3.5-moe": 248320,
    "deepseek-v3": 129280, "deepseek-v3.1": 129280, "deepseek-v3.2": 129280, "deepseek-v4": 129280,
    "gpt-oss": 201088, "kimi-k2": 163840, "glm-4.5": 151552, "glm-5": 154880, "mixtral": 32000,
}  # fmt: skip
_QWEN25 = ("qwen2.5", "qwen2.5-coder")
_QWEN25_SMALL = ("0.5b", "1.5b", "3b")


def _vocabulary(family: models.Family | None) -> int | None:
    if family is None or family.size is None:
        return None  # whose name says more may have more tokens
    if family.name in _QWEN25:
        return 151936 if family.size in _QWEN25_SMALL else 152064
    return _SIZES.get(family.name)


def check(config: Config) -> dict[str, str] | None:
    draft = config.operand("speculative-draft-model-path").text
    if draft is None or not draft.known:
        return None
    target, drafted = _vocabulary(config.family), _vocabulary(models.identify(draft))
    if target is None or drafted is None or target == drafted:
        return None
    return {"target": str(target), "drafted": str(drafted)}
