"""Checks of parsers that read another format than the one in which the model writes. Source: models/parsers.json."""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.models import is_known_parser, parsers_of


def tool_calls(config: Config) -> dict[str, str] | None:
    """A tool-call parser for another format than that of the model's calls."""
    family = config.family
    return _misfit(config, "tool-call-parser", "tools", family.tools if family is not None else None)


def reasoning(config: Config) -> dict[str, str] | None:
    """A reasoning parser for other marks than those that the model puts around its reasoning."""
    family = config.family
    return _misfit(config, "reasoning-parser", "thinks", family.thinks if family is not None else None)


def _misfit(config: Config, option: str, kind: str, wanted: str | None) -> dict[str, str] | None:
    """The parser to write instead of one that reads another format; None if it fits, or if that is not known."""
    engine, given = config.launch.engine, config.operand(option).value
    if wanted is None or not isinstance(given, str) or not is_known_parser(kind, given, engine):
        return None
    fitting = parsers_of(kind, wanted, engine)
    if given in fitting:
        return None
    here = [name for name in fitting if (found := config.named(option + "s", name)) is not None and found.here]
    return {"fits": here[0]} if here else None
