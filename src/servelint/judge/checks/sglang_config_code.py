"""A model whose config.json neither SGLang nor its Transformers can read, unless the code of the repository may run.

SGLang has classes of its own for some model types (srt/configs) and leaves the rest to Transformers. It never had one for these
two; no release of Transformers up to 5.19 has mimo (models/auto/auto_mappings.py).
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.model_too_new import not_listed, readable


def check(config: Config) -> dict[str, str] | None:
    family = config.family
    if family is None or not_listed(config) is not None or config.index is None:
        return None
    architecture = family.facts.get("architecture")
    if architecture == "MiMoForCausalLM":
        return {"needs": "its own code"}
    if architecture == "MiMoV2FlashForCausalLM" and not readable(config):
        return {"needs": f"Transformers {family.transformers} or its own code"}
    return None
