"""What the range of a numeric option is in words. The ranges and their source are in servelint.engines.vllm.numbers."""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.engines.vllm.numbers import broken


def check(config: Config) -> dict[str, str] | None:
    found = broken(config)
    return {"option": "--" + found[0], "wanted": found[1].described} if found is not None else None
