"""Checks of what speculative decoding brings, by servelint.speculation (docs/speculation.md).

Nothing of the adviser is imported before a GPU is named.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp

from servelint.engines import ENGINES
from servelint.engines.config import Config, given_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.speculation.cases import Case
    from servelint.speculation.gains import Gain

_TRIED = (1, 2, 3)
_BACKENDS = ("attention-backend", "attention-config", "env.VLLM_ATTENTION_BACKEND")
"""Operands that choose the kernels of attention."""
_WITHOUT_GRAPHS = ("enforce-eager", "disable-cuda-graph")
"""Options with which the host launches every kernel of a step, which the arithmetic does not count."""
_SURELY_MORE = 1.1
_SURE = 0.15
"""The highest probability of a gain with which speculation is reported as a loss."""
_FAR = 2
_RATE = 0.9
_BETTER = 1.08
_MOST = 64
"""Draft tokens beyond which one more changes the length by less than a thousandth."""


def off(config: Config) -> dict[str, str] | None:
    """A launch for one request at a time that does not draft with the layers that its model brings for it."""
    engine, release = config.launch.engine, config.release
    cases = [_case(config, tokens=tokens, method="mtp") for tokens in _TRIED]
    if cases[0] is None or release is None or cases[0].model is None:
        return None
    from servelint.speculation import drafts

    own = drafts.own_drafts(cases[0].model)
    if own.layers is not True or not own.architecture or drafts.refusal(engine, release, cases[0].model, own) is not None:
        return None
    gains = [(gain, found) for found in cases if found is not None and (gain := _gain(found)) is not None]
    if not gains:
        return None
    gain, found = max(gains, key=lambda pair: pair[0].low)
    if gain.low <= _SURELY_MORE:
        return None
    return {"tokens": str(found.drafted), "gain": percent(gain.mid), "least": percent(gain.low)}


def many_requests(config: Config) -> dict[str, str] | None:
    """Speculation in a server that admits far more concurrent requests than the number at which it loses."""
    requests = config.operand(ENGINES[config.launch.engine].requests_option).value
    found = _case(config)
    if found is None or not isinstance(requests, int) or requests < _FAR:
        return None
    from servelint.speculation.gains import curve

    gains = [(batch, gain) for batch, gain in curve(found).points if gain is not None]
    lost = next((index for index, (_, gain) in enumerate(gains) if gain.chance <= _SURE), None)
    if lost is None or any(gain.mid >= 1 for _, gain in gains[lost:]):
        return None
    batch, gain = gains[lost]
    if requests < _FAR * batch:
        return None
    return {"requests": str(requests), "batch": str(batch), "loss": percent(gain.mid), "tokens": str(found.drafted)}


def many_tokens(config: Config) -> dict[str, str] | None:
    """More draft tokens than pay off, even with one request at a time and nine of ten accepted."""
    found = _case(config)
    if found is None or found.drafted < 2:
        return None
    from servelint.speculation.roofline import prior

    def expected(tokens: int) -> float:
        # each draft counts only if those before it were accepted
        length = (1 - _RATE ** (tokens + 1)) / (1 - _RATE)
        known = prior(replace(found, tokens=tokens, accepted=length))
        return known.mean if known is not None and known.counted else 0.0

    best = max(range(1, min(found.drafted, _MOST) + 1), key=expected)
    gained = exp(expected(best) - expected(found.drafted))
    if best == found.drafted or gained < _BETTER:
        return None
    return {"tokens": str(found.drafted), "best": str(best), "gain": percent(gained)}


def _case(config: Config, *, tokens: int | None = None, method: str | None = None) -> Case | None:
    """A launch as a case of the adviser, one request at a time; None if something that the case needs is unknown.

    Args:
        config: the launch.
        tokens: draft tokens instead of the launch's own.
        method: a method instead of the launch's own.
    """
    engine = ENGINES[config.launch.engine]
    arguments = config.reading.arguments
    if not arguments.complete or arguments.possible or any(config.operand(name).value is True for name in _WITHOUT_GRAPHS):
        return None
    model, gpu = (config.operand(name).value for name in ("model", "gpu.name"))
    given = config.operand(engine.tensor_parallel_operand)
    ranks = 1 if given.present is False else given.value
    if not isinstance(model, str) or not isinstance(gpu, str) or not isinstance(ranks, int):
        return None
    drafted = tokens if tokens is not None else config.operand(engine.drafted_tokens_operand).value
    wanted = method or config.operand(engine.speculation_method_operand).value
    if not isinstance(drafted, int) or drafted < 1 or not isinstance(wanted, str):
        return None
    from servelint.speculation.cases import MTP, Case, method_of

    kind = MTP if wanted in ("EAGLE", "NEXTN") and config.operand("model.mtp").value is True else method_of(wanted)
    together = gpu if ranks == 1 else f"{ranks}x {gpu}"
    if kind is None:
        return None
    named = any(config.operand(name).present is not False for name in _BACKENDS)
    cache = None if named else config.operand("kv-cache-dtype").value
    found = Case(engine.id, kind, model, together, drafted, release=config.release, cache=str(cache) if cache else None)
    return found if found.architecture is not None and found.gpus[0] is not None else None


def _gain(found: Case) -> Gain | None:
    """The gain that the adviser expects; None if it cannot be computed."""
    from servelint.speculation.gains import gain_of

    return gain_of(found)


def synthetic_rates(config: Config) -> dict[str, str] | None:
    """Synthetic acceptance rates that are fewer or more than the draft tokens, out of range, or that rise.

    Source: SpeculativeConfig in vllm/config/speculative.py (0.20.2 line 229, 0.33.0 line 612).
    """
    found = given_object(config, "speculative-config")
    rates, tokens = (
        (found.get(key) for key in ("synthetic_acceptance_rates", "num_speculative_tokens")) if found else (None, None)
    )
    if not isinstance(rates, list) or not isinstance(tokens, int):
        return None
    if len(rates) != tokens:
        return {"reason": f"has {len(rates)} values for {tokens} draft tokens"}
    if not all(isinstance(rate, int | float) for rate in rates):
        return None
    if not all(0 <= rate <= 1 for rate in rates):
        return {"reason": "has a rate outside of 0 to 1"}
    return {"reason": "rises from one token to the next"} if sorted(rates, reverse=True) != rates else None


def percent(value: float) -> str:
    """A gain as messages print it: "20 % more", "30 % less".

    >>> percent(1.2), percent(0.7)
    ('20 % more', '30 % less')
    """
    return f"{abs(value - 1):.0%} {'more' if value >= 1 else 'less'}".replace("%", " %")
