"""With one branch per step SGLang drafts a chain: its length is the number of steps plus the verified token.

Source: sglang-0.5.23 srt/arg_groups/speculative_hook.py:1260, unchanged since 0.4.6 (srt/server_args.py:352).
"""

from __future__ import annotations

from servelint.engines.config import Config


def check(config: Config) -> dict[str, str] | None:
    steps = config.operand("speculative-num-steps").value
    tokens = config.operand("speculative-num-draft-tokens").value
    if not isinstance(steps, int) or not isinstance(tokens, int) or tokens == steps + 1:
        return None
    return {"expected": str(steps + 1)}
