"""With data-parallel attention the chunk of prefill is divided among the groups.

Source: sglang-0.4.6 srt/server_args.py:291, sglang-0.5.23 srt/arg_groups/parallel_hook.py:327.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    chunk = whole(config, "chunked-prefill-size")
    widths = [config.operand(name).value for name in ("effective.attn-dp-size", "effective.dp-size")]
    groups = next((width for width in widths if isinstance(width, int) and width > 1), None)
    if chunk is None or groups is None or chunk < 1:
        return None
    return {"each": str(chunk // groups), "wanted": str(chunk * groups)}
