"""A draft that is a plain language model, by its name: without the layer, or the head, that the method needs of it.

Source: SpeculativeConfig.__post_init__ in vllm/config/speculative.py, 0.11.0 to 0.33.0. Only names of publishers whose plain
names are known to be what they say.
"""

from __future__ import annotations

from servelint import models
from servelint.engines.config import Config

_HEADS = ("eagle", "eagle3", "medusa", "dflash", "dspark")


def check(config: Config) -> dict[str, str] | None:
    draft = next((text for name in ("speculative-config.model", "spec-model") if (text := config.operand(name).text)), None)
    family = models.identify(draft) if draft is not None and draft.known else None
    if draft is None or family is None or family.size is None or family.facts.get("quantization") != "none":
        return None
    method = config.operand("effective.speculative-method").value
    if method in _HEADS or (method == "mtp" and family.facts.get("mtp") is False):
        return {"draft": draft.flat}
    return None
