"""Memory plans made by hand, so that reports are tested apart from the arithmetic of engines."""

from __future__ import annotations

from servelint.memory.plan import Interval, MemoryPlan, Part


def plan(verdict: str = "fits", **sizes: float) -> MemoryPlan:
    """A plan for 100 GiB of which the engine takes 90, with parts of these sizes, the rest for the KV cache."""
    found = MemoryPlan("vllm", "0.19.1", "org/model", "h100", 1)
    found.gpu_gib, found.budget_gib, found.verdict = 100.0, 90.0, verdict
    found.kv_tokens, found.max_concurrency, found.max_model_len = 402_000, 12.268, 32_768
    given = {"weights": 30.0, "cuda_context": 1.0, **sizes}
    for name, size in given.items():
        found.parts.append(
            Part(name.replace("_", " "), Interval(size - 0.5, size, size + 1), "the file of it", inside=name != "cuda_context")
        )
    left = 90.0 - sum(part.gib.mid for part in found.parts if part.inside)
    found.kv_gib = Interval.exact(left)
    found.parts.append(Part("kv cache", Interval.exact(max(left, 0.0)), "what is left"))
    return found
