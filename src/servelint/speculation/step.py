"""How long a step of decoding takes, with and without drafts: the roofline of servelint.speculation.traffic on a GPU."""

from __future__ import annotations

from functools import lru_cache

from servelint.models.architecture import find
from servelint.speculation.names import BLOCK, EAGLE
from servelint.speculation.traffic import Traffic, traffic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.hardware import Gpu
    from servelint.models.architecture import Architecture
    from servelint.speculation.cases import Case

MEMORY = 0.8
"""Part of the memory's bandwidth that steps reach: 0.75 to 0.85 on the published measurements."""
COMPUTE, OF_BLOCKS = 0.4, 0.1
"""Part of the dense 16-bit rate of the tensor cores that verification reaches; that of a block drafter's many tokens, fitted on
DFlash of Qwen3.6-27B on an H100, where 8 requests of 16 tokens took about 71 ms."""
TOGETHER = 1.5
"""Memory and compute overlap, not wholly: a step takes the norm of this degree of both times. Fitted on EAGLE-3 of
Llama-3.1-8B on an L40 with 16 requests (1, 3 and 5 tokens); infinity would be a perfect overlap, 1 none."""

LAYER, RANKS = 10e-6, 100e-6
"""Seconds that a layer takes beside memory and compute: its kernels, and on several GPUs their waiting for each other. Fitted
on EAGLE-3.1 of Kimi-K2.6 on 4 GB200 (1, 4 and 16 requests), where most of a step goes there."""


class Steps:
    """Seconds of a step without drafts and with them, and of the prompts of the requests; of a GPU that is not known in units
    of its memory's speed, and without the prompts.

    output: tokens that a request gets;  length: mean tokens of a step with drafts
    """

    __slots__ = ("after", "before", "length", "output", "prompts")

    def __init__(self, before: float, after: float, prompts: float, output: int, length: float) -> None:
        self.before = before
        self.after = after
        self.prompts = prompts
        self.output = output
        self.length = length

    @property
    def gain(self) -> float:
        """Throughput with drafts over throughput without; prompts take as long as before."""
        decoding = self.output * self.before
        return (self.prompts + decoding) / (self.prompts + self.output * self.after / self.length)

    @property
    def on_prompts(self) -> float:
        """The part of the time without drafts that is spent on prompts."""
        return self.prompts / (self.prompts + self.output * self.before)


def steps(case: Case, model: Architecture, gpu: Gpu | None, count: int) -> Steps:
    """How long the steps of a case take on some GPUs of a kind.

    step(1 + drafted) verifies the drafts of all requests at once; each pass of the draft reads the draft and a head. Of a GPU
    that is not known the memory alone counts, whose speed goes out of every ratio.
    """
    facts = traffic_of(case, model)
    speeds = [gpu.facts.get(name, 0) if gpu is not None else 0 for name in ("bandwidth-gbs", "bf16-tflops")]
    bandwidth, flops = (float(speed) for speed in speeds)
    if not bandwidth:
        bandwidth, flops = 1000.0, 0.0
    delivered, computed = 1e9 * bandwidth * MEMORY * count, 1e12 * flops * COMPUTE * count
    slower = COMPUTE / OF_BLOCKS if case.method == BLOCK else 1.0
    requests, drafted = case.concurrency, case.drafted
    fixed = 0.0 if gpu is None else LAYER if count == 1 else RANKS

    def step(tokens: int) -> float:
        memory = (facts.read(requests * tokens) + requests * facts.cached(case.context, tokens)) / delivered
        compute = 2 * facts.active * requests * tokens / computed if computed else 0.0
        compute *= slower if tokens > 1 else 1.0
        return float((memory**TOGETHER + compute**TOGETHER) ** (1 / TOGETHER)) + fixed * model.layers

    passes = 1 if case.method == BLOCK else drafted
    after = step(1 + drafted) + passes * (facts.drafting(requests) / delivered + fixed)
    prompts = 2 * facts.active * case.input * requests / computed if case.input and computed else 0.0
    return Steps(step(1), after, prompts, case.output or 256, case.length)


def traffic_of(case: Case, model: Architecture) -> Traffic:
    """What steps of a case read, the draft of its method among it."""
    return _traffic(model, case.method == EAGLE)


@lru_cache(maxsize=256)
def _traffic(model: Architecture, eagle: bool) -> Traffic:
    if not eagle:
        return traffic(model)
    named = next((known for name in _EAGLES.get(model.name, ()) if (known := find(name)) is not None), None)
    found = traffic(model, draft=named)
    if named is None:
        # a layer as wide as the model that is fed with twice and three times its width, and a head of 32,000 tokens, as the
        # published EAGLE-3 heads have them
        found.draft, found.draft_expert = 2 * (12 * model.hidden**2 + 32_000 * model.hidden), 0
    return found


_EAGLES = {
    "meta-llama/Llama-3.1-8B-Instruct": ("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B",),
    "meta-llama/Llama-3.3-70B-Instruct": ("yuhuili/EAGLE3-LLaMA3.3-Instruct-70B",),
    "Qwen/Qwen3-8B": ("Tengyunw/qwen3_8b_eagle3",),
    "Qwen/Qwen3-32B": ("RedHatAI/Qwen3-32B-speculator.eagle3",),
    "openai/gpt-oss-120b": ("lmsys/EAGLE3-gpt-oss-120b-bf16",),
}
"""Drafts that their publishers name as those of a model."""
