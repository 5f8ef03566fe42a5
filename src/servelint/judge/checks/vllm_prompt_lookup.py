"""N-grams are looked up from prompt_lookup_max tokens down to prompt_lookup_min.

Source: SpeculativeConfig.__post_init__ in vllm/config/speculative.py, 0.11.0 to 0.33.0.
"""

from __future__ import annotations

from servelint.engines.config import Config


def check(config: Config) -> dict[str, str] | None:
    shortest = config.operand("speculative-config.prompt_lookup_min").value
    longest = config.operand("speculative-config.prompt_lookup_max").value
    return {} if isinstance(shortest, int) and isinstance(longest, int) and shortest > longest else None
