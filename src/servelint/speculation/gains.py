"""What speculation gains: throughput with it over throughput without, as an interval, or nothing where nobody can tell."""

from __future__ import annotations

import math

from servelint.speculation import calibration
from servelint.speculation.cases import ADVISED, TOKENS, Case, accepted_of
from servelint.speculation.names import method_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from servelint.speculation.calibration import Calibration, Measurement, Posterior

WIDTH = 1.5
"""Half of an interval, in standard deviations."""
_VAGUE = 0.32
"""Of the logarithm: what is less sure than this says nothing of whether to speculate."""
_NEAR = 0.35
"""How much a measurement must have in common with a case to be told as near."""


class Gain:
    """low, mid, high: throughput with speculation over throughput without; 1.2 is 20 % more

    chance:  how likely it is above 1, from 0 to 1
    counted: whether model and GPU are known, so that the arithmetic counts and not the length of a step alone
    near:    the measurements that are most like it, the nearest first
    """

    __slots__ = ("case", "chance", "counted", "high", "low", "mid", "near")

    def __init__(self, case: Case, found: Posterior) -> None:
        self.case = case
        self.low, self.mid, self.high = (math.exp(found.mean + step * WIDTH * found.deviation) for step in (-1, 0, 1))
        self.chance = (1 + math.erf(found.mean / found.deviation / math.sqrt(2))) / 2
        self.counted = found.prior.counted
        self.near: list[Measurement] = [one for alike, one in found.near[:4] if alike >= _NEAR]

    def __repr__(self) -> str:
        return f"Gain({self.low:.2f}..{self.mid:.2f}..{self.high:.2f})"


def of_case(case: Case, measured: Calibration | None = None) -> Gain | None:
    """None where neither the arithmetic nor a measurement reaches: its interval would hold most answers."""
    found = (measured or calibration.of_all()).at(case)
    return of_posterior(case, found) if found is not None else None


def of_posterior(case: Case, found: Posterior) -> Gain | None:
    """The interval, unless it says next to nothing."""
    return Gain(case, found) if found.deviation <= _VAGUE else None


def gain(
    engine: str = ADVISED[0],
    model: str | None = None,
    gpu: str | None = None,
    method: str = "mtp",
    k: int | None = None,
    concurrency: int | None = 1,
    input_len: int | None = None,
    output_len: int | None = None,
    acceptance: Mapping[str, Any] | float | None = None,
    measured: Calibration | None = None,
) -> Gain | None:
    """Throughput with speculation over throughput without, None where neither arithmetic nor measurements reach.

    method:      mtp, eagle, eagle3, dflash, ngram, draft_model, medusa, and the engines' other names of these
    k:           tokens that are drafted each step; None: as many as recipes write
    concurrency: requests that are decoded at a time;  input_len, output_len: tokens of a request
    acceptance:  {"length": mean tokens of a step}, {"rate": accepted of the proposed}, {"per_pos": [...]}, or a rate
    measured:    what to hold it against in place of the published measurements

    >>> found = gain(model="Qwen/Qwen3.6-27B-FP8", gpu="h100", k=2, acceptance=0.7)
    >>> found is not None and 1.5 < found.low < found.mid < found.high < 3
    True
    """
    kind = method_of(method)
    if kind is None:
        return None
    tokens = k if k is not None and k > 0 else None
    length = accepted_of(acceptance, tokens or TOKENS.get(kind, 3))
    return of_case(Case(engine, kind, model, gpu, tokens, max(concurrency or 1, 1), input_len, output_len, length), measured)
