"""A batch that is split has a token for each of its parts.

Source: ParallelConfig._verify_args in vllm-0.33.0 vllm/config/parallel.py:1179; from 0.30.0 on.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole

_DECODE, _PREFILL = 32, 512


def check(config: Config) -> dict[str, str] | None:
    """Dual batch overlap has two parts whatever --ubatch-size says (ParallelConfig.num_ubatches)."""
    dual = config.operand("enable-dbo")
    alone = dual.present is False or dual.value is False
    parts = 2 if dual.value is True else whole(config, "ubatch-size", 0) if alone else None
    written = (("dbo-decode-token-threshold", _DECODE), ("dbo-prefill-token-threshold", _PREFILL))
    thresholds = [size for name, default in written if (size := whole(config, name, default)) is not None]
    if parts is None or parts < 2 or not thresholds or min(thresholds) >= parts:
        return None
    return {"threshold": str(min(thresholds)), "parts": str(parts)}
