"""Model Runner V2 cannot skip drafts beyond the draft's context and lowers the target's.

Source: VllmConfig in vllm/config/vllm.py:3030, first in 0.33.0.
"""

from __future__ import annotations

from servelint import models
from servelint.engines.config import Config


def check(config: Config) -> dict[str, str] | None:
    asked = config.operand("max-model-len").value
    draft = next((text for name in ("speculative-config.model", "spec-model") if (text := config.operand(name).text)), None)
    family = models.identify(draft) if draft is not None and draft.known else None
    context = family.facts.get("context") if family is not None else None
    if not isinstance(asked, int) or not isinstance(context, int) or context >= asked:
        return None
    return {"context": str(context)}
