"""Checks: conditions that data cannot express. A rule names one; it adds to the rule's `when`, it does not replace it."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.config import Config

CHECKS = ("sglang_draft_tokens",)


def run_check(name: str, config: Config) -> dict[str, str] | None:
    """Fields for the rule's message if the check holds for a config; None if it does not, or cannot be told."""
    module = import_module("servelint.checks." + name)
    fields: dict[str, str] | None = module.check(config)
    return fields
