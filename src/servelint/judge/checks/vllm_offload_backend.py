"""Which of two ways of offloading weights a release takes where both are asked for.

Source: OffloadConfig.validate_offload_config in vllm-0.33.0 vllm/config/offload.py:115-136; the same in 0.17.0.
"""

from __future__ import annotations

from servelint.engines.config import Config


def check(config: Config) -> dict[str, str] | None:
    asked = config.operand("offload-backend")
    if asked.present is None or (asked.present and asked.value not in ("auto", "uva", "prefetch")):
        return None
    return {"kept": "--cpu-offload-gb" if asked.value == "uva" else "--offload-group-size"}
