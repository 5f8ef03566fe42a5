"""Programs as the system finds them: by a path, or by a name in the folders of PATH."""

from __future__ import annotations

import os
from collections.abc import Mapping


def find(name: str, environ: Mapping[str, str]) -> str | None:
    """The file that a name starts, as `execvp` looks for it; None if there is none that may be executed."""
    if os.path.dirname(name):
        return name if _executable(name) else None
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder or os.curdir, name)
        if name and _executable(path):
            return path
    return None


def _executable(path: str) -> bool:
    try:
        return os.path.isfile(path) and os.access(path, os.X_OK)
    except ValueError:  # a null character
        return False
