"""Speculation in a server that lets in many more requests at a time than those with which it loses already.

Source: servelint.advise, docs/advise.md.
"""

from __future__ import annotations

from servelint.engines import ENGINES
from servelint.engines.config import Config
from servelint.judge.checks import advised

_SURE = 0.15
"""How likely speculation may still gain where it is said to lose."""
_FAR = 2


def check(config: Config) -> dict[str, str] | None:
    requests = config.operand(ENGINES[config.launch.engine].requests_option).value
    found = advised.case(config)
    if found is None or not isinstance(requests, int) or requests < _FAR:
        return None
    from servelint.speculation.gains import curve

    told = [(batch, gain) for batch, gain in curve(found).points if gain is not None]
    lost = next((index for index, (_, gain) in enumerate(told) if gain.chance <= _SURE), None)
    if lost is None or any(gain.mid >= 1 for _, gain in told[lost:]):
        return None
    batch, gain = told[lost]
    if requests < _FAR * batch:
        return None
    return {"requests": str(requests), "batch": str(batch), "loss": advised.percent(gain.mid), "tokens": str(found.drafted)}
