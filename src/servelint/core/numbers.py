"""Whole numbers in texts that anybody may have written: ASCII digits, and not too many."""

from __future__ import annotations

_MOST = 18


def is_whole(text: str) -> bool:
    """Whether `int` gives what a program that reads a port or a count would.

    >>> [is_whole(one) for one in ("8000", "-1", "\\u00b2", "9" * 5000, "")]
    [True, False, False, False, False]
    """
    return 0 < len(text) <= _MOST and text.isascii() and text.isdecimal()


def whole_number(text: str) -> int | None:
    """The number that such a text is; None for any other.

    >>> whole_number("08"), whole_number("-1")
    (8, None)
    """
    return int(text) if is_whole(text) else None
