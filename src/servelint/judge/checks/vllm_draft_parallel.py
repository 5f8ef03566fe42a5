"""vLLM runs a draft with the target's tensor parallel size or on one GPU.

Source: SpeculativeConfig._verify_and_get_draft_tp in vllm/config/speculative.py, the same since 0.8.2 (vllm/config.py).
"""

from __future__ import annotations

from servelint.engines.config import Config

_WITHOUT_DRAFT = ("ngram", "[ngram]", "ngram_gpu", "suffix", "custom_class", "extract_hidden_states")
"""Methods that run no draft model, for which the size is not looked at."""


def check(config: Config) -> dict[str, str] | None:
    draft = config.operand("speculative-config.draft_tensor_parallel_size").value
    written = config.operand("tensor-parallel-size")
    target = 1 if written.present is False else written.value
    method = config.operand("speculative-config.method")
    if method.present is None or method.value in _WITHOUT_DRAFT:
        return None
    if not isinstance(draft, int) or not isinstance(target, int) or draft in (1, target):
        return None
    return {"target": str(target)}
