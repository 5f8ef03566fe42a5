"""What the tests in editors share: a servelint on PATH, and the pieces of docs/editors.md."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BROKEN = ROOT / "examples" / "broken"


def environment(folder: Path) -> dict[str, str]:
    """An environment in which `servelint` is the one under test, and a home without anybody's settings."""
    programs = folder / "bin"
    programs.mkdir()
    script = programs / "servelint"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m servelint "$@"\n')
    script.chmod(0o755)
    home = folder / "home"
    home.mkdir()
    xdg = {name: str(home / name.lower()) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}
    path = os.pathsep.join((str(programs), os.environ["PATH"]))
    return {**os.environ, **xdg, "HOME": str(home), "PATH": path, "PYTHONPATH": os.pathsep.join(sys.path)}


def documented(heading: str, language: str) -> list[str]:
    """The blocks in a language under a heading of docs/editors.md."""
    page = (ROOT / "docs" / "editors.md").read_text()
    section = page.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
