"""Programs in tools/ as modules."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def loaded(path: str) -> ModuleType:
    """The program at a path below tools/, such as site/llms.py."""
    spec = importlib.util.spec_from_file_location(f"tool_{Path(path).stem}", ROOT / "tools" / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
