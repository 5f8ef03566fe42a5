"""The efforts of --reasoning-effort-map.

Source: validate_reasoning_effort_map in vllm-0.33.0 vllm/entrypoints/common/cli_args.py:512-528.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.syntax.json import ARRAY, NUMBER, OBJECT

_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def check(config: Config) -> dict[str, str] | None:
    node = config.reading.parsed("reasoning-effort-map")
    if node is None:
        return None
    if node.kind == ARRAY:
        return {"reason": "is a list, not an object"}
    if node.kind != OBJECT:
        return None
    for effort, (_, value) in node.members.items():
        if effort not in _EFFORTS:
            return {"reason": f"names {effort}, which is no effort"}
        if value.kind in (ARRAY, OBJECT, NUMBER):
            return {"reason": f"gives {effort} something else than a text"}
    return None
