"""Whether output is coloured: on a terminal, unless the environment says otherwise."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


def wanted(stream: TextIO) -> bool:
    """NO_COLOR (https://no-color.org) wins over FORCE_COLOR, and either counts where it is not empty; FORCE_COLOR=0 is no."""
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR")
    if forced:
        return forced.lower() not in ("0", "false")
    return stream.isatty() and os.environ.get("TERM") != "dumb"
