"""The steps that adaptive speculative decoding chooses among, where no file names others.

Source: DEFAULT_BATCH_SIZE_CONFIG in srt/speculative/adaptive_spec_params.py: 0.5.13 line 25, 0.5.14 line 24, 0.5.20 line 28.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole

_CANDIDATES = (("0.5.20", (0, 1, 3, 5, 7)), ("0.5.14", (0, 1, 3, 7)), ("0.5.13", (1, 3, 7)))


def check(config: Config) -> dict[str, str] | None:
    steps = whole(config, "speculative-num-steps")
    taken = next((candidates for since, candidates in _CANDIDATES if config.at_least(since)), None)
    if steps is None or taken is None or steps in taken:
        return None
    *most, last = [str(one) for one in taken]
    return {"candidates": f"{', '.join(most)} or {last}"}
