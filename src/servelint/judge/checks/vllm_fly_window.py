"""A window of FLy verification that is not below the number of drafted tokens: SpeculativeConfig._verify_args, 0.33.0."""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    window, tokens = whole(config, "speculative-config.fly_window_size"), whole(config, "effective.speculative-tokens")
    return {"most": str(tokens - 1)} if window is not None and tokens is not None and window >= tokens else None
