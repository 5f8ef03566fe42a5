"""A reasoning parser for other marks than those that the model puts around its reasoning. Source: models/parsers.json."""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.tool_parser_format import misfit


def check(config: Config) -> dict[str, str] | None:
    family = config.family
    return misfit(config, "reasoning-parser", "thinks", family.thinks if family is not None else None)
