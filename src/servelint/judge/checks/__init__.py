"""Checks: conditions that data cannot express. A rule names one in `check`; it adds to the rule's `when`.

A module here is found by its name: there is no list of checks.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.engines.config import Config


def run_check(name: str, config: Config) -> dict[str, str] | None:
    """Run the check that a rule names.

    Args:
        name: `module`, whose function `check` it is, or `module.function`.
        config: the launch under one release.

    Returns:
        Fields for the rule's message if the check holds; None if it does not, or if it is unknown.
    """
    fields: dict[str, str] | None = _function(name)(config)
    return fields


@lru_cache(maxsize=64)
def _function(name: str) -> Any:
    module, _, function = name.partition(".")
    return getattr(import_module("servelint.judge.checks." + module), function or "check")
