"""The draft's max_model_len is above the target's: SpeculativeConfig._maybe_override_draft_max_model_len, 0.11.0 to 0.33.0."""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    draft, target = whole(config, "speculative-config.max_model_len"), whole(config, "max-model-len")
    return {} if draft is not None and target is not None and draft > target else None
