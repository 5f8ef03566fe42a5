"""A checkpoint of a known size whose name says no quantization, and whose family ships none: --quantization fp8 quantizes it.

Source: Fp8Config in vllm-0.33.0 vllm/model_executor/layers/quantization/fp8.py.
"""

from __future__ import annotations

from servelint.engines.config import Config

_PLAIN = (
    "LlamaForCausalLM",
    "Qwen2ForCausalLM",
    "Qwen2_5_VLForConditionalGeneration",
    "Qwen3ForCausalLM",
    "Qwen3MoeForCausalLM",
    "Qwen3VLForConditionalGeneration",
    "MixtralForCausalLM",
    "MistralForCausalLM",
    "Phi3ForCausalLM",
)


def check(config: Config) -> dict[str, str] | None:
    family = config.family
    if family is None or family.size is None or family.facts.get("quantization", "none") != "none":
        return None
    return {} if family.facts.get("architecture") in _PLAIN else None
