"""A model type that the Transformers which SGLang pins does not have, of a repository that brings no code of its own.

transformers.json has which release of Transformers each release of SGLang pins.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.model_too_new import not_listed, readable


def check(config: Config) -> dict[str, str] | None:
    family = config.family
    if family is None or family.transformers is None or config.index is None:
        return None
    if not_listed(config) is not None or readable(config):
        return None
    return {"needs": family.transformers}
