"""A model that the release takes no drafts on hidden states for: its model type is not on a list in the release's source.

Source: SpeculativeConfig._verify_args in vllm/config/speculative.py (vllm/config.py, vllm/config/__init__.py before
0.11.0), 0.8.5 to 0.21.0: the model type of the language model must contain one of the listed names. 0.22.0 has no list any
more.
"""

from __future__ import annotations

from servelint.engines.config import Config

_NEVER = "0.22.0"
TAKEN_SINCE = {
    "Qwen2ForCausalLM": "0.10.1",
    "Qwen3ForCausalLM": "0.10.1",
    "Qwen3MoeForCausalLM": "0.10.1",
    "GptOssForCausalLM": "0.11.0",
    "NemotronHForCausalLM": "0.17.0",
    "MiniMaxM2ForCausalLM": "0.19.0",
    "MistralForCausalLM": _NEVER,
    "MixtralForCausalLM": _NEVER,
    "Gemma2ForCausalLM": _NEVER,
    "Gemma3ForCausalLM": _NEVER,
    "Gemma3ForConditionalGeneration": _NEVER,
    "Glm4MoeForCausalLM": _NEVER,
    "Glm4MoeLiteForCausalLM": _NEVER,
    "GlmMoeDsaForCausalLM": _NEVER,
    "GraniteMoeHybridForCausalLM": _NEVER,
    "Phi3ForCausalLM": _NEVER,
    "SeedOssForCausalLM": _NEVER,
    "SmolLM3ForCausalLM": _NEVER,
}
"""architecture -> the first release whose list takes its model type"""


def check(config: Config) -> dict[str, str] | None:
    if config.operand("effective.speculative-method").value == "dflash" and not config.at_least("0.20.0"):
        return None  # drafts of this method are compared from 0.20.0 on
    since = TAKEN_SINCE.get(str(config.operand("model.architecture").value))
    return {"since": since} if since is not None and config.at_least(since) is False else None
