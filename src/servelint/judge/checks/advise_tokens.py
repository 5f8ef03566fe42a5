"""More drafted tokens than pay even if nine of ten are accepted, with one request at a time, where most pay.

Source: servelint.advise, docs/advise.md.
"""

from __future__ import annotations

from dataclasses import replace

from servelint.engines.config import Config
from servelint.judge.checks import advised

_RATE = 0.9
_BETTER = 1.08
_MOST = 64
"""Drafts beyond which one more counts for less than a thousandth."""


def check(config: Config) -> dict[str, str] | None:
    found = advised.case(config)
    if found is None or found.drafted < 2:
        return None
    from servelint.speculation.roofline import prior

    def expected(tokens: int) -> float:
        # each draft counts only if those before it were accepted
        length = (1 - _RATE ** (tokens + 1)) / (1 - _RATE)
        told = prior(replace(found, tokens=tokens, accepted=length))
        return told.mean if told is not None and told.counted else 0.0

    best = max(range(1, min(found.drafted, _MOST) + 1), key=expected)
    from math import exp

    gained = exp(expected(best) - expected(found.drafted))
    if best == found.drafted or gained < _BETTER:
        return None
    return {"tokens": str(found.drafted), "best": str(best), "gain": advised.percent(gained)}
