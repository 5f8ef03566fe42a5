"""A reasoning parser that looks up its marks as single tokens, which the model's tokenizer does not have.

Source: BaseThinkingReasoningParser in vllm/reasoning/basic_parsers.py (its copies in the parsers themselves before 0.11.0),
0.10.0 to 0.33.0; qwen3 and gemma4 read the text instead from 0.24.0 on. The families are those whose tokenizer.json has no
token <think>.
"""

from __future__ import annotations

from servelint.engines.config import Config

_UNTIL = {"deepseek_r1": None, "qwen3": "0.24.0", "gemma4": "0.24.0"}
"""parser -> the first release in which it looks for no token"""
_WITHOUT = (
    "llama-2", "llama-3", "llama-3.1", "llama-3.2", "mistral-7b", "mixtral", "qwen2.5", "qwen2.5-coder", "gemma-2", "gemma-3",
    "gemma-3-text",
)  # fmt: skip


def check(config: Config) -> dict[str, str] | None:
    parser, family = config.operand("reasoning-parser").value, config.family
    if not isinstance(parser, str) or parser not in _UNTIL or family is None or family.size is None:
        return None
    until = _UNTIL[parser]
    if family.name not in _WITHOUT or (parser == "gemma4" and family.name.startswith("gemma")):
        return None
    return {} if until is None or config.at_least(until) is False else None
