"""What one rule of the book makes of a config."""

from __future__ import annotations

from functools import lru_cache

from servelint.engines.config import Config
from servelint.judge import judging
from servelint.rules import condition, ranges
from servelint.rules.load import rules
from servelint.rules.rule import Rule


@lru_cache(maxsize=1)
def _book() -> dict[str, Rule]:
    return {rule.id: rule for rule in rules()}


def fields(rule: str, config: Config) -> dict[str, str] | None:
    """What a rule's texts print beyond operands: its values, the text of its case, the fields of its check.

    None where the rule does not hold for the config.
    """
    asked = _book()[rule]
    found = judging._holds(asked, [config]) if ranges.contains(asked.bounds, config.key) else None
    return {name: condition.shown(value) for name, value in found.items()} if found is not None else None


def holds(rule: str, config: Config) -> bool:
    """Whether a rule holds for a config."""
    return fields(rule, config) is not None
