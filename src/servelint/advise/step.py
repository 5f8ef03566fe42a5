"""How long a step of decoding takes, with and without drafts: the roofline of servelint.advise.traffic on a GPU."""

from __future__ import annotations

from functools import lru_cache

from servelint.advise.names import BLOCK, EAGLE
from servelint.advise.traffic import Traffic, traffic
from servelint.models.architecture import find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.advise.cases import Case
    from servelint.hardware import Gpu
    from servelint.models.architecture import Architecture

MEMORY = 0.8
"""Part of the memory's bandwidth that steps reach: 0.75 to 0.85 on the published measurements."""
COMPUTE = 0.4
"""Part of the dense rate of the tensor cores that verification reaches."""
TOGETHER = 1.5
"""Memory and compute overlap, not wholly: a step takes the norm of this degree of both times. Fitted on EAGLE-3 of
Llama-3.1-8B on an L40 with 16 requests (1, 3 and 5 tokens); infinity would be a perfect overlap, 1 none."""


def gain(case: Case, model: Architecture, gpu: Gpu | None, count: int) -> tuple[float, float]:
    """Throughput with drafts over throughput without, and the part of the time that is spent on prompts.

    gain = length * step(1) / (step(1 + drafted) + drafting); prompts take as long as before. Of a GPU that is not known the
    memory alone counts, whose speed goes out of the ratio.
    """
    facts = _traffic(model, _draft(case, model))
    drafting = facts.drafting(case.concurrency) if case.method != EAGLE or model.name in _EAGLES else _of_eagle(model)
    speeds = [gpu.facts.get(name, 0) if gpu is not None else 0 for name in ("bandwidth-gbs", "bf16-tflops")]
    bandwidth, flops = (float(speed) for speed in speeds)
    if not bandwidth:
        bandwidth, flops = 1000.0, 0.0
    delivered, computed = 1e9 * bandwidth * MEMORY * count, 1e12 * flops * COMPUTE * count
    requests, drafted = case.concurrency, case.drafted

    def step(tokens: int) -> float:
        memory = (facts.read(requests * tokens) + requests * facts.cached(case.context, tokens)) / delivered
        compute = 2 * facts.active * requests * tokens / computed if computed else 0.0
        return float((memory**TOGETHER + compute**TOGETHER) ** (1 / TOGETHER))

    before = step(1)
    passes = 1 if case.method == BLOCK else drafted
    after = step(1 + drafted) + passes * drafting / delivered
    decoding = case.length * before / after
    prompts = 2 * facts.active * case.input * requests / computed if case.input and computed else 0.0
    output = (case.output or 256) * before
    return (prompts + output) / (prompts + output / decoding), prompts / (prompts + output)


@lru_cache(maxsize=256)
def _traffic(model: Architecture, draft: Architecture | None) -> Traffic:
    return traffic(model, draft=draft)


def _draft(case: Case, model: Architecture) -> Architecture | None:
    """A published draft of the model, where the model brings none of its own."""
    if case.method != EAGLE:
        return None
    return next((found for name in _EAGLES.get(model.name, ()) if (found := find(name)) is not None), None)


def _of_eagle(model: Architecture) -> int:
    """Bytes of an EAGLE-3 head that nobody names: a layer as wide as the model, fed with twice and three times its width, and a
    head of 32,000 tokens, as the published ones have."""
    return 2 * (12 * model.hidden**2 + 32_000 * model.hidden)


_EAGLES = {
    "meta-llama/Llama-3.1-8B-Instruct": ("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B",),
    "meta-llama/Llama-3.3-70B-Instruct": ("yuhuili/EAGLE3-LLaMA3.3-Instruct-70B",),
    "Qwen/Qwen3-8B": ("Tengyunw/qwen3_8b_eagle3",),
    "Qwen/Qwen3-32B": ("RedHatAI/Qwen3-32B-speculator.eagle3",),
    "openai/gpt-oss-120b": ("lmsys/EAGLE3-gpt-oss-120b-bf16",),
}
"""Drafts that their publishers name as those of a model."""
