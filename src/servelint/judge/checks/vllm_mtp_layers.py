"""More drafted tokens than the checkpoint has MTP layers, and no multiple of these.

Source: SpeculativeConfig.__post_init__ in vllm/config/speculative.py, 0.11.0 to 0.33.0: n_predict is the number of MTP
layers in the config.json of these architectures. Step-3.5-Flash has three (docs/autoregressive/StepFun/Step3.5.md in sgl-
project/sgl-cookbook).
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole

_COUNTED = (
    "DeepseekV3ForCausalLM",
    "DeepseekV32ForCausalLM",
    "GlmMoeDsaForCausalLM",
    "Glm4MoeForCausalLM",
    "Glm4MoeLiteForCausalLM",
    "Qwen3_5ForConditionalGeneration",
    "Qwen3_5MoeForConditionalGeneration",
    "Step3p5ForCausalLM",
)
_BY_NAME = {"step-3.5": 3}


def check(config: Config) -> dict[str, str] | None:
    family, tokens = config.family, whole(config, "effective.speculative-tokens")
    if family is None or tokens is None or family.facts.get("architecture") not in _COUNTED:
        return None
    layers = family.facts.get("mtp-layers", _BY_NAME.get(family.name))
    if not isinstance(layers, int) or layers < 1 or tokens <= layers or tokens % layers == 0:
        return None
    return {"layers": str(layers), "fitting": str(tokens - tokens % layers)}
