"""Prefill and decode on attention backends of their own."""

from __future__ import annotations

from servelint.engines.config import Config


def check(config: Config) -> dict[str, str] | None:
    prefill = config.operand("prefill-attention-backend").value
    decode = config.operand("decode-attention-backend").value
    return {} if isinstance(prefill, str) and isinstance(decode, str) and prefill != decode else None
