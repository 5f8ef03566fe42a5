"""Checks: conditions that data cannot express. A rule names one in `check`; it adds to the rule's `when`.

A module of this package is found by its name: there is no list of checks.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.core.launch import Word
    from servelint.engines.argv import Setting
    from servelint.engines.config import Config

_VERDICTS = ("refused", "too_long", "too_many", "after_pools", "no_graphs", "kv_bytes", "may_run_out")
OF_THE_PLAN = frozenset("memory." + name for name in _VERDICTS)
"""Checks that report the verdict of a memory plan. Where no release is pinned they ask the plan over all
(`memory.planned_as_one`)."""


def run_check(name: str, config: Config) -> dict[str, str] | None:
    """Run the check that a rule names.

    Args:
        name: `module.function`, in this package.
        config: the launch under one release.

    Returns:
        Fields for the rule's message if the check holds; None if it does not, or if it is unknown.
    """
    fields: dict[str, str] | None = _function(name)(config)
    return fields


@lru_cache(maxsize=64)
def _function(name: str) -> Any:
    module, _, function = name.partition(".")
    return getattr(import_module("servelint.judge.checks." + module), function)


def whole(config: Config, name: str, default: int | None = None) -> int | None:
    """The whole number that an option has; the default if it is certainly not given; None if it is unknown or not whole."""
    operand = config.operand(name)
    if operand.present is False:
        return default
    value = operand.value
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def product(config: Config, names: tuple[str, ...]) -> int | None:
    """The product of whole numbers of options, each 1 if it is certainly not given; None if one of them is unknown."""
    size = 1
    for name in names:
        factor = whole(config, name, 1)
        if factor is None:
            return None
        size *= factor
    return size


def after(config: Config, setting: Setting) -> list[Word]:
    """The word after the values of an option, if there is one."""
    words = config.launch.argv
    last = setting.values[-1] if setting.values else setting.value_word
    return next((words[at + 1 : at + 2] for at, word in enumerate(words) if word is last), [])
