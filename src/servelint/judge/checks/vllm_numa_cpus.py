"""The lists of cores that --numa-bind-cpus takes.

Source: ParallelConfig._validate_numa_bind_cpus in vllm-0.33.0 vllm/config/parallel.py:496-520; the same from 0.20.0 on.
"""

from __future__ import annotations

import re

from servelint.engines.config import Config

_SYNTAX = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


def check(config: Config) -> dict[str, str] | None:
    setting = config.setting("numa-bind-cpus")
    for word in setting.values if setting is not None else []:
        if not word.text.known or word.many:
            continue
        cpus = word.text.flat
        if _SYNTAX.fullmatch(cpus) is None:
            return {"cpus": cpus, "reason": "numbers and ranges, separated by commas"}
        if any(int(first) > int(last) for first, last in re.findall(r"(?<!\d)(\d{1,18})-(\d{1,18})(?!\d)", cpus)):
            return {"cpus": cpus, "reason": "a range goes up"}
    return None
