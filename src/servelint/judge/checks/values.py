"""What checks ask of a config: whole numbers, with the engine's own default where an option is certainly not given."""

from __future__ import annotations

from servelint.engines import ENGINES
from servelint.engines.config import Config


def whole(config: Config, name: str, default: int | None = None) -> int | None:
    """An option's whole number; the default if it is not given; None if that is not known, or if it is no whole number."""
    operand = config.operand(name)
    if operand.present is False:
        return default
    value = operand.value
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def world_size(config: Config) -> int | None:
    """The GPUs of one replica: tensor x pipeline x prefill-context parallel size; None if one of them is not known."""
    return product(config, ENGINES[config.launch.engine].rank_operands)


def product(config: Config, names: tuple[str, ...]) -> int | None:
    """The product of whole numbers, each 1 if it is not given; None if one of them is not known."""
    size = 1
    for name in names:
        factor = whole(config, name, 1)
        if factor is None:
            return None
        size *= factor
    return size
