"""What is printed comes from other people's files: nothing in it may steer a terminal or a CI log."""

from __future__ import annotations


def clean(text: str) -> str:
    """The text on one line, with control characters, direction overrides and the like shown as a dot."""
    if text.isprintable():
        return text
    return "".join([char if char.isprintable() else "\u00b7" for char in text])
