"""A colon in the served name stands between a model and its adapter.

Source: sglang-0.5.5.post1 srt/server_args.py, sglang-0.5.23 srt/arg_groups/validation_hook.py:213 (an address of an object
store is let through in later releases).
"""

from __future__ import annotations

from servelint.engines.config import Config


def check(config: Config) -> dict[str, str] | None:
    name = config.operand("served-model-name").value
    if not isinstance(name, str) or ":" not in name or "://" in name:
        return None
    return {"plain": name.replace(":", "-")}
