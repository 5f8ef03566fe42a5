"""The interval at which SGLang tracks the states of hybrid models: no shorter than a verification step, and whole pages.

Source: sglang-0.5.23 srt/arg_groups/mamba_hook.py:132, sglang-0.5.9 srt/server_args.py:1731.
"""

from __future__ import annotations

from servelint.engines.config import Config


def check(config: Config) -> dict[str, str] | None:
    interval = config.operand("mamba-track-interval").value
    tokens = config.operand("speculative-num-draft-tokens").value
    page = config.operand("page-size").value
    if not isinstance(interval, int):
        return None
    if isinstance(tokens, int) and interval < tokens:
        return {"misfit": f"is below the {tokens} draft tokens"}
    if isinstance(page, int) and page > 0 and interval % page:
        return {"misfit": f"is no multiple of the page size {page}"}
    return None
