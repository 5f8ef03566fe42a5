"""Checks of what a container is given, for rules about one engine's images."""

from __future__ import annotations

from servelint.engines.config import Config


def given_no_gpu(config: Config) -> dict[str, str] | None:
    """Hold where a container requests no GPU or device in any of the ways of its runtime."""
    container = config.launch.container
    return {} if container is not None and container.reserved is False and not container.open else None
