"""What is expected of a case before any measurement is looked at: the arithmetic where model and GPU are known."""

from __future__ import annotations

import math

from servelint.speculation import step
from servelint.speculation.names import BLOCK, DRAFT_MODEL, EAGLE, LOOKUP, MEDUSA, MTP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.speculation.cases import Case

_DEVIATIONS = {MTP: 0.12, EAGLE: 0.14, MEDUSA: 0.3, DRAFT_MODEL: 0.45, LOOKUP: 0.5, BLOCK: 0.6}
"""How far the logarithm of a gain is from the arithmetic: of a block drafter, a separate draft model and a lookup the software
counts for more than the memory, and nothing here tells how fast it is."""
_COST = {MTP: 0.14, EAGLE: 0.1, BLOCK: 0.06, MEDUSA: 0.08, DRAFT_MODEL: 0.25, LOOKUP: 0.06}
"""What a drafted token costs of a step, where the model or the GPU is not known."""
_UNKNOWN_MODEL, _UNKNOWN_GPU = 0.22, 0.1
_UNKNOWN_LENGTH, _UNKNOWN_PROMPTS, _MANY_TOKENS, _PROMPTS = 0.08, 0.1, 0.05, 0.4
"""Deviations of what is not known: of the length of a step by the root of the drafted tokens, of how long the prompts take by
doublings of their length; and of what the arithmetic knows badly: a doubling of the tokens of a step above 8, the share of
prompts, which are computed between steps."""


_UNCOUNTED = 0.05
"""What the logarithm loses with each doubling of requests where no arithmetic counts the computing: fitted on one recipe's
1.03, 0.91 and 0.77 at 1, 128 and 256 requests, and another's 0.92 and 0.68 at 8 and 64."""


class Prior:
    """mean, deviation: of the logarithm of the gain

    counted: by the arithmetic, not by the length alone;  prompts: the part of the time that is spent on them
    """

    __slots__ = ("counted", "deviation", "mean", "prompts")

    def __init__(self, mean: float, deviation: float, counted: bool, prompts: float) -> None:
        self.mean = mean
        self.deviation = deviation
        self.counted = counted
        self.prompts = prompts


def prior(case: Case) -> Prior | None:
    """None for a method that nothing is known of."""
    if case.method not in _DEVIATIONS:
        return None
    deviations = [_DEVIATIONS[case.method]]
    gpu, count = case.gpus
    prompts = 0.0
    if case.architecture is not None:
        found = step.steps(case, case.architecture, gpu, count)
        mean, prompts = found.gain, found.on_prompts
    else:
        mean = case.length / (1 + _COST[case.method] * case.drafted)
        deviations.append(_UNKNOWN_MODEL)
    if not prompts and case.input:
        deviations.append(_UNKNOWN_PROMPTS * math.log2(1 + case.input / (8 * (case.output or 256))))
    if gpu is None:
        deviations.append(_UNKNOWN_GPU)
    if case.accepted is None:
        deviations.append(_UNKNOWN_LENGTH * math.sqrt(case.drafted))
    deviations.append(_MANY_TOKENS * max(math.log2(case.concurrency * (1 + case.drafted) / 8), 0.0))
    deviations.append(_PROMPTS * prompts)
    counted = case.architecture is not None and gpu is not None
    less = 0.0 if counted else _UNCOUNTED * math.log2(case.concurrency)
    return Prior(math.log(mean) - less, math.sqrt(sum(one * one for one in deviations)), counted, prompts)
