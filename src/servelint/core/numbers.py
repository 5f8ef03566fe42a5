"""Whole numbers in texts of unknown origin: ASCII digits, and not too many of them."""

from __future__ import annotations

_MOST = 18


def is_whole(text: str) -> bool:
    """Whether a text is a whole number of up to 18 ASCII digits: `int` takes more than a program that reads a port or a count.

    >>> [is_whole(one) for one in ("8000", "-1", "8_0", "9" * 5000, "")]
    [True, False, False, False, False]
    """
    return 0 < len(text) <= _MOST and text.isascii() and text.isdecimal()


def whole_number(text: str) -> int | None:
    """The number that a text is; None where `is_whole` says no.

    >>> whole_number("08"), whole_number("-1")
    (8, None)
    """
    return int(text) if is_whole(text) else None
