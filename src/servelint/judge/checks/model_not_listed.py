"""A release that does not list the model's architecture, and may yet load it with its Transformers backend."""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks import model_too_new


def check(config: Config) -> dict[str, str] | None:
    missing = model_too_new.not_listed(config)
    return missing if missing is not None and model_too_new.check(config) is None else None
