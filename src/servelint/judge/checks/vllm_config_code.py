"""A model whose config.json neither vLLM nor Transformers beside it can read, unless the repository's own code may run.

vLLM reads some model types with classes of its own (_CONFIG_REGISTRY in vllm/transformers_utils/config.py) and hands the
rest to Transformers. The architectures here never had such a class, 0.9.1 to 0.33.0. Model types that no release of
Transformers up to 5.19 has: nemotron-nas, phi4mm, minimax_m1, mimo and internlm2 (models/auto/auto_mappings.py).
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.model_too_new import not_listed, readable

_BY_TRANSFORMERS = (
    "GlmMoeDsaForCausalLM",
    "Glm4MoeLiteForCausalLM",
    "NemotronHForCausalLM",
    "MiMoV2FlashForCausalLM",
)
_BY_OWN_CODE = ("DeciLMForCausalLM", "Phi4MMForCausalLM", "MiniMaxM1ForCausalLM", "MiMoForCausalLM", "InternLM2ForCausalLM")


def check(config: Config) -> dict[str, str] | None:
    family = config.family
    if family is None or not_listed(config) is not None or config.index is None:
        return None
    architecture = family.facts.get("architecture")
    if architecture in _BY_OWN_CODE:
        return {"needs": "its own code"}
    if architecture in _BY_TRANSFORMERS and not readable(config):
        return {"needs": f"Transformers {family.transformers} or its own code"}
    return None
