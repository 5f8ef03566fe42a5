"""A launch for one request at a time that does not draft with the layers that its model brings for it.

Source: servelint.advise, docs/advise.md.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks import advised

_TOKENS = (1, 2, 3)


def check(config: Config) -> dict[str, str] | None:
    engine, release = config.launch.engine, config.release
    cases = [advised.case(config, tokens=tokens, method="mtp") for tokens in _TOKENS]
    if cases[0] is None or release is None or cases[0].model is None:
        return None
    from servelint.speculation import drafts

    own = drafts.own_drafts(cases[0].model)
    if own.layers is not True or not own.architecture or drafts.refusal(engine, release, cases[0].model, own) is not None:
        return None
    told = [(gain, found) for found in cases if found is not None and (gain := advised.gain(found)) is not None]
    if not told:
        return None
    gain, found = max(told, key=lambda pair: pair[0].low)
    if gain.low <= 1.1:
        return None
    return {"tokens": str(found.drafted), "gain": advised.percent(gain.mid), "least": advised.percent(gain.low)}
