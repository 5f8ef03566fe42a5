"""A KV cache that certainly holds less than one request of the context length that is asked for: SGLang starts all the same.

Source: sglang-0.5.23 srt/managers/tp_worker.py line 421 (0.4.6 line 120): max_req_len is not more than max_total_num_tokens.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks import planned


def check(config: Config) -> dict[str, str] | None:
    found = planned.plan(config)
    if found is None or found.kv_gib is None or found.need_gib is None or not found.kv_tokens or found.max_model_len is None:
        return None
    if found.verdict not in ("fits", "oom-risk") or found.kv_gib.high >= found.need_gib:
        return None
    remedy = f"write --context-length {found.kv_tokens // 1024 * 1024}, or take more or larger GPUs"
    other = planned.changed(config, ("kv-cache-dtype", "fp8_e4m3"))
    if other is not None and other.kv_tokens and other.kv_tokens >= 1.5 * found.kv_tokens:
        remedy += f"; --kv-cache-dtype fp8_e4m3 holds {other.kv_tokens} tokens"
    return {"where": planned.where(found), "tokens": str(found.kv_tokens), "remedy": remedy}
