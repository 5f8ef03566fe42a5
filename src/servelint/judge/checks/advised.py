"""What checks ask of the adviser: nothing of servelint.advise is imported before a GPU is named."""

from __future__ import annotations

from servelint.engines import ENGINES
from servelint.engines.config import Config
from servelint.judge.checks import planned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.speculation.cases import Case
    from servelint.speculation.gains import Gain


def case(config: Config, *, tokens: int | None = None, method: str | None = None) -> Case | None:
    """A launch as the adviser sees it, one request at a time; None where something that it needs is not known.

    tokens, method: in the place of what the launch drafts
    """
    engine = ENGINES[config.launch.engine]
    arguments = config.reading.arguments
    if not arguments.complete or arguments.possible:
        return None
    model, gpu = (config.operand(name).value for name in ("model", "gpu.name"))
    given = config.operand(engine.tensor_parallel_operand)
    ranks = 1 if given.present is False else given.value
    if not isinstance(model, str) or not isinstance(gpu, str) or not isinstance(ranks, int):
        return None
    drafted = tokens if tokens is not None else config.operand(engine.drafted_tokens_operand).value
    told = method or config.operand(engine.speculation_method_operand).value
    if not isinstance(drafted, int) or drafted < 1 or not isinstance(told, str):
        return None
    from servelint.speculation.cases import MTP, Case, method_of

    kind = MTP if told in ("EAGLE", "NEXTN") and config.operand("model.mtp").value is True else method_of(told)
    found = Case(engine.id, kind, model, gpu if ranks == 1 else f"{ranks}x {gpu}", drafted) if kind is not None else None
    known = found is not None and found.architecture is not None and found.gpus[0] is not None
    return found if known else None


def gain(found: Case) -> Gain | None:
    """What the adviser expects; None where it cannot tell."""
    from servelint.speculation.gains import gain_of

    return gain_of(found)


def percent(value: float) -> str:
    """A gain as a reader says it: "20 % more", "30 % less".

    >>> percent(1.2), percent(0.7)
    ('20 % more', '30 % less')
    """
    return f"{abs(value - 1):.0%} {'more' if value >= 1 else 'less'}".replace("%", " %")


def has(config: Config, option: str) -> bool:
    """Whether the release has an option."""
    return planned.has(config, option)
