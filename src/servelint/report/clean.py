"""What is printed comes from other people's files: nothing in it may steer a terminal or a CI log."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """The text on one line, with control characters and direction overrides shown as a dot."""
    return _CONTROL.sub("\u00b7", text) if _CONTROL.search(text) else text
