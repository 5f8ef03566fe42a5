"""An executor's class is named by module and class, with a dot between.

Source: Executor.get_class in vllm-0.33.0 vllm/v1/executor/abstract.py and resolve_obj_by_qualname, which splits at the
last dot.
"""

from __future__ import annotations

from servelint.engines.config import Config


def check(config: Config) -> dict[str, str] | None:
    name = config.operand("distributed-executor-backend").value
    return {} if isinstance(name, str) and name and "." not in name else None
