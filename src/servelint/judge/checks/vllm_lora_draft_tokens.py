"""With LoRA every running request must find room in a batch with all of its drafted tokens.

Source: EngineArgs.create_engine_config in vllm/engine/arg_utils.py, the same from 0.11.1 to 0.33.0. The defaults of both sizes
depend on the GPU and on the release, so that only written ones are compared.
"""

from __future__ import annotations

from servelint.engines.config import Config


def check(config: Config) -> dict[str, str] | None:
    tokens = config.operand("max-num-batched-tokens").value
    requests = config.operand("max-num-seqs").value
    drafted = config.operand("effective.speculative-tokens").value
    if not isinstance(tokens, int) or not isinstance(requests, int) or not isinstance(drafted, int):
        return None
    needed = requests * (drafted + 1)
    return {"needed": str(needed)} if tokens < needed else None
