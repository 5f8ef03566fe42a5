"""Engines: what starts them, what their images hold, and what their options mean in each release."""

from __future__ import annotations

from servelint.engines.registry import ENGINE_NAMES, ENGINES

__all__ = ["ENGINES", "ENGINE_NAMES"]
