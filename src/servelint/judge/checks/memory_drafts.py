"""Speculative decoding that leaves less than 60 % of the KV cache: the draft, its cache, the states of tokens to verify."""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks import planned

_SHARE = 0.6
_DRAFTS = ("draft weights", "draft kv cache")


def check(config: Config) -> dict[str, str] | None:
    found = planned.plan(config)
    if found is None or found.verdict not in ("fits", "tight", "oom-risk") or not found.kv_tokens:
        return None
    without = planned.plain(config)
    if without is None or not without.kv_tokens or found.kv_tokens >= _SHARE * without.kv_tokens:
        return None
    if found.kv_gib is None or without.kv_gib is None or found.kv_gib.high >= without.kv_gib.low:
        return None
    drafts = sum(part.gib.mid for part in found.parts if part.name in _DRAFTS)
    return {
        "where": planned.where(found),
        "tokens": str(found.kv_tokens),
        "plain": str(without.kv_tokens),
        "less": planned.times(without.kv_tokens, found.kv_tokens),
        "drafts": planned.gib(drafts),
    }
