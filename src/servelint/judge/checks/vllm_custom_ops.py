"""custom_ops of --compilation-config, which may not say two things of one operation.

Source: CompilationConfig.__post_init__ in vllm-0.33.0 vllm/config/compilation.py:1022-1038. Two base modes are refused in every
release since 0.8.5, an operation with + and - from 0.27.0 on.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.syntax.json import ARRAY, OBJECT, STRING


def check(config: Config) -> dict[str, str] | None:
    ops = written(config)
    if "all" in ops and "none" in ops:
        return {"reason": "asks for all and for none"}
    both = sorted({op[1:] for op in ops if op.startswith("+")} & {op[1:] for op in ops if op.startswith("-")})
    return {"reason": f"switches {both[0]} on and off"} if both and config.at_least("0.27.0") else None


def written(config: Config) -> list[str]:
    """The operations that are known, in order."""
    node = config.reading.parsed("compilation-config")
    member = node.members.get("custom_ops") if node is not None and node.kind == OBJECT else None
    if member is None or member[1].kind != ARRAY:
        return []
    return [item.value for item in member[1].items if item.kind == STRING and isinstance(item.value, str)]
