"""A rule's example in each format that readers read. The marks around the expected span travel along.

Each module of this package holds WRAPPERS: name -> (file name, function of engine and example giving the file's text).
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any

Wrapper = tuple[str, Callable[[str, dict[str, Any]], str]]

WRAPPERS: dict[str, Wrapper] = {}
for _module in sorted(pkgutil.iter_modules(__path__), key=lambda found: found.name):
    WRAPPERS.update(import_module(f"{__name__}.{_module.name}").WRAPPERS)
