"""Texts that are whole numbers: ASCII digits, and not so many that a conversion is refused or takes time."""

from __future__ import annotations

_MOST = 18


def is_whole(text: str) -> bool:
    """Whether `int` gives what a program that reads a port or a count would.

    >>> [is_whole(one) for one in ("8000", "-1", "\\u00b2", "9" * 5000, "")]
    [True, False, False, False, False]
    """
    return 0 < len(text) <= _MOST and text.isascii() and text.isdecimal()
