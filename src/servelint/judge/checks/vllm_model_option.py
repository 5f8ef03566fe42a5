"""A model that is named by --model alone."""

from __future__ import annotations

from servelint.engines.config import Config


def check(config: Config) -> dict[str, str] | None:
    arguments = config.reading.arguments
    return {} if arguments.complete and not arguments.positionals and config.setting("model") is not None else None
